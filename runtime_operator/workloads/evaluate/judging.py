"""How one answer is judged against the one that was expected: a number for each judge.

They look at the text alone, white space at its ends left out. BLEU, chrF and ROUGE-L are those of one
sentence, so that every figure is the mean of its rows and has an interval. Perplexity and the choice among
given answers are told by the model's own probabilities, and only named here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

TextJudge = Callable[[str, str], float]
PERPLEXITY, ACCURACY = "perplexity", "accuracy"


def exact_match(said: str, expected: str) -> float:
    """1 where the answer is the expected one."""
    return float(said.strip() == expected.strip())


def contains(said: str, expected: str) -> float:
    """1 where the expected answer stands somewhere in what was said, whatever its case."""
    return float(expected.strip().lower() in said.lower())


def bleu(said: str, expected: str) -> float:
    """BLEU of the answer, between 0 and 1."""
    import sacrebleu

    return float(sacrebleu.sentence_bleu(said.strip(), [expected.strip()]).score / 100)


def chrf(said: str, expected: str) -> float:
    """How many short runs of characters both have in common, between 0 and 1."""
    import sacrebleu

    return float(sacrebleu.sentence_chrf(said.strip(), [expected.strip()]).score / 100)


def rouge_l(said: str, expected: str) -> float:
    """F1 of the longest common run of words, between 0 and 1."""
    return float(_rouge().score(expected.strip(), said.strip())["rougeL"].fmeasure)


@lru_cache(maxsize=1)
def _rouge() -> Any:
    from rouge_score.rouge_scorer import RougeScorer

    return RougeScorer(["rougeL"])


TEXT_JUDGES: Mapping[str, TextJudge] = {
    "exact_match": exact_match,
    "contains": contains,
    "bleu": bleu,
    "chrf": chrf,
    "rouge_l": rouge_l,
}


def judge(said: str, expected: str, judges: Sequence[str]) -> dict[str, float]:
    """What each of these judges says of an answer."""
    return {name: TEXT_JUDGES[name](said, expected) for name in judges if name in TEXT_JUDGES}
