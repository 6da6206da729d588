"""Problems as they are met: counted, and the first of each kind kept."""

from __future__ import annotations

from collections import Counter, defaultdict

from .records import Fault
from .result import Finding, Outcome, Where
from .rules import RULES
from .settings import CheckSettings

KEPT = 20
ORDER: tuple[Outcome, ...] = ("refused", "dropped", "allowed", "told")


class Findings:
    """What is wrong so far; memory grows with the kinds of problems, not with their number."""

    def __init__(self, settings: CheckSettings) -> None:
        self._settings = settings
        self._counts: Counter[str] = Counter()
        self._examples: defaultdict[str, list[Where]] = defaultdict(list)

    def add(self, fault: Fault, file: str, row: int = 0, line: int | None = None) -> None:
        """Take note of a broken rule."""
        self._counts[fault.rule] += 1
        examples = self._examples[fault.rule]
        if len(examples) < KEPT:
            examples.append(Where(file=file, row=row, line=line, detail=fault.detail))

    def unusable(self, fault: Fault) -> bool:
        """Whether a row with this fault has no place among the rows that are measured."""
        rule = RULES[fault.rule]
        return rule.level == "error" and not rule.borne and fault.rule not in self._settings.allow

    def drops(self, fault: Fault) -> bool:
        """Whether rows with this fault are left out."""
        return fault.rule in self._settings.drop

    def listed(self, rows: int) -> list[Finding]:
        """Every broken rule, the gravest first."""
        found = [self._finding(name, rows) for name in self._counts]
        return sorted(found, key=lambda finding: (ORDER.index(finding.outcome), -finding.rows, finding.rule))

    def _finding(self, name: str, rows: int) -> Finding:
        rule, count = RULES[name], self._counts[name]
        share = count / rows if rows else 1.0
        borne = self._settings.borne(name)
        return Finding(
            rule=name,
            title=rule.title,
            outcome=self._outcome(name, count > borne * rows),
            rows=count,
            share=round(min(share, 1.0), 6),
            borne=borne,
            advice=rule.advice,
            examples=self._examples[name],
        )

    def _outcome(self, name: str, too_many: bool) -> Outcome:
        if name in self._settings.drop:
            return "dropped"
        if RULES[name].level == "warning" or not too_many:
            return "told"
        return "allowed" if name in self._settings.allow else "refused"
