"""Real evaluations of a tiny model: the same questions to every model, the same figures every time."""

import json
import os
import random
import re
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, Evaluation, evaluate
from kfp_trainer.runtime_operator.workloads.models import load_model, load_tokenizer
from kfp_trainer.runtime_operator.workloads.settings import parse_settings
from tests.counts import count
from tests.servers.chat import chat_model, refused
from tests.servers.web import WebServer
from tests.tiny_base import general_rows, tiny_base, write_rows

pytestmark = [
    # notices of libraries that a test process, with warnings as errors, would die of
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
ROWS, SEED = 24, 11
ALL = ("exact_match", "contains", "bleu", "chrf", "rouge_l", "perplexity")
FILES = ["evaluation.json", "evaluation_report.html", "metrics.json"]


@pytest.fixture(scope="module")
def base() -> Path:
    return tiny_base()


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_rows(tmp_path_factory.mktemp("rows") / "eval.jsonl", general_rows(SEED, ROWS))


@pytest.fixture(scope="module")
def worse(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The base with a little chance in its weights: right at times, in other words at times."""
    import torch

    folder = tmp_path_factory.mktemp("worse") / "model"
    model, chance = load_model(base), torch.Generator().manual_seed(3)
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape, generator=chance) * 0.02)
    model.save_pretrained(folder)
    load_tokenizer(base).save_pretrained(folder)
    return folder


def settings(model: object, dataset: Path | None, output: Path, **more: object) -> EvaluateSettings:
    given = {"model": str(model), "dataset": dataset, "output": output, "threads": 1, "max_new_tokens": 40}
    return parse_settings(EvaluateSettings, {**given, **more})


@pytest.fixture(scope="module")
def found(base: Path, worse: Path, rows: Path, tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    """One evaluation that several tests look at."""
    output = tmp_path_factory.mktemp("found")
    return evaluate(settings(base, rows, output, tuned=str(worse), metrics=",".join(ALL)))


def test_both_models_are_measured(found: Evaluation) -> None:
    assert [each.name for each in found.scores] == list(ALL)
    for score in found.scores:
        assert score.tuned is not None
        assert score.difference is not None
        assert score.difference.value == pytest.approx(score.tuned.value - score.base.value)
        assert score.base.low is not None
        assert score.base.low <= score.base.value <= (score.base.high or 0)
        better = score.base.value < score.tuned.value
        assert better is score.lower_is_better  # chance makes nothing better
    right = found.score("exact_match")
    assert right is not None
    assert right.tuned is not None
    assert 0 < right.tuned.value < 0.8 < right.base.value
    assert found.lost >= 3
    assert found.lost == sum(each.verdict("exact_match") == "lost" for each in found.samples)


def test_scores_are_what_the_model_itself_says(found: Evaluation, base: Path) -> None:
    """Answers and perplexity without lm-eval: one row at a time, without padding."""
    import torch

    tokenizer, model = load_tokenizer(base), load_model(base).eval()
    nats = tokens = 0.0
    for number, row in enumerate(general_rows(SEED, ROWS)):
        turns = [{"role": "user", "content": row["prompt"]}]
        prompt = tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        answer = {"role": "assistant", "content": row["completion"]}
        whole = tokenizer.apply_chat_template([*turns, answer], tokenize=False)
        asked, read = (tokenizer(text, return_tensors="pt")["input_ids"] for text in (prompt, whole))
        with torch.inference_mode():
            said = model.generate(asked, do_sample=False, max_new_tokens=40)[0][asked.shape[1] :]
            logprobs = model(read).logits[0].log_softmax(-1)
        assert tokenizer.decode(said, skip_special_tokens=True).strip() == found.samples[number].base
        learnt = range(asked.shape[1], read.shape[1])
        nats -= sum(float(logprobs[at - 1, read[0, at]]) for at in learnt)
        tokens += len(learnt)
    perplexity = found.score("perplexity")
    assert perplexity is not None
    assert perplexity.base.value == pytest.approx(2.718281828 ** (nats / tokens), rel=1e-4)


def without_times(evaluation: Evaluation) -> dict[str, Any]:
    return evaluation.model_dump(exclude={"seconds", "report", "settings"})


def test_the_same_again_and_in_other_batches(
    found: Evaluation, base: Path, worse: Path, rows: Path, tmp_path: Path
) -> None:
    more = {"tuned": str(worse), "metrics": ",".join(ALL)}
    again = evaluate(settings(base, rows, tmp_path / "again", **more))
    assert without_times(again) == without_times(found)
    single = evaluate(settings(base, rows, tmp_path / "single", **more, batch_size=1))
    assert [each.tuned for each in single.samples] == [each.tuned for each in found.samples]
    assert single.metrics == pytest.approx(found.metrics, abs=1e-4)


def test_a_served_model_scores_as_the_same_model_here(
    found: Evaluation, base: Path, worse: Path, rows: Path, tmp_path: Path
) -> None:
    judges = "exact_match,contains,bleu,chrf,rouge_l"
    with WebServer(chat_model(worse)) as server:
        served = f"{server.url}/v1/#{worse.name}"
        beside = evaluate(settings(base, rows, tmp_path / "a", tuned=served, metrics=judges, batch_size=4))
        alone = evaluate(settings(served, rows, tmp_path / "b", metrics=judges))
    ours = {name: value for name, value in found.metrics.items() if not name.startswith("perplexity")}
    assert beside.metrics == ours
    assert [each.tuned for each in beside.samples] == [each.tuned for each in found.samples]
    assert [each.base for each in alone.samples] == [each.tuned for each in found.samples]
    seeds = {json.loads(asked.body)["seed"] for asked in server.asked}
    assert seeds == {beside.settings.seed}
    assert len(server.asked) == 2 * ROWS


def test_choices(base: Path, worse: Path, tmp_path: Path) -> None:
    """Urgent or not: the base knows, whatever the order of the choices."""
    asked = [row for row in general_rows(SEED, 60) if row["prompt"].startswith("Is this message urgent?")]
    choices = ["No, it has low urgency.", "Yes, it has high urgency."]
    told = [
        {"question": row["prompt"], "choices": choices[:: (-1) ** at], "answer": row["completion"]}
        for at, row in enumerate(asked)
    ]
    file = write_rows(tmp_path / "choices.jsonl", told)
    one = evaluate(settings(base, file, tmp_path / "one", tuned=str(worse)))
    assert one.rows == len(asked) >= 10
    assert one.leading == "accuracy"
    assert one.metrics["accuracy_base"] == 1.0
    assert all(each.base == each.expected for each in one.samples)


TASK = {
    "task": "urgency",
    "dataset_path": "json",
    "test_split": "test",
    "output_type": "multiple_choice",
    "doc_to_text": "{{question}}",
    "doc_to_choice": "{{choices}}",
    "doc_to_target": "{{gold}}",
    "metric_list": [{"metric": "acc", "aggregation": "mean", "higher_is_better": True}],
}
ANSWERS = {
    "task": "answers",
    "output_type": "generate_until",
    "doc_to_text": "{{prompt}}",
    "doc_to_target": "{{completion}}",
    "generation_kwargs": {"until": ["\n"], "max_gen_toks": 40, "do_sample": False},
    "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
}
CORPUS = {
    "task": "corpus",
    "output_type": "loglikelihood_rolling",
    "doc_to_text": "",
    "doc_to_target": "{{completion}}",
    "metric_list": [{"metric": "word_perplexity", "aggregation": "weighted_perplexity"}],
}


def task_file(folder: Path, task: dict[str, Any], rows: list[Any]) -> Path:
    data = write_rows(folder / f"{task['task']}.jsonl", rows)
    file = folder / f"{task['task']}.yaml"
    whole = {"dataset_path": "json", "dataset_kwargs": {"data_files": {"test": str(data)}}}
    file.write_text(json.dumps({**whole, "test_split": "test", **task, "metadata": {"version": 1.0}}))
    return file


def test_tasks_of_lm_eval(found: Evaluation, base: Path, worse: Path, tmp_path: Path) -> None:
    chosen = [
        {"question": row["prompt"], "choices": ["No, it has low urgency.", row["completion"]], "gold": 1}
        for row in general_rows(SEED, 60)
        if row["completion"].startswith("Yes")
    ]
    given = {TASK["task"]: (TASK, chosen), "answers": (ANSWERS, general_rows(SEED, ROWS))}
    given["corpus"] = (CORPUS, general_rows(SEED, 6))
    files = [task_file(tmp_path, *each) for each in given.values()]
    asked = {"tuned": str(worse), "tasks": ",".join(map(str, files))}
    one = evaluate(settings(base, None, tmp_path / "one", **asked))
    told = {each.name: each for each in one.scores}
    assert set(told) == {"urgency/acc", "answers/exact_match", "corpus/word_perplexity"}
    assert told["urgency/acc"].base.value == 1.0
    assert told["urgency/acc"].rows == len(chosen)
    ours = found.score("exact_match")
    assert ours is not None
    assert told["answers/exact_match"].base.value == ours.base.value  # one and the same question
    assert told["answers/exact_match"].tuned == ours.tuned
    assert told["corpus/word_perplexity"].lower_is_better
    assert not told["answers/exact_match"].lower_is_better
    again = evaluate(settings(base, None, tmp_path / "two", **asked))
    assert again.metrics == one.metrics


ARC = """---
configs:
- config_name: ARC-Easy
  data_files:
  - {split: train, path: ARC-Easy/test.jsonl}
  - {split: validation, path: ARC-Easy/test.jsonl}
  - {split: test, path: ARC-Easy/test.jsonl}
---
"""


def test_a_task_by_name_whose_data_is_at_hand(base: Path, tmp_path: Path) -> None:
    """As a snapshot of the hub has it: a card that tells the configurations, and their files."""
    place = tmp_path / "data" / "allenai" / "ai2_arc"
    choices = {"text": ["No, it has low urgency.", "Yes, it has high urgency."], "label": ["A", "B"]}
    rows = [
        {
            "question": row["prompt"],
            "choices": choices,
            "answerKey": "AB"[row["completion"].startswith("Yes")],
        }
        for row in general_rows(SEED, 40)
        if row["prompt"].startswith("Is this message urgent?")
    ]
    write_rows(place / "ARC-Easy" / "test.jsonl", rows)
    (place / "README.md").write_text(ARC)
    asked = {"tasks": "arc_easy", "task_data": tmp_path / "data"}
    one = evaluate(settings(base, None, tmp_path / "out", **asked))
    assert {each.name: each.rows for each in one.scores} == {
        "arc_easy/acc": len(rows), "arc_easy/acc_norm": len(rows)
    }  # fmt: skip
    assert one.metrics["arc_easy/acc"] >= 0.8
    assert re.fullmatch(r"arc_easy_acc=[\d.]+ arc_easy_acc_norm=[\d.]+", one.line)


def test_a_served_model_answers_tasks(base: Path, tmp_path: Path) -> None:
    file = task_file(tmp_path, ANSWERS, general_rows(SEED, 6))
    here = evaluate(settings(base, None, tmp_path / "here", tasks=str(file)))
    with WebServer(chat_model(base)) as server:
        there = evaluate(settings(f"{server.url}/v1#{base.name}", None, tmp_path / "there", tasks=str(file)))
    assert there.metrics == here.metrics


def test_results_are_whole_or_absent(base: Path, rows: Path, tmp_path: Path) -> None:
    """Killed at any time: no half file, and no file of an evaluation before; the next one goes well."""
    output, chance = tmp_path / "out", random.Random(5)
    wanted = settings(base, rows, output, limit=4)
    evaluate(wanted)
    for _ in range(count(25, sampled=2)):
        assert sorted(each.name for each in output.iterdir()) == FILES
        child = evaluate_again_and_again(wanted)
        wait_until_gone(output / "evaluation.json")
        time.sleep(chance.random() / 3)  # anywhere within one, or within the next
        os.kill(child, signal.SIGKILL)
        assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
        if (output / "evaluation.json").exists():
            Evaluation.model_validate_json((output / "evaluation.json").read_text())
            assert (output / "metrics.json").exists()
        evaluate(wanted)
    assert sorted(each.name for each in output.iterdir()) == FILES


def evaluate_again_and_again(wanted: EvaluateSettings) -> int:
    """A process that does nothing else, until it is killed."""
    child = os.fork()
    if not child:
        try:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            while True:
                evaluate(wanted)
        finally:  # nothing of the tests goes on in here
            os._exit(1)
    return child


def stamp(file: Path) -> int | None:
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def wait_until_gone(file: Path) -> None:
    """Return when the evaluation that stands there has gone, or given way to another."""
    before, until = stamp(file), time.monotonic() + 300
    while stamp(file) == before:
        assert time.monotonic() < until, "nothing begins"
        time.sleep(0.005)


def test_an_evaluation_that_fails_leaves_none(base: Path, rows: Path, tmp_path: Path) -> None:
    evaluate(settings(base, rows, tmp_path, limit=2))
    with WebServer(lambda asked: refused(401, "no key")) as server, pytest.raises(KfpTrainerError):
        evaluate(settings(base, rows, tmp_path, tuned=f"{server.url}/v1#m"))
    assert list(tmp_path.iterdir()) == []
