"""The page that answers whether the tuned model is better than the base, and what got worse."""

from __future__ import annotations

from ..report import Bar, Figure, Html, bar_chart, figures, note, page, section, table
from .comparison import Evaluation, Sample, Verdict

SHOWN = 200
ORDER: tuple[Verdict, ...] = ("lost", "both wrong", "won", "both right")
MARKS: dict[Verdict, str] = {"won": "won", "lost": "lost", "both right": "", "both wrong": ""}


def evaluation_report(evaluation: Evaluation) -> str:
    """The report as one HTML document."""
    settings = evaluation.settings
    subject = (
        f"{settings.tuned.name} against {settings.model.name}" if settings.tuned else settings.model.name
    )
    return page(
        "Evaluation report",
        f"{subject} on {evaluation.rows:,} held-out rows of {settings.dataset.name}",
        figures(_headlines(evaluation)),
        *_warnings(evaluation),
        section("Exact match", bar_chart(_bars(evaluation))),
        section("Every answer", _samples(evaluation)),
        section("What it was made from", table(("Part", "Value"), _lineage(evaluation))),
    )


def _headlines(evaluation: Evaluation) -> list[Figure]:
    base = Figure(
        f"{evaluation.base_exact_match:.1%}", "exact match, base", f"of {evaluation.rows:,} questions"
    )
    if evaluation.tuned_exact_match is None:
        return [base]
    gain = 100 * (evaluation.tuned_exact_match - evaluation.base_exact_match)
    return [
        Figure(f"{evaluation.tuned_exact_match:.1%}", "exact match, tuned", f"{gain:+.1f} points"),
        base,
        Figure(f"{evaluation.won:,}", "won", "only the tuned model is right"),
        Figure(f"{evaluation.lost:,}", "lost", "only the base is right"),
    ]


def _bars(evaluation: Evaluation) -> list[Bar]:
    scores = [("base", evaluation.base_exact_match), ("tuned", evaluation.tuned_exact_match)]
    return [Bar(name, score, f"{score:.1%}") for name, score in scores if score is not None]


def _warnings(evaluation: Evaluation) -> list[Html]:
    if evaluation.tuned_exact_match is None:
        return []
    if evaluation.tuned_exact_match <= evaluation.base_exact_match:
        return [note("The tuned model is not better than the base.")]
    if evaluation.lost:
        return [
            note(f"{evaluation.lost:,} questions that the base answers rightly got worse; they stand first.")
        ]
    return []


def _samples(evaluation: Evaluation) -> Html:
    """The answers, worst news first."""
    ranked = sorted(evaluation.samples, key=lambda sample: ORDER.index(sample.verdict))[:SHOWN]
    left_out = evaluation.rows - len(ranked)
    more = [note(f"{left_out:,} further rows stand in evaluation.json.")] if left_out else []
    if evaluation.tuned_exact_match is None:
        alone = table(("Verdict", "Question", "Expected", "Answer"), [_alone(sample) for sample in ranked])
        return Html("\n".join([alone, *more]))
    head = ("Verdict", "Question", "Expected", "Base", "Tuned")
    rows = [
        (
            sample.verdict,
            sample.prompt,
            sample.expected,
            sample.base or "(nothing)",
            sample.tuned or "(nothing)",
        )
        for sample in ranked
    ]
    return Html("\n".join([table(head, rows, marks=[MARKS[sample.verdict] for sample in ranked]), *more]))


def _alone(sample: Sample) -> tuple[str, ...]:
    return (
        "right" if sample.base_right else "wrong",
        sample.prompt,
        sample.expected,
        sample.base or "(nothing)",
    )


def _lineage(evaluation: Evaluation) -> list[tuple[str, str]]:
    settings = evaluation.settings
    return [
        *((f"SHA-256 of the {name}", value) for name, value in evaluation.digests.items()),
        *((f"seconds, {name}", f"{value:.1f}") for name, value in evaluation.seconds.items()),
        *evaluation.versions.items(),
        ("device", evaluation.device),
        ("longest answer", f"{settings.max_new_tokens} tokens, greedy"),
        ("batch_size", str(settings.batch_size)),
        ("seed", str(settings.seed)),
    ]
