"""The page that answers whether a dataset can be trained on, and which rows keep it from that."""

from __future__ import annotations

from html import escape
from itertools import islice

from ..report import Figure, Html, figures, note, page, section, table
from ..report.histogram import histogram
from .records import place
from .result import DatasetReport, Finding, Lengths, Sample

OUTCOMES = {"refused": "refused", "allowed": "allowed", "dropped": "left out", "told": "told"}
SHOWN = 10
PRE = (
    "white-space:pre-wrap;overflow-wrap:anywhere;background:var(--panel);border:1px solid var(--line);"
    "border-radius:.5rem;padding:.75rem 1rem;margin:.25rem 0 1.5rem;max-height:24rem;overflow:auto;"
    "font:.85rem/1.45 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace"
)


def dataset_report(report: DatasetReport) -> str:
    """The report as one HTML document."""
    name = report.settings.name
    return page(
        "Dataset report",
        f"{name}: {report.rows:,} rows, {report.shape}",
        figures(_headlines(report)),
        *_verdict(report),
        *_problems(report),
        *_lengths(report),
        *_samples(report),
        section("What was read", _splits(report), *_columns(report)),
        section("What it was made from", table(("Part", "Value"), _lineage(report))),
    )


def _headlines(report: DatasetReport) -> list[Figure]:
    problems, kinds = sum(finding.rows for finding in report.findings), len(report.findings)
    heads = [
        Figure("accepted" if report.accepted else "refused", "verdict", _because(report)),
        Figure(f"{report.rows:,}", "rows", _written(report)),
        Figure(
            f"{problems:,}",
            "problems",
            f"of {kinds} {'kind' if kinds == 1 else 'kinds'}" if kinds else "none found",
        ),
    ]
    if report.lengths:
        lengths = report.lengths
        room = f"room for {lengths.limit:,}" if lengths.limit else f"longest {lengths.most:,}"
        heads.append(Figure(f"{lengths.median:,}", f"{lengths.unit}, median row", room))
    return heads


def _because(report: DatasetReport) -> str:
    refusals = report.refusals
    if not refusals:
        return "can be trained on"
    return refusals[0].title + (f" and {len(refusals) - 1} more" if len(refusals) > 1 else "")


def _written(report: DatasetReport) -> str:
    if report.written:
        return ", ".join(f"{rows:,} {name}" for name, rows in report.written.items())
    return ", ".join(f"{facts.rows:,} {name}" for name, facts in report.splits.items()) or "none"


def _verdict(report: DatasetReport) -> list[Html]:
    return [note(sentence) for finding in report.refusals[:3] for sentence in finding.sentences(1)]


def _problems(report: DatasetReport) -> list[Html]:
    if not report.findings:
        return [section("Problems", Html("<p>None was found.</p>"))]
    head = ("Verdict", "Rule", "Rows", "Share", "What to do")
    rows = [
        (
            OUTCOMES[finding.outcome],
            f"{finding.title} ({finding.rule})",
            f"{finding.rows:,}",
            _share(finding),
            finding.advice,
        )
        for finding in report.findings
    ]
    marks = ["lost" if finding.outcome == "refused" else "" for finding in report.findings]
    lists = [_examples(finding) for finding in report.findings]
    return [section("Problems", table(head, rows, numbers=(2, 3), marks=marks), *lists)]


def _share(finding: Finding) -> str:
    borne = f" (borne {finding.borne:.0%})" if finding.borne else ""
    return f"{finding.share:.2%}{borne}"


def _examples(finding: Finding) -> Html:
    rows = [
        (place(where.file, where.row, where.line), where.detail) for where in islice(finding.examples, SHOWN)
    ]
    left = finding.rows - len(rows)
    more = note(f"{left:,} more.") if left > 0 else Html("")
    opened = " open" if finding.outcome == "refused" else ""
    inner = table(("Row", "What is wrong"), rows)
    summary = escape(f"{finding.title}: {finding.rows:,}")
    return Html(f"<details{opened}><summary>{summary}</summary>\n{inner}\n{more}</details>")


def _lengths(report: DatasetReport) -> list[Html]:
    lengths = report.lengths
    if lengths is None:
        return []
    bins = [(float(bin.low), float(bin.high), bin.rows) for bin in lengths.bins]
    chart = histogram(
        bins,
        x_name=f"{lengths.unit} a row",
        y_name="rows",
        limit=float(lengths.limit) if lengths.limit else None,
    )
    return [section("Lengths", chart, table(("Length", lengths.unit), _length_rows(lengths), numbers=(1,)))]


def _length_rows(lengths: Lengths) -> list[tuple[str, str]]:
    rows = [
        ("shortest", f"{lengths.least:,}"),
        ("median", f"{lengths.median:,}"),
        ("95 of 100 are at most", f"{lengths.p95:,}"),
        ("99 of 100 are at most", f"{lengths.p99:,}"),
        ("longest", f"{lengths.most:,}"),
        ("all rows together", f"{lengths.total:,}"),
    ]
    if lengths.limit:
        share = lengths.over / lengths.rows
        rows.append((f"rows longer than {lengths.limit:,}", f"{lengths.over:,} ({share:.2%})"))
    return rows


def _samples(report: DatasetReport) -> list[Html]:
    if not report.samples:
        return []
    through = "through the model's chat template" if report.settings.model else "without a chat template"
    unit = report.lengths.unit if report.lengths else "tokens"
    return [section(f"Rows {through}", *[_sample(sample, unit) for sample in report.samples])]


def _sample(sample: Sample, unit: str) -> Html:
    head = escape(f"{sample.place}, {sample.length:,} {unit}")
    return Html(
        f'<p style="margin:0;color:var(--soft)">{head}</p><pre style="{PRE}">{escape(sample.text)}</pre>'
    )


def _splits(report: DatasetReport) -> Html:
    rows = [
        (
            name,
            f"{facts.rows:,}",
            f"{facts.bytes:,}",
            ", ".join(facts.formats),
            ", ".join(facts.files[:5])
            + (f" and {len(facts.files) - 5} more" if len(facts.files) > 5 else ""),
        )
        for name, facts in report.splits.items()
    ]
    return table(("Split", "Rows", "Bytes", "Format", "Files"), rows, numbers=(1, 2))


def _columns(report: DatasetReport) -> list[Html]:
    rows = [(part, column) for part, column in report.columns.items()]
    return [table(("Part", "Column"), rows)] if rows else []


def _lineage(report: DatasetReport) -> list[tuple[str, str]]:
    settings = report.settings
    return [
        *((f"SHA-256 of {name}", value) for name, value in islice(report.digests.items(), 20)),
        *report.versions.items(),
        ("model", settings.model.name if settings.model else "none"),
        ("written as", report.form or "nothing"),
        ("allowed", ", ".join(settings.allow) or "nothing"),
        ("left out", ", ".join(settings.drop) or "nothing"),
        ("seconds", f"{report.seconds:.1f}"),
    ]
