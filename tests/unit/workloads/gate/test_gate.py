"""What rules say of a model, and what is said where they cannot be judged."""

import json
import math
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.command import main
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, Evaluation, Sample
from kfp_trainer.runtime_operator.workloads.evaluate.comparison import Estimate, Score
from kfp_trainer.runtime_operator.workloads.evaluate.scoring import score_of
from kfp_trainer.runtime_operator.workloads.gate import GateResult, GateSettings, judge
from kfp_trainer.runtime_operator.workloads.gate.command import gate_command


def evaluation(
    folder: Path, base: list[float], tuned: list[float] | None, *, name: str = "exact_match", **more: object
) -> Path:
    """The evaluation of rows with these scores; a tuned model is at times alone in it."""
    given = {"model": "b", "tuned": "t" if tuned else None, "dataset": "d", "output": folder, **more}
    settings = EvaluateSettings.model_validate(given)
    columns = [[(each,) for each in one] for one in (base, tuned) if one is not None]
    lower = name == "perplexity"
    found = Evaluation(
        scores=[score_of(settings, name, columns, lower_is_better=lower)],
        leading=name, rows=len(base), won=0, lost=0, seconds={}, device="cpu",
        digests={"prompts": "p"}, versions={}, report=folder / "r.html",
        settings=settings,
        samples=[Sample(prompt=f"{n}?", expected="x", base="", base_scores={}) for n in range(len(base))],
    )  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / "evaluation.json").write_text(found.model_dump_json())
    return folder


def gate(folder: Path, rule: str, **more: object) -> GateResult:
    return judge(GateSettings.model_validate({"evaluation": folder, "rules": rule, **more}))


def share(right: int, of: int = 100) -> list[float]:
    return [1.0] * right + [0.0] * (of - right)


# the base's and the tuned model's rows, the rule, what it is judged by, whether it holds
GAIN, SMALL, SAME = "exact_match >= base + 0.02", "exact_match >= base + 0.01", "exact_match >= base"
SURELY, VALUE = "confidence", "value"
JUDGED = {
    "a large gain": (share(10), share(80), GAIN, SURELY, True),
    "no gain where one is asked for": (share(50), share(50), GAIN, SURELY, False),
    "an unchanged model keeps its place": (share(50), share(50), SAME, SURELY, True),
    "it is not better, though": (share(50), share(50), "exact_match > base", SURELY, False),
    "a planted regression": (share(80), share(40), "exact_match >= base - 0.02", SURELY, False),
    "a small loss that is allowed": (share(80), share(79), "exact_match >= base - 0.05", SURELY, True),
    "a gain that chance may have made": (share(50), share(52), SMALL, SURELY, False),
    "the same gain, judged by its value": (share(50), share(52), SMALL, VALUE, True),
    "enough of its own": (share(10), share(90), "exact_match >= 0.8", SURELY, True),
    "enough, but of ten rows": (share(1, 10), share(9, 10), "exact_match >= 0.8", SURELY, False),
    "one and all right, but of twenty-nine rows": (share(9, 29), share(29, 29), SAME, SURELY, False),
    "one and all right, of thirty": (share(9, 30), share(30, 30), SAME, SURELY, True),
    "one model by itself": (share(90), None, "exact_match >= 0.8", SURELY, True),
}


@pytest.mark.parametrize("sentence", JUDGED)
def test_judgements(sentence: str, tmp_path: Path) -> None:
    base, tuned, rule, judge_by, holds = JUDGED[sentence]
    folder = evaluation(tmp_path, base, tuned)
    result = gate(folder, rule, judge_by=judge_by, output=tmp_path / "gate.json")
    assert result.passed is holds
    assert result.judgements[0].sentence.startswith(f"{rule}: ")
    assert json.loads((tmp_path / "gate.json").read_text())["passed"] is holds


