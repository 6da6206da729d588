"""Kubernetes quantities: read, add, multiply, and print them as an API server would.

A quantity is an exact number and a notation. Sums keep the notation of the first number that is not zero, as
Kubernetes does, so that `3 × 136Gi` prints `408Gi` and never a long integer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

NANO = 10**9
_DECIMAL = {"n": -3, "u": -2, "m": -1, "": 0, "k": 1, "M": 2, "G": 3, "T": 4, "P": 5, "E": 6}
_BINARY = {"": 0, "Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_DECIMAL_SUFFIX = {3 * power: suffix for suffix, power in _DECIMAL.items()}
_BINARY_SUFFIX = {power: suffix for suffix, power in _BINARY.items()}
_SHAPE = re.compile(r"([+-]?)(\d+\.?\d*|\.\d+)([a-zA-Z]*|[eE][+-]?\d+)")

Resources = Mapping[str, str | int | float]


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact amount in billionths, and how it is written: decimal, binary or exponent."""

    nano: int
    notation: str = "decimal"

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano + other.nano, self.notation if self.nano else other.notation)

    def times(self, count: int) -> Quantity:
        """Multiply by a number of pods."""
        return Quantity(self.nano * count, self.notation)

    def ceil(self) -> int:
        """Round up to a whole number, as Kubernetes' Value does."""
        return -(-self.nano // NANO)

    def __str__(self) -> str:
        whole = self.nano % NANO == 0
        if self.notation == "binary" and whole and abs(self.nano) >= 1024 * NANO:
            return _binary_text(self.nano // NANO)
        return _decimal_text(self.nano, exponent=self.notation == "exponent")


@lru_cache(maxsize=4096)
def _read(text: str) -> Quantity:
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is no quantity: write a number and a suffix, as in 500m, 1.5 or 64Gi")
    sign, digits, suffix = match.groups()
    notation, factor, divisor = _scale(text, suffix)
    whole, _, fraction = digits.partition(".")
    amount = int((whole or "0") + fraction) * NANO * factor
    nano = -(-amount // (divisor * 10 ** len(fraction)))
    if notation == "binary" and nano < NANO:
        notation = "decimal"
    return Quantity(-nano if sign == "-" else nano, notation)


def _scale(text: str, suffix: str) -> tuple[str, int, int]:
    """Say the notation of a suffix, and by what it multiplies and divides."""
    if suffix in _DECIMAL:
        power = _DECIMAL[suffix]
        return "decimal", 1000 ** max(power, 0), 1000 ** max(-power, 0)
    if suffix in _BINARY:
        return "binary", 1024 ** _BINARY[suffix], 1
    exponent = suffix[1:]
    if suffix[0] in "eE" and exponent.lstrip("+-").isdigit() and abs(int(exponent)) < 100:
        power = int(exponent)
        return "exponent", 10 ** max(power, 0), 10 ** max(-power, 0)
    raise ValueError(f"{text!r} is no quantity: {suffix!r} is none of {', '.join(_suffixes())}")


def _suffixes() -> Iterable[str]:
    return [suffix for suffix in (*_DECIMAL, *_BINARY) if suffix]


def _decimal_text(nano: int, *, exponent: bool) -> str:
    if nano == 0:
        return "0"
    number, power = nano, -9
    while number % 1000 == 0:
        number, power = number // 1000, power + 3
    if exponent or power not in _DECIMAL_SUFFIX:
        return f"{number}e{power}" if power else str(number)
    return f"{number}{_DECIMAL_SUFFIX[power]}"


def _binary_text(number: int) -> str:
    power = 0
    while number % 1024 == 0 and power < max(_BINARY_SUFFIX):
        number, power = number // 1024, power + 1
    return f"{number}{_BINARY_SUFFIX[power]}"


def read(value: str | int | float) -> Quantity:
    """Read a quantity; ValueError says what is wrong with the text."""
    return _read(str(value))


def total(parts: Iterable[tuple[Resources, int]]) -> dict[str, str]:
    """Add up resources, each times its count, and print them."""
    sums: dict[str, Quantity] = {}
    for resources, count in parts:
        for name, value in resources.items():
            sums[name] = sums.get(name, Quantity(0)) + read(value).times(count)
    return {name: str(quantity) for name, quantity in sums.items()}
