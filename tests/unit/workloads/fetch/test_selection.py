"""Which files of a source are wanted."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection, choose, parse_patterns
from kfp_trainer.runtime_operator.workloads.fetch.troubles import FetchError

MODEL = Selection("model")
PICKLES = Selection("model", pickles=True)
ALL = Selection("model", ignore=())
SAFE = ["config.json", "model.safetensors"]
Case = tuple[Selection, list[str], list[str]]

CASES: dict[str, Case] = {
    "a model of safetensors": (MODEL, SAFE, SAFE),
    "the documented default applies": (MODEL, [*SAFE, "a.bin", "b.pt", "c.pth", "d.h5", "e.msgpack"], SAFE),
    "also in folders": (MODEL, [*SAFE, "original/consolidated.00.pth"], SAFE),
    "other formats of the same weights": (MODEL, [*SAFE, "onnx/model.onnx", "model.gguf"], SAFE),
    "pickles beside safetensors, no patterns": (ALL, [*SAFE, "pytorch_model.bin", "x.ckpt", "y.pkl"], SAFE),
    "upper case is the same format": (ALL, ["a.SAFETENSORS", "b.BIN"], ["a.SAFETENSORS"]),
    "gguf alone": (MODEL, ["model.gguf", "readme.md"], ["model.gguf", "readme.md"]),
    "onnx alone": (MODEL, ["model.onnx"], ["model.onnx"]),
    "gguf asked for": (Selection("model", include=("*.gguf",)), [*SAFE, "m.gguf"], ["m.gguf"]),
    "a tokenizer has no weights": (MODEL, ["tokenizer.json"], ["tokenizer.json"]),
    "pickles asked for": (PICKLES, ["config.json", "a.bin", "b.pt"], ["config.json", "a.bin", "b.pt"]),
    "pickles asked for, safetensors there": (PICKLES, [*SAFE, "a.bin"], SAFE),
    "pickles asked for by name": (
        Selection("model", include=("*.bin",), pickles=True),
        [*SAFE, "a.bin"],
        ["a.bin"],
    ),
    "the state of a training is no weights": (ALL, ["config.json", "training_args.bin"], ["config.json"]),
    "patterns of one's own": (Selection("model", ignore=("*.json",)), [*SAFE, "a.h5"], ["model.safetensors"]),
    "a folder by a slash": (Selection("dataset", ignore=("raw/",)), ["raw/a", "raw/b/c", "d"], ["d"]),
    "a star goes over slashes": (Selection("dataset", include=("data/*",)), ["data/a/b", "c"], ["data/a/b"]),
    "upper and lower case differ": (Selection("dataset", ignore=("*.TXT",)), ["a.txt"], ["a.txt"]),
    "a dataset may hold anything": (
        Selection("dataset"),
        ["a.bin", "b.pkl", "c.h5"],
        ["a.bin", "b.pkl", "c.h5"],
    ),
}


@pytest.mark.parametrize("sentence", CASES)
def test_wanted(sentence: str) -> None:
    selection, paths, want = CASES[sentence]
    assert choose(paths, selection, path=str, source="hf://a/b") == want


REFUSED = {
    "nothing there": (MODEL, [], "hf://a/b: holds no files"),
    "nothing left": (
        Selection("dataset", include=("*.csv",)),
        ["a.txt"],
        r"none of its 1 files is left by include \*.csv",
    ),
    "only pickles": (
        MODEL,
        ["config.json", "pytorch_model.bin"],
        "its weights are pickles .pytorch_model.bin.",
    ),
    "only pickles, no patterns": (ALL, ["config.json", "a.ckpt"], "its weights are pickles .a.ckpt."),
    "many pickles": (ALL, [f"{n}.bin" for n in range(9)], "0.bin, 1.bin, 2.bin and 6 more"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_refused(sentence: str) -> None:
    selection, paths, want = REFUSED[sentence]
    with pytest.raises(FetchError, match=want):
        choose(paths, selection, path=str, source="hf://a/b")


LISTS = {
    None: (),
    "": (),
    " , ,": (),
    "*.bin": ("*.bin",),
    "*.bin, *.pt,,*.h5 ": ("*.bin", "*.pt", "*.h5"),
}


@pytest.mark.parametrize("text", LISTS)
def test_a_comma_list(text: str | None) -> None:
    assert parse_patterns(text) == LISTS[text]