SAID = {
    "broken": (share(50), share(40), SAME, "is broken (0.4 against 0.5, base 0.5, 100 rows)"),
    "held": (share(10), share(80), GAIN, "holds with 95% confidence (0.8 against 0.12, base 0.1, 100 rows)"),
    "unsure": (share(50), share(52), SMALL, "is not sure with 95% confidence; evaluate more rows"),
    "one row": (share(0, 1), share(1, 1), GAIN, "cannot be decided by fewer than 30 rows; evaluate more"),
    "no number": (share(50), [math.nan] * 100, SAME, "is broken, for a figure is no number (nan against 0.5"),
    "no number of the base": ([math.inf] * 50, share(9, 50), SAME, "is broken, for a figure is no number"),
}


@pytest.mark.parametrize("sentence", SAID)
def test_a_judgement_is_one_sentence(sentence: str, tmp_path: Path) -> None:
    base, tuned, rule, words = SAID[sentence]
    output = tmp_path / "gate.json"
    (said,) = gate(evaluation(tmp_path, base, tuned), rule, output=output).judgements
    assert said.sentence.startswith(f"{rule}: ")
    assert words in said.sentence
    assert "\n" not in said.sentence
    json.dumps(json.loads(output.read_text()), allow_nan=False)  # is JSON wherever it is read
    assert GateResult.model_validate_json(output.read_text()).passed is said.holds


def test_a_figure_of_no_rows_is_judged_by_its_value(tmp_path: Path) -> None:
    """What lm-eval says of a whole corpus."""
    folder = evaluation(tmp_path, share(1), share(2))
    found = Evaluation.model_validate_json((folder / "evaluation.json").read_text())
    corpus = Score(name="corpus/bleu", rows=9, base=Estimate(value=3.0), tuned=Estimate(value=4.0))
    (folder / "evaluation.json").write_text(found.model_copy(update={"scores": [corpus]}).model_dump_json())
    (said,) = gate(folder, "corpus/bleu >= base").judgements
    assert said.holds
    assert "holds, and no rows tell how surely" in said.sentence


ERRORS = {
    "no such score": ("chrf >= 0.5", "rules.0: the evaluation has no score 'chrf', it has exact_match"),
    "a score by another name": ("exact_matsh >= 0.5", "no score 'exact_matsh', did you mean exact_match"),
    "the base of a lone model": ("exact_match >= base", "only one model was evaluated; evaluate both"),
    "the wrong way": ("exact_match <= 0.5", "the wrong way, for more exact_match is better; write >="),
    "two mistakes": ("exact_match >= base; bleu > 1", "rules.1: the evaluation has no score 'bleu'"),
}  # fmt: skip


@pytest.mark.parametrize("sentence", ERRORS)
def test_rules_that_do_not_fit_the_evaluation(sentence: str, tmp_path: Path) -> None:
    rule, words = ERRORS[sentence]
    folder = evaluation(tmp_path, share(5), None)
    with pytest.raises(SpecError) as refused:
        gate(folder, rule)
    assert words in str(refused.value)
    assert len(str(refused.value).splitlines()) == len(rule.split(";"))


def test_less_perplexity_is_better(tmp_path: Path) -> None:
    folder = evaluation(tmp_path, share(50), share(40), name="perplexity")
    assert gate(folder, "perplexity <= base").passed
    with pytest.raises(SpecError, match="for less perplexity is better; write <="):
        gate(folder, "perplexity >= base")


def test_two_evaluations_are_judged_as_one(tmp_path: Path) -> None:
    base = evaluation(tmp_path / "base", share(50), None)
    together = evaluation(tmp_path / "together", share(50), share(60))
    alone = evaluation(tmp_path / "alone", share(60), None)
    rule = "exact_match >= base + 0.02"
    apart = gate(alone, rule, base=base).judgements
    assert apart == gate(together, rule).judgements
    assert not gate(base, rule, base=alone).passed
    assert gate(alone, rule, base=together).judgements[0].limit == pytest.approx(0.62)  # of its tuned model


UNLIKE: dict[str, dict[str, object]] = {
    "other rows": {"base": share(5, 99)},
    "another longest answer": {"max_new_tokens": 3},
    "another seed": {"seed": 8},
    "other tasks": {"tasks": "arc_easy"},
    "another limit": {"limit": 3},
    "another chat template": {"prompts": "q"},
}


