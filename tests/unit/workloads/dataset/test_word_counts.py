"""Word by word a text has as many tokens as its tokenizer says, or nobody says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from kfp_trainer.runtime_operator.workloads.dataset import word_counts
from kfp_trainer.runtime_operator.workloads.dataset.word_counts import PATTERNS, WordCounts
from tests.counts import count

TEXT = """It's the year 2024, they'll say: we don't know what 12345 costs!  A colour? #hash @name (see below)
\tdef function(value):\n\t\treturn value + 1\n\n\n   Indented   text with   blanks.\r\nAnd a new line...
"quoted" e-mail, I'm/we've.
"""
SPECIAL = ("<|im_start|>", "<|im_end|>", "<|im", "[INST]")


def split(pattern: str) -> Any:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(pattern), "isolated", False),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)
CUTTING = {
    "as GPT-2": BYTES,
    "as SmolLM2": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), BYTES]),
    "as Llama 3": split(PATTERNS[0]),
    "as Qwen 2": split(PATTERNS[1]),
}


def made(
    cutting: Any, *, normalizer: Any = None, special: tuple[str | AddedToken, ...] = SPECIAL
) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer, tokenizer.decoder = cutting, decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=420, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator([TEXT] * 20, trainer)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.add_special_tokens(list(special))
    return tokenizer


ascii_texts = st.lists(
    st.sampled_from(
        [*SPECIAL, *TEXT.split(" "), " ", "  ", "\n", "\r\n", "\t", "1", "23", "'s", "'S", "\x0b"]
    )
    | st.text(st.characters(max_codepoint=127), max_size=6),
    max_size=30,
).map("".join)


@pytest.mark.parametrize("sentence", CUTTING)
def test_words_add_up_to_the_text(sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_counts, "COMPARED", 0)
    core = made(CUTTING[sentence])
    words = WordCounts.of(core)
    assert words is not None

    @settings(max_examples=count(20_000, sampled=300), deadline=None)
    @given(text=ascii_texts)
    def as_many(text: str) -> None:
        assert words.length(text) == len(core.encode(text, add_special_tokens=False)), repr(text)

    as_many()
    assert words.length(TEXT * 50) == len(core.encode(TEXT * 50, add_special_tokens=False))


def test_what_is_not_ascii_is_left_to_the_tokenizer() -> None:
    words = WordCounts.of(made(BYTES))
    assert words is not None
    assert [words.length(text) for text in ("na\u00efve", "a\u2028b", "x" * 2_000_000)] == [None] * 3


LEFT: dict[str, Any] = {
    "a blank before the first word": pre_tokenizers.ByteLevel(add_prefix_space=True),
    "a pattern that nobody checked": split(r"\w+|\W+"),
    "words as in Llama 2": pre_tokenizers.Metaspace(),
    "blanks alone": pre_tokenizers.Whitespace(),
}


@pytest.mark.parametrize("sentence", LEFT)
def test_other_cutting_is_left_to_the_tokenizer(sentence: str) -> None:
    assert WordCounts.of(made(LEFT[sentence])) is None


OTHERS: dict[str, Tokenizer] = {
    "a token that takes blanks along": made(BYTES, special=(AddedToken("<mask>", lstrip=True),)),
    "a token that must stand alone": made(BYTES, special=(AddedToken("<mask>", single_word=True),)),
    "a normalizer that changes letters": made(BYTES, normalizer=normalizers.Lowercase()),
    "another model": Tokenizer(models.WordLevel({"a": 0}, unk_token="a")),
}


@pytest.mark.parametrize("sentence", OTHERS)
def test_other_tokenizers_are_left_alone(sentence: str) -> None:
    assert WordCounts.of(OTHERS[sentence]) is None


def test_dropout_is_left_alone() -> None:
    told = json.loads(made(BYTES).to_str())
    told["model"]["dropout"] = 0.1
    assert WordCounts.of(Tokenizer.from_str(json.dumps(told))) is None


def test_a_normalizer_that_leaves_ascii_alone_is_no_hindrance() -> None:
    assert WordCounts.of(made(BYTES, normalizer=normalizers.NFC())) is not None


def test_one_difference_ends_it() -> None:
    words = WordCounts(len, str.split, [])
    assert words.length("four") == 4
    assert words.length("two words") == 9  # the tokenizer is right; the words make eight
    assert words.length("four") is None


def test_words_that_were_counted_are_not_counted_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_counts, "COMPARED", 0)
    asked: list[str] = []

    def counted(word: str) -> int:
        asked.append(word)
        return 1

    words = WordCounts(counted, str.split, ["<end>"])
    long = "x" * 65
    assert words.length(f"a b a<end>b a {long} {long}") == 8
    assert asked == ["a", "b", long, long]
