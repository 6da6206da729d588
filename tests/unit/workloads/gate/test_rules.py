"""Rules as people write them, and what is said of those that cannot be read."""

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.gate.rules import parse_rules

READ = {
    "exact_match >= base + 0.02": ("exact_match", ">=", 1.0, 0.02),
    "exact_match>=base-2%": ("exact_match", ">=", 1.0, -0.02),
    "perplexity <= 1.05 * base": ("perplexity", "<=", 1.05, 0.0),
    "perplexity < base * 1.05 + 0.1": ("perplexity", "<", 1.05, 0.1),
    "accuracy > 0.8": ("accuracy", ">", 0.0, 0.8),
    "accuracy > 80 %": ("accuracy", ">", 0.0, 0.8),
    "score >= -0.5": ("score", ">=", 0.0, -0.5),
    "arc_easy/acc_norm >= base": ("arc_easy/acc_norm", ">=", 1.0, 0.0),
    "loss <= 1e-3": ("loss", "<=", 0.0, 0.001),
}


@pytest.mark.parametrize("text", READ)
def test_a_rule_is_read(text: str) -> None:
    (rule,) = parse_rules((text,))
    assert (rule.score, rule.how, rule.factor, rule.offset) == pytest.approx(READ[text], abs=1e-12)


UNREAD = {
    "": "it compares nothing",
    "exact_match": "it compares nothing",
    "exact_match = base": "= is none of >= > <= <",
    "exact_match == base": "== is none of >= > <= <",
    "exact_match != base": "!= is none of",
    "a => base": "=> is none of",
    "a ≥ base": "≥ is none of",
    "exact_match >= ": "nothing is neither a number nor made of base",
    "exact_match >= tuned": "tuned is neither a number nor made of base and numbers",
    "a >= 2 * base * 2": "2 * base * 2 is neither",
    "a >= base + base": "base + base is neither",
    "a >= base * b": "base * b is neither",
    "a >= nan": "nan is neither",
    "a >= __import__('os')": "is neither a number",
    ">= base": "the name of a score stands on the left",
    "0.8 <= exact_match": "the name of a score stands on the left",
    "base >= exact_match": "exact_match is neither a number nor made of base",
    "a >= 0.5 and b >= 0.5": "0.5 and b >= 0.5 is neither",
}


@pytest.mark.parametrize("text", UNREAD)
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_rules((text,))
    assert str(refused.value).startswith("rules.0: cannot be read as a rule")
    assert UNREAD[text] in str(refused.value)
    assert "\n" not in str(refused.value)


def test_all_that_cannot_be_read_is_said_at_once() -> None:
    with pytest.raises(SpecError) as refused:
        parse_rules(("a >= 1", "a", "b >= c"))
    assert [each.field for each in refused.value.errors] == ["rules.1", "rules.2"]
