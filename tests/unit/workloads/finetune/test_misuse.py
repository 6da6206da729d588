"""What is going to fail is said in one sentence before anything heavy is loaded."""

import json
import shutil
import struct
import subprocess
import sys
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings, given, preflight, run
from kfp_trainer.runtime_operator.workloads.finetune.machine import Machine
from kfp_trainer.runtime_operator.workloads.settings import parse_settings

WIDTH, INNER, VOCABULARY = 8, 16, 12
SHAPES = {
    "model.embed_tokens.weight": (VOCABULARY, WIDTH),
    "model.layers.0.self_attn.q_proj.weight": (WIDTH, WIDTH),
    "model.layers.0.self_attn.v_proj.weight": (WIDTH, WIDTH),
    "model.layers.0.mlp.up_proj.weight": (INNER, WIDTH),
    "model.norm.weight": (WIDTH,),
}
CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": WIDTH,
    "num_hidden_layers": 1,
    "vocab_size": VOCABULARY,
    "max_position_embeddings": 64,
}
TOKENIZER = {"model": {"vocab": {f"t{n}": n for n in range(10)}}, "added_tokens": [{"id": 10}, {"id": 11}]}
ROW = {"prompt": "what", "completion": "that"}
PAIR = {"prompt": "what", "chosen": "that", "rejected": "this"}
Space = namedtuple("Space", "total used free")


def weights(file: Path, *, kind: str = "F32", size: int = 4) -> None:
    """A safetensors file of zeros."""
    head, at = {}, 0
    for name, shape in SHAPES.items():
        end = at + size * shape[0] * (shape[1] if len(shape) > 1 else 1)
        head[name] = {"dtype": kind, "shape": shape, "data_offsets": [at, end]}
        at = end
    raw = json.dumps(head).encode()
    file.write_bytes(struct.pack("<Q", len(raw)) + raw + bytes(at))


def put(file: Path, value: Any) -> None:
    file.write_text(json.dumps(value))


def rows(folder: Path, *given: Any, split: str = "train") -> None:
    (folder / f"{split}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model and rows that are in order, on a machine without a GPU."""
    model, data = tmp_path / "model", tmp_path / "data"
    model.mkdir()
    data.mkdir()
    put(model / "config.json", CONFIG)
    put(model / "tokenizer.json", TOKENIZER)
    put(model / "tokenizer_config.json", {})
    (model / "chat_template.jinja").write_text("{{ messages }}")
    weights(model / "model.safetensors")
    rows(data, ROW, ROW)
    for module in (run, given):
        monkeypatch.setattr(module, "read_machine", lambda: Machine(memory=8 << 30))
    for name in ("RANK", "WORLD_SIZE", "PET_NNODES", "PET_NPROC_PER_NODE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def explained(place: Path, **more: Any) -> str:
    folders = {"model": place / "model", "dataset": place / "data", "output": place / "run"}
    return run.explain_run(parse_settings(FinetuneSettings, {**folders, **more}))


def cut(place: Path) -> None:
    file = place / "model" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1])


def change(**more: Any) -> Callable[[Path], None]:
    return lambda place: put(place / "model" / "config.json", {**CONFIG, **more})


def into(name: str, value: Any) -> Callable[[Path], None]:
    return lambda place: put(place / "model" / name, value)


def data(*given: Any) -> Callable[[Path], None]:
    return lambda place: rows(place / "data", *given)


def pickled(place: Path) -> None:
    (place / "model" / "model.safetensors").rename(place / "model" / "pytorch_model.bin")


def adapter_alone(place: Path) -> None:
    (place / "model" / "config.json").rename(place / "model" / "adapter_config.json")


def head(**changes: Any) -> Callable[[Path], None]:
    """Change what the head of the weights says of one tensor."""

    def prepare(place: Path) -> None:
        file = place / "model" / "model.safetensors"
        raw = file.read_bytes()
        length = struct.unpack("<Q", raw[:8])[0]
        told = json.loads(raw[8 : 8 + length])
        told["model.layers.0.mlp.up_proj.weight"] |= changes
        again = json.dumps(told).encode()
        file.write_bytes(struct.pack("<Q", len(again)) + again + raw[8 + length :])

    return prepare


def raw(name: str, body: bytes) -> Callable[[Path], Any]:
    return lambda place: (place / "model" / name).write_bytes(body)


