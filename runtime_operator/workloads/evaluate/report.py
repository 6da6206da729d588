"""The page that answers whether the tuned model is better than its base, how surely, and what got worse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from ..report import Bar, Figure, Html, bar_chart, figures, note, page, section, table
from .comparison import Estimate, Evaluation, Sample, Score, Verdict

SHOWN = 200
ORDER: tuple[Verdict, ...] = ("lost", "both wrong", "won", "both right")
MARKS: dict[Verdict, str] = {"won": "won", "lost": "lost", "both right": "", "both wrong": ""}
HEADINGS: dict[Verdict, str] = {
    "lost": "Answers that got worse",
    "both wrong": "Wrong before and after",
    "won": "Answers that got better",
    "both right": "Right before and after",
}
SHARES = frozenset(("exact_match", "contains", "accuracy"))
"""scores that are shares of rows, and read best as per cent"""
TITLES = {
    "exact_match": "exact match",
    "contains": "expected words said",
    "accuracy": "right choices",
    "bleu": "BLEU",
    "chrf": "chrF",
    "rouge_l": "ROUGE-L",
}


def evaluation_report(evaluation: Evaluation) -> str:
    """The report as one HTML document."""
    parts = [figures(_headlines(evaluation)), *_warnings(evaluation)]
    leading = evaluation.score(evaluation.leading) if evaluation.leading else None
    if leading and leading.name in SHARES:
        parts.append(section(title(leading.name).capitalize(), bar_chart(_bars(leading))))
    parts.append(section("Every score", _score_table(evaluation)))
    if evaluation.samples:
        parts += _answers(evaluation)
    parts.append(section("What it was made from", table(("Part", "Value"), _lineage(evaluation))))
    return page("Evaluation report", _lead(evaluation), *parts)


def title(name: str) -> str:
    """A score's name as a person reads it."""
    return TITLES.get(name, name)


def shown(name: str, value: float) -> str:
    """A figure of this score as a person reads it."""
    return f"{value:.1%}" if name in SHARES else f"{value:.4g}"


def _lead(evaluation: Evaluation) -> str:
    settings = evaluation.settings
    models = [PurePath(each).name for each in (settings.tuned, settings.model) if each]
    what = [f"{evaluation.rows:,} held-out rows of {settings.dataset.name}"] if settings.dataset else []
    return f"{' against '.join(models)} on {', '.join([*what, *settings.tasks])}"


def _headlines(evaluation: Evaluation) -> list[Figure]:
    leading = evaluation.score(evaluation.leading) if evaluation.leading else None
    score = leading or next(iter(evaluation.scores), None)
    if score is None:
        return []
    name, rows = title(score.name), f"of {score.rows:,} questions"
    base = Figure(shown(score.name, score.base.value), f"{name}, base", rows)
    if score.tuned is None or score.difference is None:
        return [base]
    found = [Figure(shown(score.name, score.tuned.value), f"{name}, tuned", _gain(score)), base]
    if leading:
        found.append(Figure(f"{evaluation.won:,}", "won", "answers that tuning made better"))
        found.append(Figure(f"{evaluation.lost:,}", "lost", "answers that tuning made worse"))
    return found


def _gain(score: Score) -> str:
    gap = score.difference.value if score.difference else 0.0
    return apart(score, gap) + (" points" if score.name in SHARES else "")


def _bars(score: Score) -> list[Bar]:
    both = [("base", score.base), ("tuned", score.tuned)]
    return [Bar(name, each.value, shown(score.name, each.value)) for name, each in both if each]


def _warnings(evaluation: Evaluation) -> list[Html]:
    leading = evaluation.score(evaluation.leading) if evaluation.leading else None
    notes = []
    if leading and leading.tuned and leading.difference:
        if leading.difference.value <= 0:
            notes.append(note("The tuned model is not better than the base."))
        elif leading.got_better is None:
            notes.append(note("The gain is within what chance alone makes of so few questions."))
        if evaluation.lost:
            one = "1 answer got worse by tuning; it stands"
            many = f"{evaluation.lost:,} answers got worse by tuning; they stand"
            lost = f"{one if evaluation.lost == 1 else many} below, first of all answers."
            notes.append(note(lost))
    worse = [title(each.name) for each in evaluation.scores if each.got_better is False]
    if worse:
        notes.append(note(f"Surely worse than the base: {', '.join(worse)}."))
    return notes


