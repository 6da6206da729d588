"""Quantities are read, added and printed as Kubernetes does it."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.render import quantity

PRINTED = {
    "a whole number stays": ("128", "128"),
    "an int is a quantity": (2, "2"),
    "a float is one too": (0.5, "500m"),
    "a thousand becomes a k": ("1000", "1k"),
    "a fraction becomes thousandths": ("1.5", "1500m"),
    "a bare fraction is read": (".5", "500m"),
    "thousandths that make a whole lose the m": ("2000m", "2"),
    "zero is zero, whatever its suffix": ("0Gi", "0"),
    "mebibytes that make a gibibyte": ("1024Mi", "1Gi"),
    "a binary number that no power divides": ("1536Mi", "1536Mi"),
    "a binary number below 1024 is decimal": ("0.5Ki", "512"),
    "half a byte in binary is decimal": ("0.5", "500m"),
    "a binary fraction keeps its precision": ("1.3Ki", "1331200m"),
    "less than one in binary": ("0.0001Ki", "102400u"),
    "exbibytes are the last": ("4096Ei", "4096Ei"),
    "an exponent stays one": ("12e6", "12e6"),
    "an exponent is written in steps of three": ("1E4", "10e3"),
    "a negative exponent": ("5e-1", "500e-3"),
    "an exponent that cancels": ("1e0", "1"),
    "more than an exa goes on as an exponent": ("1000E", "1e21"),
    "less than a nano is rounded up": ("0.1n", "1n"),
    "a negative number": ("-1500m", "-1500m"),
    "an explicit plus": ("+3", "3"),
    "all decimal suffixes": ("7P", "7P"),
}


@pytest.mark.parametrize("sentence", PRINTED)
def test_prints(sentence: str) -> None:
    value, want = PRINTED[sentence]
    assert str(quantity.read(value)) == want


REFUSED = {
    "no number": "Gi",
    "nothing": "",
    "two points": "1.2.3",
    "an unknown suffix": "5GB",
    "a lower case suffix": "5mi",
    "an exponent without digits": "5e+",
    "an exponent beyond all machines": "1e999",
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refuses(sentence: str) -> None:
    with pytest.raises(ValueError, match="is no quantity"):
        quantity.read(REFUSED[sentence])


def test_an_unknown_suffix_names_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'GB' is none of n, u, m, k, M, G, T, P, E, Ki, Mi"):
        quantity.read("5GB")


TOTALS = {
    "102 pods of one cpu and four gibibytes": (
        [({"cpu": 1, "memory": "4Gi"}, 102)],
        {"cpu": "102", "memory": "408Gi"},
    ),
    "two kinds of pods": (
        [({"cpu": "500m"}, 3), ({"cpu": 2, "nvidia.com/gpu": "8"}, 2)],
        {"cpu": "5500m", "nvidia.com/gpu": "16"},
    ),
    "the first number that is not zero gives the notation": (
        [({"memory": "0"}, 1), ({"memory": "1Gi"}, 64)],
        {"memory": "64Gi"},
    ),
    "a binary sum takes up a decimal": (
        [({"memory": "1Gi"}, 1), ({"memory": "1024"}, 1)],
        {"memory": "1048577Ki"},
    ),
    "a zero is kept": ([({"cpu": 0}, 4)], {"cpu": "0"}),
    "nothing": ([], {}),
}


@pytest.mark.parametrize("sentence", TOTALS)
def test_totals(sentence: str) -> None:
    parts, want = TOTALS[sentence]
    assert quantity.total(parts) == want


ROUNDED = {"0.7": 1, "2.5": 3, "4": 4, "100m": 1, "0": 0}


@pytest.mark.parametrize("text", ROUNDED)
def test_rounds_up(text: str) -> None:
    assert quantity.read(text).ceil() == ROUNDED[text]