def somebodys_work(place: Path) -> None:
    (place / "run" / "merged").mkdir(parents=True)
    (place / "run" / "merged" / "thesis.tex").touch()


MANY_TOKENS = {"model": {"vocab": {f"t{n}": n for n in range(13)}}}
IN_ORDER: Callable[[Path], Any] = lambda place: None  # noqa: E731  # a name for the table
MISUSES: dict[str, tuple[Callable[[Path], Any], dict[str, Any], str]] = {
    "a tokenizer of another model": (
        into("tokenizer.json", MANY_TOKENS),
        {},
        "has token 12 and the model 12 tokens, put the tokenizer beside",
    ),
    "a damaged tokenizer": (into("tokenizer.json", []), {}, r"tokenizer\.json is damaged, fetch it again"),
    "no chat template": (
        lambda place: (place / "model" / "chat_template.jinja").unlink(),
        {},
        "has no chat template, add chat_template.jinja",
    ),
    "no tokenizer": (
        lambda place: (place / "model" / "tokenizer_config.json").unlink(),
        {},
        "has no tokenizer_config.json",
    ),
    "a sequence over the context": (
        IN_ORDER,
        {"sequence_length": 65},
        "sequence_length: 65 is more than the 64 tokens",
    ),
    "targets that match nothing": (
        IN_ORDER,
        {"lora_targets": "q_prj"},
        "lora_targets: q_prj matches no layer of .*, did you mean q_proj",
    ),
    "targets that are like nothing": (
        IN_ORDER,
        {"lora_targets": "zzz"},
        "zzz matches no layer of .*, it has q_proj, up_proj, v_proj; or try all-linear",
    ),
    "no held-out rows to look at": (
        IN_ORDER,
        {"eval_every": 5},
        r"eval_every: .* has no held-out rows \(splits: train\), split it",
    ),
    "half precision on a CPU": (IN_ORDER, {"precision": "fp16"}, "precision: fp16 needs a GPU"),
    "torn weights": (cut, {}, r"is damaged, it has [\d,]+ bytes of weights of [\d,]+, fetch it again"),
    "weights that are none": (
        lambda place: (place / "model" / "model.safetensors").write_text("<html>"),
        {},
        "is no safetensors file or a damaged one",
    ),
    "a part of the weights is missing": (
        into("model.safetensors.index.json", {"weight_map": {"a": "model-00002.safetensors"}}),
        {},
        r"lacks model-00002\.safetensors, which model\.safetensors\.index\.json names",
    ),
    "pickled weights": (pickled, {}, r"has no \*\.safetensors, convert its weights \(pickles are not read\)"),
    "an adapter instead of a model": (adapter_alone, {}, "is an adapter alone, give the whole model"),
    "an adapter beside the model": (into("adapter_config.json", {}), {}, "holds a model and an adapter"),
    "no folder": (lambda place: shutil.rmtree(place / "model"), {}, "model: .* does not exist"),
    "a configuration that is no JSON": (
        lambda place: (place / "model" / "config.json").write_text("{"),
        {},
        r"config\.json is not JSON",
    ),
    "quantised already": (
        change(quantization_config={"quant_method": "gptq"}),
        {"method": "qlora"},
        r"is quantised already \(gptq\), give the original weights",
    ),
    "a classifier": (
        change(architectures=["BertForSequenceClassification"]),
        {},
        "is a BertForSequenceClassification, give a causal language model",
    ),
    "a program in the model's folder": (
        change(auto_map={"AutoModel": "code.Model"}),
        {},
        "brings a program of its own .* give trust_remote_code",
    ),
    "weights of whole numbers": (
        lambda place: weights(place / "model" / "model.safetensors", kind="I8", size=1),
        {},
        "holds weights of type I8, give F32, F16 or BF16",
    ),
    "comparing without pairs": (
        IN_ORDER,
        {"objective": "dpo"},
        "dataset: row 1 of train is no pair of answers and the objective is dpo, take objective sft",
    ),
    "answers from pairs": (data(PAIR), {}, "row 1 of train is a pair of answers .* take objective dpo"),
    "a row without its answer": (
        data(ROW, {"prompt": "what"}),
        {},
        r"train\.jsonl: row 2.* has no completion",
    ),
    "no rows at all": (data(), {}, r"train\.jsonl: is empty"),
    "answers of plain text": (
        data({"text": "once upon a time"}),
        {"answers_only": True},
        "answers_only: the rows are plain text",
    ),
    "sharing out to oneself": (IN_ORDER, {"spread": "fsdp2"}, "spread: fsdp2 .* there is one process"),
    "a batch that does not divide": (
        IN_ORDER,
        {"batch_size": 16, "accumulation": 3},
        "batch_size: 16 rows do not divide among 1 processes and 3 parts",
    ),
    "results over the model": (
        lambda place: (place / "run").symlink_to(place / "model"),
        {},
        "output: .* is where the run reads from",
    ),
    "a push to nowhere": (IN_ORDER, {"push": "s3://bucket"}, "names no prefix, give s3://BUCKET/PREFIX"),
    "a push of a secret": (IN_ORDER, {"push": "oci://me:pw@h.example/x:1"}, "push: .* keep the address bare"),
    "a push with an unknown scheme": (IN_ORDER, {"push": "hd://me/x"}, "did you mean hf://"),
    "a shape below nought": (head(shape=[-16, 8]), {}, r"tensor .*up_proj\.weight has the shape \[-16, 8\]"),
    "a shape that is no list": (head(shape="16x8"), {}, "has the shape '16x8', fetch it again"),
    "more numbers than bytes": (head(shape=[16, 80]), {}, "has 512 bytes for 16×80 of F32"),
    "a place that ends before it begins": (head(data_offsets=[900, 4]), {}, r"has the place \[900, 4\]"),
    "a place without an end": (head(data_offsets=[4]), {}, r"has the place \[4\]"),
    "a place in words": (head(data_offsets=["a", "b"]), {}, "has the place"),
    "two tensors in one place": (head(data_offsets=[0, 512]), {}, "begins at 0 and not at"),
    "a type that is a number": (head(dtype=7), {}, "is of type 7, fetch it again"),
    "a head of a terabyte": (raw("model.safetensors", b"\0\0\0\0\0\1\0\0{}"), {}, "is no safetensors file"),
    "a pointer of LFS": (raw("model.safetensors", b"version https://git-lfs"), {}, "is no safetensors file"),
    "weights without a name that is read": (
        lambda place: (place / "model/model.safetensors").rename(place / "model/part-1.safetensors"),
        {},
        r"has part-1\.safetensors but neither model\.safetensors nor",
    ),
    "an index of nothing": (
        into("model.safetensors.index.json", {"weight_map": ["a"]}),
        {},
        r"index\.json names no weights",
    ),
    "an index that leads out of the folder": (
        into("model.safetensors.index.json", {"weight_map": {"a": "../data/x"}}),
        {},
        r"names \.\./data/x, which is not beside it",
    ),
    "fewer layers than the configuration names": (
        change(num_hidden_layers=9),
        {},
        "has 1 layers of the 9 that config.json names",
    ),
    "weights of another width": (change(hidden_size=64), {}, "12×8 and config.json describes 12×64"),
    "a vocabulary of another size": (
        change(vocab_size=50),
        {},
        "describes 50×8, put the right",
    ),
    "a size in words": (change(vocab_size="many"), {}, "has 'many' for vocab_size, which is no whole number"),
    "a context in words": (change(max_position_embeddings="64"), {}, "has '64' for max_position_embeddings"),
    "a damaged configuration of the tokenizer": (
        raw("tokenizer_config.json", b"{"),
        {},
        r"tokenizer_config\.json is no JSON mapping or a damaged one",
    ),
    "no words of the tokenizer": (
        lambda place: (place / "model/tokenizer.json").unlink(),
        {},
        r"has no tokenizer\.json, put the tokenizer beside",
    ),
    "one target that is right and one that is not": (
        IN_ORDER,
        {"lora_targets": "q_proj,zzz"},
        "lora_targets: zzz matches no layer",
    ),
    "no targets": (IN_ORDER, {"lora_targets": ""}, "lora_targets: nothing matches no layer"),
    "a target that is no matrix": (
        IN_ORDER,
        {"lora_targets": "norm"},
        "which is no matrix, name",
    ),
    "an endless rate": (IN_ORDER, {"learning_rate": "inf"}, "learning_rate: should be a finite number"),
    "endless epochs": (IN_ORDER, {"epochs": "inf"}, "epochs: should be a finite number"),
    "a seed that no library takes": (IN_ORDER, {"seed": 1 << 40}, "seed: should be less than 4294967296"),
    "more threads than any machine has": (IN_ORDER, {"threads": 100_000}, "threads: should be less than or"),
    "a pair that is none": (
        data({"prompt": "a", "chosen": "x", "rejected": "x"}),
        {"objective": "dpo"},
        "row 1: has one answer as chosen and as rejected",
    ),
    "empty answers": (data({"prompt": "a", "completion": ""}), {}, "row 1: completion is empty, fill it in"),
    "held-out rows in an empty file": (
        lambda place: (place / "data/eval.jsonl").touch(),
        {"eval_every": 1},
        r"eval\.jsonl: is empty",
    ),
    "results among the rows": (
        lambda place: (place / "run").symlink_to(place / "data" / "out"),
        {},
        "lies in .*data, which the run reads",
    ),
    "results over somebody's work": (somebodys_work, {}, "holds merged, which no run has put there"),
    "a file in place of the results": (lambda place: (place / "run").touch(), {}, "run is a file, give a"),
}


