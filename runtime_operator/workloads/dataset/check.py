"""The dataset check: find the files, read every row once, compare them all, write rows and report.

Bad data never raises; it becomes findings, and findings decide whether the data is accepted. Only what
leaves nothing to check (no file, a column that no row has, no such model) is an error of its own.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.metadata import version
from pathlib import Path

from ...errors import SpecError
from ..card import read_origin
from ..files import digest, write_text
from .comparing import EVAL, TEST, TRAIN, find_leaks, find_twins, judge_size
from .example import Example
from .files import Found, find_files
from .findings import Findings
from .formats import read_records
from .inspection import Inspector, Seen
from .measuring import measure_lengths
from .model import ModelReader
from .normalise import Normaliser
from .records import Fault
from .report import dataset_report
from .result import REPORT_FILE, RESULT_FILE, ROWS_FOLDER, DatasetReport, SplitFacts
from .samples import Samples
from .settings import CheckSettings
from .splitting import held_out
from .text import KNOWN_TOKENS, TextRules
from .writing import find_mapping, form_of, write_rows

LIBRARIES = ("pyarrow", "orjson")
OnRows = Callable[[str, int], None]


def check_dataset(settings: CheckSettings, on_rows: OnRows | None = None) -> DatasetReport:
    """Check as `settings` say; writes the report, and the rows for training if the data is accepted.

    `on_rows` is told a split and its rows so far, now and then.
    """
    begun = time.perf_counter()
    _make_folder(settings.output)
    with ExitStack() as stack:
        model = None
        if settings.model:
            model = stack.enter_context(ModelReader(settings.model, settings.sequence_length))
        report = _check(settings, model, on_rows)
    report = report.model_copy(update={"seconds": round(time.perf_counter() - begun, 3)})
    write_text(report.report, dataset_report(report))
    write_text(settings.output / RESULT_FILE, report.model_dump_json(indent=2) + "\n")
    return report


def _make_folder(output: Path) -> None:
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"output: {output} cannot be made, {error.strerror or error}") from None


def _check(settings: CheckSettings, model: ModelReader | None, on_rows: OnRows | None) -> DatasetReport:
    found = find_files(settings.dataset)
    findings = Findings(settings)
    for name, fault in found.refused:
        findings.add(fault, name)
    inspector = _inspector(settings, found, findings, model)
    if inspector:
        inspector.on_rows = on_rows
    splits = (
        {name: inspector.inspect(name, found.splits[name]) for name in _in_order(found)} if inspector else {}
    )
    _compare(splits, findings, settings)
    if model:
        _judge_model(model, inspector, findings)
    elif inspector:
        findings.add(Fault("no-model", "is measured in characters, tokens are not known"), settings.name)
    report = _report(settings, splits, findings, inspector)
    return _write(report, settings, splits, inspector)


def _inspector(
    settings: CheckSettings, found: Found, findings: Findings, model: ModelReader | None
) -> Inspector | None:
    """The reader of rows; None when no file can be read, which the findings tell."""
    if not found.splits:
        return None
    sources = [source for name in _in_order(found) for source in found.splits[name]]
    try:
        mapped = find_mapping(sources, settings.columns)
    except SpecError:
        if settings.columns:
            raise
        _tell_unreadable(found, findings)
        return None
    return Inspector(
        normaliser=Normaliser(mapped, settings.roles),
        findings=findings,
        text=TextRules(model.special_tokens if model else KNOWN_TOKENS),
        samples=Samples(settings.samples),
        model=model,
        limit=settings.limit,
    )


def _tell_unreadable(found: Found, findings: Findings) -> None:
    """What is wrong with the rows, when not one of them shows a shape."""
    for sources in found.splits.values():
        for source in sources:
            rows = 0
            for record in read_records(source):
                rows += 1
                for fault in record.faults:
                    findings.add(fault, source.name, record.row, record.line)
                if record.value is not None and not record.faults:
                    columns = ", ".join(sorted(map(str, record.value))[:12]) or "none"
                    detail = f"has the columns {columns}, which make no prompt and answer, messages or text"
                    findings.add(Fault("unknown-shape", detail), source.name, record.row, record.line)
            if not rows:
                findings.add(Fault("empty-file", "has no rows"), source.name)


def _compare(splits: dict[str, Seen], findings: Findings, settings: CheckSettings) -> None:
    for seen in splits.values():
        find_twins(seen, findings)
    train = splits.get(TRAIN)
    if train is None:
        if splits:
            detail = f"has no rows to train on, only {', '.join(splits)}"
            findings.add(Fault("too-few-rows", detail), settings.name)
        return
    for name, seen in splits.items():
        if name != TRAIN:
            find_leaks(seen, train, findings)
    judge_size(train, findings, least=settings.min_rows, name=settings.name)
    if len(splits) == 1 and not settings.eval_share:
        findings.add(Fault("no-eval", "has no rows to evaluate on"), settings.name)


def _judge_model(model: ModelReader, inspector: Inspector | None, findings: Findings) -> None:
    if fault := model.vocabulary_fault:
        findings.add(fault, model.folder.name)
    if inspector and not model.has_template and inspector.normaliser.mapped.shape != "text":
        findings.add(Fault("no-template", "has no chat template"), model.folder.name)


def _report(
    settings: CheckSettings, splits: dict[str, Seen], findings: Findings, inspector: Inspector | None
) -> DatasetReport:
    rows = sum(seen.rows for seen in splits.values())
    listed = findings.listed(rows)
    mapped = inspector.normaliser.mapped if inspector else None
    lengths = measure_lengths(
        [seen.lengths for seen in splits.values()],
        unit="tokens" if settings.model else "characters",
        limit=inspector.model.room if inspector and inspector.model else None,
        over=sum(seen.over for seen in splits.values()),
    )
    return DatasetReport(
        accepted=all(finding.outcome != "refused" for finding in listed),
        shape=mapped.shape if mapped else "unknown",
        columns=dict(mapped.columns) if mapped else {},
        rows=rows,
        splits={name: _facts(seen) for name, seen in splits.items()},
        findings=listed,
        lengths=lengths,
        samples=inspector.samples.chosen(inspector.model) if inspector else [],
        written={},
        form="",
        data=None,
        report=settings.output / REPORT_FILE,
        seconds=0.0,
        digests=_digests(splits),
        versions={name: version(name) for name in LIBRARIES},
        settings=settings,
    )


def _facts(seen: Seen) -> SplitFacts:
    return SplitFacts(
        files=[source.name for source in seen.sources],
        formats=sorted({source.format.value for source in seen.sources}),
        rows=seen.rows,
        bytes=sum(source.path.stat().st_size for source in seen.sources),
    )


def _digests(splits: dict[str, Seen]) -> dict[str, str]:
    return {source.name: digest(source.path) for seen in splits.values() for source in seen.sources}


def _write(
    report: DatasetReport,
    settings: CheckSettings,
    splits: dict[str, Seen],
    inspector: Inspector | None,
) -> DatasetReport:
    if not report.accepted or inspector is None or settings.limit:
        return report
    simple = all(seen.simple for seen in splits.values())
    form = form_of(inspector.normaliser.mapped, simple)
    folder = settings.output / ROWS_FOLDER
    rows = _rows(settings, splits, inspector.normaliser)
    written = write_rows(
        folder,
        rows,
        form=form,
        simple=simple,
        allowed=settings.allow,
        origin=read_origin(settings.dataset),
    )
    return report.model_copy(update={"written": written, "form": form, "data": folder})


def _rows(
    settings: CheckSettings, splits: dict[str, Seen], normaliser: Normaliser
) -> Iterator[tuple[str, Example]]:
    """Every row that was not left out, with the split it is written to."""
    names = {name: name for name in splits}
    if EVAL not in splits and TEST in splits:
        names[TEST] = EVAL
    for name, seen in splits.items():
        held = _held(seen, settings.eval_share) if list(splits) == [TRAIN] else set[int]()
        index = -1
        for source in seen.sources:
            for record in read_records(source):
                if record.row == 0:
                    continue
                index += 1
                if seen.skipped[index] or record.value is None:
                    continue
                example, _ = normaliser.example(record.value)
                if example is not None:
                    yield (EVAL if index in held else names[name]), example


def _held(seen: Seen, share: float) -> set[int]:
    """The indices of the rows that are held out of a dataset with nothing to evaluate on."""
    kept = [
        (index, prompt)
        for index, prompt in zip(seen.prints.rows, seen.prints.prompt, strict=True)
        if not seen.skipped[index]
    ]
    chosen = held_out(array("Q", (prompt for _, prompt in kept)), share)
    return {index for (index, _), out in zip(kept, chosen, strict=True) if out}


def _in_order(found: Found) -> list[str]:
    """The splits, training first: the others are compared with it."""
    return sorted(found.splits, key=lambda name: (name != TRAIN, name != EVAL, name))
