"""Makes evaluations for tests without asking a model anything."""

from pathlib import Path

from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings, Evaluation, Sample
from kfp_trainer.runtime_operator.workloads.evaluate.comparison import (
    EVALUATION_FILE,
    METRICS_FILE,
    REPORT_FILE,
)
from kfp_trainer.runtime_operator.workloads.evaluate.scoring import score_of

ROWS = 100


def write_evaluation(folder: Path, *, base: int, tuned: int) -> Evaluation:
    """An evaluation in which base and tuned model have so many of a hundred rows right."""
    settings = EvaluateSettings(model="base", tuned="tuned", dataset=folder, output=folder)
    columns = [[(1.0,)] * right + [(0.0,)] * (ROWS - right) for right in (base, tuned)]
    made = Evaluation(
        scores=[score_of(settings, "exact_match", columns)],
        leading="exact_match",
        rows=ROWS,
        won=max(tuned - base, 0),
        lost=max(base - tuned, 0),
        seconds={},
        device="cpu",
        digests={"prompts": "one"},
        versions={},
        report=folder / REPORT_FILE,
        settings=settings,
        samples=[Sample(prompt=f"{n}?", expected="x", base="", base_scores={}) for n in range(ROWS)],
    )
    folder.mkdir(parents=True, exist_ok=True)
    (folder / EVALUATION_FILE).write_text(made.model_dump_json())
    (folder / METRICS_FILE).write_text("{}")
    (folder / REPORT_FILE).write_text("<html>the report</html>")
    return made