@pytest.mark.parametrize("sentence", MISUSES)
def test_misuse_is_one_sentence(sentence: str, place: Path) -> None:
    prepare, more, words = MISUSES[sentence]
    prepare(place)
    with pytest.raises(KfpTrainerError, match=words) as caught:
        explained(place, **more)
    assert "\n" not in str(caught.value)


def test_what_is_in_order_is_explained(place: Path) -> None:
    assert "2 rows" not in explained(place)
    assert "rows         2, the longest about" in explained(place)


def test_plain_text_needs_no_template(place: Path) -> None:
    rows(place / "data", {"text": "once upon a time"})
    (place / "model" / "chat_template.jinja").unlink()
    assert "sft" in explained(place)


def test_a_named_program_may_run(place: Path) -> None:
    put(place / "model" / "config.json", {**CONFIG, "auto_map": {"AutoModel": "code.Model"}})
    assert "sft" in explained(place, trust_remote_code=True)


LACKING = {
    "4 bits": (
        "bitsandbytes",
        {"method": "qlora"},
        "method qlora: the package bitsandbytes is not installed",
    ),
    "8 bits": ("bitsandbytes", {"optimizer": "adamw_8bit"}, "optimizer adamw_8bit: the package bitsandbytes"),
    "a tracker": ("mlflow", {"report_to": "mlflow"}, "report_to mlflow: the package mlflow is not installed"),
}