@pytest.mark.parametrize("sentence", UNLIKE)
def test_answers_to_other_questions_are_not_compared(sentence: str, tmp_path: Path) -> None:
    given = {"base": share(5), **UNLIKE[sentence]}
    prompts = given.pop("prompts", "p")
    other = evaluation(tmp_path / "base", given.pop("base"), None, **given)  # type: ignore[arg-type]
    file = other / "evaluation.json"
    file.write_text(file.read_text().replace('"prompts":"p"', f'"prompts":"{prompts}"'))
    with pytest.raises(SpecError, match=f"base: was asked .*{sentence}.* than the evaluation, evaluate both"):
        gate(evaluation(tmp_path / "one", share(5), None), "exact_match >= base", base=other)


def test_models_of_different_rows_are_refused(tmp_path: Path) -> None:
    folder = evaluation(tmp_path, share(5), share(6))
    document = json.loads((folder / "evaluation.json").read_text())
    document["scores"][0]["columns"][1].pop()
    (folder / "evaluation.json").write_text(json.dumps(document))
    with pytest.raises(SpecError, match=r"scores\.0: its models were not measured by the same 100 rows"):
        gate(folder, "exact_match >= base")


BROKEN = {
    "no evaluation": (None, "cannot be read, No such file or directory; give the folder that"),
    "half a document": ('{"scores": [', "is not what `kfp-trainer evaluate` of this version writes"),
    "another document": ('{"loss": 1}', "is not what `kfp-trainer evaluate` of this version writes, scores"),
    "nothing": ("", "is not what `kfp-trainer evaluate` of this version writes, the document"),
}


@pytest.mark.parametrize("sentence", BROKEN)
def test_what_is_no_evaluation_is_refused(sentence: str, tmp_path: Path) -> None:
    text, words = BROKEN[sentence]
    if text is not None:
        (tmp_path / "evaluation.json").write_text(text)
    with pytest.raises(SpecError) as refused:
        gate(tmp_path, "exact_match >= 0.5")
    assert words in str(refused.value)


ENDS = {
    "a model that passes": ("exact_match >= base", 0, "holds with 95% confidence"),
    "a model that does not": (GAIN, 1, f"error: the model does not pass: {GAIN}"),
    "one rule of two": ("exact_match >= base; exact_match >= 0.9", 1, "does not pass: exact_match >= 0.9\n"),
    "rules that cannot be read": ("exact_match", 2, "rules.0: cannot be read"),
}


@pytest.mark.parametrize("sentence", ENDS)
def test_the_command_ends_with_a_code(
    sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, code, words = ENDS[sentence]
    folder, output = evaluation(tmp_path, share(50), share(50)), tmp_path / "gate.json"
    output.write_text("the judgement of another model")
    arguments = [f"--evaluation={folder}", f"--rules={rules}", f"--output={output}"]
    assert main(gate_command(), arguments) == code
    told = capsys.readouterr()
    assert words in told.out + told.err
    assert "another model" not in output.read_text() if code < 2 else not output.exists()


def test_no_rules_are_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(gate_command(), ["--evaluation=e", "--rules=;"]) == 2
    assert "error: rules: holds no rule, give one such as" in capsys.readouterr().err


@pytest.mark.parametrize("loss", [0.0, 0.05])
def test_a_model_at_the_limit_seldom_passes(loss: float, tmp_path: Path) -> None:
    """One in twenty may, by the meaning of 95 %; rows are drawn anew each time."""
    numpy = pytest.importorskip("numpy")
    chance, passed = numpy.random.default_rng(3), 0
    for _ in range(100):
        base = chance.random(60) < 0.7
        changed = chance.random(60) < 0.2
        tuned = numpy.where(changed, chance.random(60) < 0.7 - 5 * loss, base)
        folder = evaluation(
            tmp_path, *([float(each) for each in one] for one in (base, tuned)), resamples=400
        )
        passed += gate(folder, f"exact_match >= base - {loss}").passed
    assert passed <= 9
