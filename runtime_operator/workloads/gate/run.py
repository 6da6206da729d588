"""One gate from settings to judgement."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from ...errors import SpecError
from ..evaluate.comparison import EVALUATION_FILE, Evaluation
from ..files import write_text
from .choosing import choose_scores
from .judging import judge_rule
from .pairing import pair
from .result import GateResult
from .rules import parse_rules
from .settings import GateSettings


def judge(settings: GateSettings) -> GateResult:
    """Judge an evaluation by the rules; that one is broken is no error here, but what the result says."""
    if settings.output:  # what stands there is the judgement of another model
        settings.output.unlink(missing_ok=True)
    rules = parse_rules(settings.rules)
    evaluation = _read(settings.evaluation, "evaluation")
    if settings.base:
        evaluation = pair(evaluation, _read(settings.base, "base"))
    scores = choose_scores(rules, evaluation)
    judgements = [
        judge_rule(rule, score, evaluation, settings) for rule, score in zip(rules, scores, strict=True)
    ]
    result = GateResult(
        passed=all(each.holds for each in judgements), judgements=judgements, settings=settings
    )
    if settings.output:
        write_text(settings.output, result.model_dump_json(indent=2) + "\n")
    return result


def _read(path: Path, setting: str) -> Evaluation:
    file = path / EVALUATION_FILE if path.is_dir() else path
    try:
        return Evaluation.model_validate_json(file.read_bytes())
    except OSError as error:
        raise SpecError(
            f"{setting}: {file}: cannot be read, {error.strerror or error}; "
            "give the folder that `kfp-trainer evaluate` has written"
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise SpecError(
            f"{setting}: {file}: is not what `kfp-trainer evaluate` of this version writes, "
            f"{where or 'the document'}: {first['msg'].removeprefix('Value error, ')}"
        ) from None
