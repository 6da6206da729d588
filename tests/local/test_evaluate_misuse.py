"""What is wrong with an evaluation is said in one sentence, and nothing is left that could be judged."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, chat_client, evaluate
from kfp_trainer.runtime_operator.workloads.settings import parse_settings
from tests.servers.ports import free_port
from tests.tiny_base import general_rows, tiny_base, write_rows

pytestmark = [
    # notices of libraries that a test process, with warnings as errors, would die of
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
Given = dict[str, Any]
ROW: Given = {"prompt": "?", "completion": "x"}
CHOICE: Given = {"question": "?", "choices": ["a", "b"], "answer": 0}
SERVED = "http://127.0.0.1:1/v1#m"
TASK = {
    "task": "answers",
    "dataset_path": "json",
    "test_split": "test",
    "output_type": "generate_until",
    "doc_to_text": "{{prompt}}",
    "doc_to_target": "{{completion}}",
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}


def without(base: Path, place: Path, pattern: str) -> Path:
    """The base, some of its files missing."""
    folder = shutil.copytree(base, place / "model")
    for file in folder.glob(pattern):
        file.unlink()
    return folder


def other_words(base: Path, place: Path) -> Path:
    """The base, two words of its tokenizer in each other's place."""
    folder = shutil.copytree(base, place / "model")
    document = json.loads((folder / "tokenizer.json").read_text())
    words = document["model"]["vocab"]
    one, two = list(words)[-2:]
    words[one], words[two] = words[two], words[one]
    (folder / "tokenizer.json").write_text(json.dumps(document))
    return folder


def adapter(place: Path) -> Path:
    (place / "adapter").mkdir()
    (place / "adapter" / "adapter_config.json").write_text("{}")
    return place / "adapter"


def rows(place: Path, *found: Given) -> Path:
    return write_rows(place / "eval.jsonl", list(found))


def task(place: Path, row: Given | None, **more: object) -> Path:
    """A task of lm-eval in a file of its own; without a row its data is missing."""
    data = place / "task.jsonl"
    if row is not None:
        write_rows(data, [row])
    kwargs = {"data_files": {"test": str(data)}}
    (place / "task.yaml").write_text(json.dumps({**TASK, "dataset_kwargs": kwargs, **more}))
    return place / "task.yaml"


ROLLING = {
    "output_type": "loglikelihood_rolling",
    "doc_to_text": "",
    "metric_list": [{"metric": "byte_perplexity"}],
}
# what is set over an evaluation that would go well, and what is said of it
MISUSES: dict[str, tuple[Callable[[Path, Path], Given], str]] = {
    "no such model": (lambda base, place: {"model": place / "x"}, "does not exist, give a folder with"),
    "no template": (
        lambda base, place: {"model": without(base, place, "chat_template*")},
        "has no chat template, add chat_template.jinja"),
    "no weights": (lambda base, place: {"model": without(base, place, "*.safetensors")}, r"no \*\.saf"),
    "cut weights": (lambda base, place: {"model": cut(base, place)}, "cannot be loaded"),
    "other words": (
        lambda base, place: {"tuned": other_words(base, place)},
        "has another vocabulary than .*, and both are asked in the base's; evaluate each by itself"),
    "no rows": (lambda base, place: {"dataset": rows(place)}, "no rows"),
    "other columns": (lambda base, place: {"dataset": rows(place, {"height": 3})}, "height"),
    "some with choices": (lambda base, place: {"dataset": rows(place, CHOICE, ROW)}, "is no multiple choice"),
    "no such judge": (lambda base, place: {"metrics": "exact_matches"}, "metrics.*exact_match"),
    "no such task": (lambda base, place: {"tasks": "arc_eazy"}, "no task 'arc_eazy', did you mean arc_easy"),
    "a task's data is elsewhere": (lambda base, place: {"tasks": "arc_easy"}, "arc_easy is not at hand"),
    "no such file of a task": (lambda base, place: {"tasks": place / "x.yaml"}, "x.yaml: cannot be read"),
    "a task's rows are gone": (lambda base, place: {"tasks": task(place, None)}, "is not at hand"),
    "a task's rows are others": (lambda base, place: {"tasks": task(place, {"height": 3})}, "ask.*prompt"),
    "a task's metric is none": (
        lambda base, place: {"tasks": task(place, ROW, metric_list=[{"metric": "acuracy"}])}, "metric 'acu"),
    "choices for a served model": (
        lambda base, place: {"model": SERVED, "dataset": rows(place, CHOICE)}, "tells no probabilities"),
    "perplexity of a served model": (
        lambda base, place: {"model": SERVED, "metrics": "perplexity"}, "tells no perplexity, leave it out"),
    "a task that needs probabilities": (
        lambda base, place: {"model": SERVED, "dataset": None, "tasks": task(place, ROW, **ROLLING)},
        "tells no probabilities, which choices and perplexity need; give the folder"),
    "an adapter of a served base": (
        lambda base, place: {"model": SERVED, "tuned": adapter(place)}, "its base is served, give"),
    "nobody serves": (
        lambda base, place: {"model": f"http://127.0.0.1:{free_port()}/v1#m"}, "be reached, .*start it"),
    "nothing is asked": (lambda base, place: {"dataset": None}, "give held-out rows, or tasks of lm-eval"),
    "a file in the folder's place": (
        lambda base, place: {"output": rows(place) / "out"}, "cannot be written, Not a directory"),
}  # fmt: skip


def cut(base: Path, place: Path) -> Path:
    """The base, half of its weights' file missing."""
    folder = shutil.copytree(base, place / "model")
    file = next(folder.glob("*.safetensors"))
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    return folder


@pytest.mark.parametrize("sentence", MISUSES)
def test_misuse_is_one_sentence(sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chat_client, "WAITS", ())
    base, (spoil, words) = tiny_base(), MISUSES[sentence]
    good = write_rows(tmp_path / "good.jsonl", general_rows(1, 2))
    given = {"model": base, "dataset": good, "output": tmp_path / "out", "threads": 1} | spoil(base, tmp_path)
    wanted = {name: str(value) for name, value in given.items() if value is not None}
    with pytest.raises(KfpTrainerError) as refused:
        evaluate(parse_settings(EvaluateSettings, wanted))
    said = str(refused.value)
    assert re.search(words, said), said
    assert "\n" not in said
    assert len(said) < 600, said
    assert not (tmp_path / "out" / "evaluation.json").exists()
