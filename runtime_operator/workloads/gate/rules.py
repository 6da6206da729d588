"""A rule in words people write: `exact_match >= base + 0.02`, `perplexity <= 1.05 * base`, `accuracy > 0.8`.

On the left stands a score, on the right a number, or the base's figure times one number plus another. 5 %
may be written for 0.05.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, get_args

from ...errors import FieldError, SpecError

Comparison = Literal[">=", ">", "<=", "<"]

_NUMBER = r"[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?\s*%?"
_SCORE = r"[A-Za-z][\w./-]*"
_RULE = re.compile(rf"\s*(?P<score>{_SCORE})\s*(?P<how>>=|<=|>|<)\s*(?P<right>\S.*?)\s*")
_RIGHT = re.compile(
    rf"(?:(?P<sign>-)?\s*(?P<number>{_NUMBER})"
    rf"|(?:(?P<before>{_NUMBER})\s*\*\s*)?base(?:\s*\*\s*(?P<after>{_NUMBER}))?"
    rf"(?:\s*(?P<plus>[-+])\s*(?P<more>{_NUMBER}))?)"
)
EXAMPLE = "exact_match >= base + 0.02"


@dataclass(frozen=True, slots=True)
class Rule:
    """`score` compared with `factor` times the base's figure plus `offset`."""

    text: str
    score: str
    how: Comparison
    factor: float
    offset: float

    @property
    def wants_more(self) -> bool:
        """Whether more is better by this rule."""
        return self.how in (">=", ">")

    @property
    def is_strict(self) -> bool:
        """Whether being equal is not enough."""
        return self.how in (">", "<")

    def limit(self, base: float) -> float:
        """What the figure is compared with."""
        return self.factor * base + self.offset


def parse_rules(texts: tuple[str, ...]) -> list[Rule]:
    """All rules, or a SpecError with a sentence for each that cannot be read."""
    rules, errors = [], []
    for number, text in enumerate(texts):
        rule = _parse(text)
        if rule is None:
            detail = f"cannot be read as a rule (given {text!r}), {_why_not(text)}; write it like {EXAMPLE!r}"
            errors.append(FieldError(f"rules.{number}", detail))
        else:
            rules.append(rule)
    if errors:
        raise SpecError(errors)
    return rules


def _parse(text: str) -> Rule | None:
    found = _RULE.fullmatch(text)
    right = _RIGHT.fullmatch(found["right"]) if found else None
    if found is None or right is None or (right["before"] and right["after"]):
        return None
    factor, offset = _line(right)
    how: Comparison = found["how"]  # type: ignore[assignment]  # the expression matches nothing else
    return Rule(text.strip(), found["score"], how, factor, offset)


def _why_not(text: str) -> str:
    """What about a text keeps it from being a rule."""
    sign = re.search(r"=>|=<|[<>]=?|[!=]=?|≥|≤", text)
    if sign is None:
        return "it compares nothing"
    if sign[0] not in get_args(Comparison):
        return f"{sign[0]} is none of {' '.join(get_args(Comparison))}"
    left, right = text[: sign.start()].strip(), text[sign.end() :].strip()
    if not re.fullmatch(_SCORE, left):
        return "the name of a score stands on the left"
    return f"{right or 'nothing'} is neither a number nor made of base and numbers"


def _line(right: re.Match[str]) -> tuple[float, float]:
    """The factor of the base and what is added to it."""
    if right["number"]:
        return 0.0, _number(right["number"]) * (-1 if right["sign"] else 1)
    times = right["before"] or right["after"]
    more = _number(right["more"]) if right["more"] else 0.0
    return _number(times) if times else 1.0, -more if right["plus"] == "-" else more


def _number(text: str) -> float:
    return float(text.rstrip("% \t")) / (100 if text.endswith("%") else 1)
