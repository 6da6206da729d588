"""Twins and leaks are what comparing every row with every other finds; held-out rows stay where they are."""

from __future__ import annotations

import random
from array import array

import pytest

from kfp_trainer.runtime_operator.workloads.dataset.example import Example
from kfp_trainer.runtime_operator.workloads.dataset.sameness import print_of, shared, twins
from kfp_trainer.runtime_operator.workloads.dataset.splitting import held_out
from tests.counts import count


def numbers(chance: random.Random, most: int = 30) -> array[int]:
    return array("Q", [chance.randrange(12) << 60 for _ in range(chance.randrange(most))])


def test_twins_are_those_that_stood_before() -> None:
    chance = random.Random(5)
    for _ in range(count(3000, sampled=200)):
        values = numbers(chance)
        expected = [(at, values.index(value)) for at, value in enumerate(values) if values.index(value) < at]
        assert list(twins(values)) == expected


def test_shared_are_those_that_stand_in_both() -> None:
    chance = random.Random(6)
    for _ in range(count(3000, sampled=200)):
        one, other = numbers(chance), numbers(chance)
        expected = [(at, other.index(value)) for at, value in enumerate(one) if value in other]
        assert list(shared(one, other)) == expected


def example(prompt: str, answer: str) -> Example:
    return Example(({"role": "user", "content": prompt},), ({"role": "assistant", "content": answer},))


ALIKE = {
    "case": ("What is it?", "what IS it?"),
    "white space": ("What is it?", "  What\n is \t it? "),
    "forms of one character": ("café", "cafe\u0301"),
}
APART = {
    "another sign": ("2+2", "2-2"),
    "another word": ("What is it?", "What was it?"),
    "another accent": ("cafe", "café"),
}


@pytest.mark.parametrize("sentence", ALIKE)
def test_what_counts_as_the_same(sentence: str) -> None:
    one, other = (print_of(example(prompt, "a")) for prompt in ALIKE[sentence])
    assert one.exact != other.exact
    assert (one.loose, one.prompt) == (other.loose, other.prompt)


@pytest.mark.parametrize("sentence", APART)
def test_what_counts_as_another(sentence: str) -> None:
    one, other = (print_of(example(prompt, "a")) for prompt in APART[sentence])
    assert one.loose != other.loose
    assert one.prompt != other.prompt


def test_a_print_is_the_same_on_every_machine() -> None:
    expected = (17016074791685234263, 1135009203869167061, 9837212695606011232)
    assert print_of(example("q", "a")) == expected


def prints(rows: range) -> array[int]:
    return array("Q", [print_of(example(f"question {row}", "a")).prompt for row in rows])


def test_about_the_wanted_share_is_held_out() -> None:
    assert sum(held_out(prints(range(4000)), 0.05)) == pytest.approx(200, abs=50)


def test_rows_stay_where_they_are_when_others_are_added() -> None:
    few, many = held_out(prints(range(1000)), 0.1), held_out(prints(range(3000)), 0.1)
    assert few == many[:1000]


SMALL = {
    "one row": (1, 0.05, 0),
    "two rows": (2, 0.05, 1),
    "so few that none is chosen by its print": (6, 0.0001, 1),
    "so large a share that all are chosen": (6, 0.999999, 5),
    "nothing is wanted": (100, 0.0, 0),
}


@pytest.mark.parametrize("sentence", SMALL)
def test_small_sets_keep_rows_on_both_sides(sentence: str) -> None:
    rows, share, expected = SMALL[sentence]
    assert sum(held_out(prints(range(rows)), share)) == expected


def test_rows_with_one_prompt_stay_together() -> None:
    doubled = array("Q", [number for number in prints(range(300)) for _ in range(2)])
    chosen = held_out(doubled, 0.2)
    assert chosen[::2] == chosen[1::2]
