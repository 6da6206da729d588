"""What a check finds, also written as `dataset_report.json`."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from .records import place
from .settings import CheckSettings

REPORT_FILE, RESULT_FILE, ROWS_FOLDER = "dataset_report.html", "dataset_report.json", "data"
Outcome = Literal["refused", "allowed", "dropped", "told"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, protected_namespaces=())


class Where(_Frozen):
    """One row that breaks a rule, and how; row 0 is the file itself."""

    file: str
    row: int
    line: int | None
    detail: str

    def __str__(self) -> str:
        return f"{place(self.file, self.row, self.line)}: {self.detail}"


class Finding(_Frozen):
    """A rule that is broken, how often, and where first."""

    rule: str
    title: str
    outcome: Outcome
    rows: int = Field(description="how many rows, or files, break it")
    share: float = Field(description="of all rows")
    borne: float = Field(description="the share up to which it is only told")
    advice: str
    examples: list[Where]

    def sentences(self, most: int) -> list[str]:
        """One sentence a row: file, row, rule, value, what to do."""
        said = [f"{where}, {self.advice} ({self.rule})" for where in self.examples[:most]]
        more = self.rows - len(said)
        if said and more > 0:
            said[-1] += f"; {more:,} more such rows"
        return said


class SplitFacts(_Frozen):
    """One split as it was found."""

    files: list[str]
    formats: list[str]
    rows: int
    bytes: int


class Bin(_Frozen):
    """Rows of a length from `low` up to but not including `high`."""

    low: int
    high: int
    rows: int


class Lengths(_Frozen):
    """How long the rows are."""

    unit: Literal["tokens", "characters"]
    rows: int
    least: int
    median: int
    p95: int
    p99: int
    most: int
    total: int
    limit: int | None = Field(description="what the model, or the asked sequence length, has room for")
    over: int = Field(description="rows longer than that, which would lose their end")
    bins: list[Bin]


class Sample(_Frozen):
    """A row as the model will read it."""

    place: str
    length: int
    text: str


class DatasetReport(_Frozen):
    """The proof of a check."""

    accepted: bool
    shape: str
    columns: dict[str, str]
    rows: int
    splits: dict[str, SplitFacts]
    findings: list[Finding]
    lengths: Lengths | None
    samples: list[Sample]
    written: dict[str, int] = Field(description="rows of each file written for training")
    form: str = Field(description="the form they are written in")
    data: Path | None = Field(description="the folder with those files; none if the data was refused")
    report: Path
    seconds: float
    digests: dict[str, str]
    versions: dict[str, str]
    settings: CheckSettings

    @property
    def refusals(self) -> list[Finding]:
        """The findings that refuse the data."""
        return [finding for finding in self.findings if finding.outcome == "refused"]

    @property
    def metrics(self) -> dict[str, float]:
        """The headline numbers, flat, as a pipeline shows them."""
        found = {"rows": float(self.rows), **{f"{name}_rows": float(n) for name, n in self.written.items()}}
        if self.lengths:
            found |= {"median_length": float(self.lengths.median), "too_long": float(self.lengths.over)}
        return found | {"problems": float(sum(finding.rows for finding in self.findings))}