def _score_table(evaluation: Evaluation) -> Html:
    if evaluation.settings.tuned is None:
        return _lone_scores(evaluation)
    head = ("Score", "Base", "Tuned", "Difference", "Tuning made it")
    rows = [
        (
            title(each.name) + (" (lower is better)" if each.lower_is_better else ""),
            _interval(each, each.base),
            _interval(each, each.tuned),
            _gap(each),
            {True: "better", False: "worse", None: "not surely either"}[each.got_better],
        )
        for each in evaluation.scores
    ]
    sure = f"{evaluation.settings.confidence:.0%}"
    told = note(f"In brackets: where the figure lies with {sure} confidence, drawn from the rows themselves.")
    return Html("\n".join([table(head, rows, numbers=(1, 2, 3)), told]))


def _lone_scores(evaluation: Evaluation) -> Html:
    found = [(title(each.name), _interval(each, each.base), f"{each.rows:,}") for each in evaluation.scores]
    return table(("Score", "Model", "Rows"), found, numbers=(1, 2))


def _interval(score: Score, estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    value = shown(score.name, estimate.value)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} ({shown(score.name, estimate.low)} to {shown(score.name, estimate.high)})"


def _gap(score: Score) -> str:
    """The difference with its interval; of shares in points of a hundred."""
    gap = score.difference
    if gap is None:
        return ""
    unit = " points" if score.name in SHARES else ""
    if gap.low is None or gap.high is None:
        return apart(score, gap.value) + unit
    return f"{apart(score, gap.value)} ({apart(score, gap.low)} to {apart(score, gap.high)}){unit}"


def apart(score: Score, gap: float) -> str:
    """How far two figures lie apart, as a person writes it: never as a power of ten."""
    if score.name in SHARES:
        return f"{100 * gap:+.1f}"
    if abs(gap) >= 10:
        return f"{gap:+,.0f}"
    return f"{gap:+.2g}" if abs(gap) >= 0.001 else f"{gap:+.4f}"


def _answers(evaluation: Evaluation) -> list[Html]:
    """The answers, worst news first, a section for each verdict; those right all the time are folded."""
    judge = evaluation.leading
    if judge is None:
        return [section("Every answer", note("No judge of single answers was asked for."))]
    if evaluation.settings.tuned is None:
        rows = sorted(evaluation.samples, key=lambda each: each.base_scores[judge])
        told = [_alone(each, judge) for each in rows[:SHOWN]]
        alone = table(("Verdict", "Question", "Expected", "Answer"), told)
        return [section("Every answer", alone, *_left_out(len(rows)))]
    found: dict[Verdict, list[Sample]] = {verdict: [] for verdict in ORDER}
    for each in evaluation.samples:
        found[each.verdict(judge)].append(each)
    return [_group(verdict, samples) for verdict, samples in found.items() if samples]


def _group(verdict: Verdict, samples: Sequence[Sample]) -> Html:
    """The answers of one verdict."""
    head = ("Verdict", "Question", "Expected", "Base", "Tuned")
    rows = [
        (verdict, each.prompt, each.expected, each.base or "(nothing)", each.tuned or "(nothing)")
        for each in samples[:SHOWN]
    ]
    parts = [table(head, rows, marks=[MARKS[verdict]] * len(rows)), *_left_out(len(samples))]
    heading = f"{HEADINGS[verdict]} ({len(samples):,})"
    if verdict != "both right":
        return section(heading, *parts)
    inner = "\n".join(parts)
    return section(heading, Html(f"<details>\n<summary>Show them</summary>\n{inner}\n</details>"))


def _left_out(rows: int) -> list[Html]:
    left = rows - SHOWN
    return [note(f"{left:,} further rows stand in evaluation.json.")] if left > 0 else []


def _alone(sample: Sample, judge: str) -> tuple[str, ...]:
    value = sample.base_scores[judge]
    verdict = ("right" if value >= 1 else "wrong") if judge in SHARES else f"{value:.3f}"
    return verdict, sample.prompt, sample.expected, sample.base or "(nothing)"


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