@pytest.mark.parametrize("sentence", LACKING)
def test_what_is_not_installed(sentence: str, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, more, words = LACKING[sentence]
    monkeypatch.setattr(preflight, "find_spec", lambda name: None if name == package else object())
    with pytest.raises(KfpTrainerError, match=words) as caught:
        explained(place, **more)
    assert caught.value.exit_code == 3


def test_a_tracker_without_an_address(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(KfpTrainerError, match="report_to mlflow: MLFLOW_TRACKING_URI is not set"):
        explained(place, report_to="mlflow")


def test_a_tracker_that_is_not_there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://127.0.0.1:9/mlflow")
    folders = {"model": place / "model", "dataset": place / "data", "output": place / "run"}
    with pytest.raises(KfpTrainerError, match=r"server 127\.0\.0\.1 of MLFLOW_TRACKING_URI does not"):
        run.finetune(FinetuneSettings.model_validate({**folders, "report_to": "mlflow"}))


def test_no_room_for_the_results(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight.shutil, "disk_usage", lambda path: Space(1000, 900, 100))
    with pytest.raises(KfpTrainerError, match=r"output: the results and checkpoints need .* make room"):
        explained(place)


def test_several_processes_without_torchrun(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PET_NNODES", "2")
    with pytest.raises(KfpTrainerError, match="start with torchrun"):
        explained(place)


PROGRAM = """
import sys
from kfp_trainer.runtime_operator.workloads.command import main
from kfp_trainer.runtime_operator.workloads.finetune.command import finetune_command
code = main(finetune_command(), sys.argv[1:])
print(code, *sorted({"torch", "transformers", "trl", "peft", "datasets"} & set(sys.modules)))
"""


def test_explaining_loads_nothing_heavy(place: Path) -> None:
    flags = ["--model", place / "model", "--dataset", place / "data", "--output", place / "run", "--explain"]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *map(str, flags)], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "0"
    assert "a step" not in done.stdout
    assert "memory" in done.stdout
    assert not (place / "run").exists()
