"""Honest text of many languages is left alone; what is broken or dangerous is named with its place."""

import pytest

from kfp_trainer.runtime_operator.workloads.dataset.example import Example
from kfp_trainer.runtime_operator.workloads.dataset.text import KNOWN_TOKENS, TextRules

HONEST = {
    "plain": "Is 2 < 3? Yes: [1, 2], {3}; <b>bold</b> — “quoted” … 100 %",
    "lines and tabs": "a\n\tb\r\nc",
    "French": "Ça déjà été à l'œuvre: « Où ? » Â l'ombre de l'Île",
    "Portuguese": "NÃO É ASSIM, IRMÃ",
    "German": "Größe, Äpfel, Übermaß",
    "Chinese": "你好,世界。",
    "Arabic with marks": "مُحَمَّد",
    "emoji of several code points": "👩‍👩‍👧‍👦 🇫🇷 ✓",
    "code": "def f(x): return x['a'] # <s> sk-short hf_short",
    "a comparison": "if a <| b then",
}


@pytest.mark.parametrize("sentence", HONEST)
def test_honest_text_is_left_alone(sentence: str) -> None:
    example = Example(
        ({"role": "user", "content": HONEST[sentence]},), ({"role": "assistant", "content": "ok"},)
    )
    assert TextRules().faults(example) == []


# sentence -> (text, rule, words)
BROKEN = {
    "a bell": ("ab\x07", "control-character", r"the prompt holds '\x07' at character 3"),
    "a deleted character": ("\x7f", "control-character", r"'\x7f' at character 1"),
    "half a character": ("ab\ud800", "lone-surrogate", r"'\ud800' at character 3"),
    "a lost character": ("a\ufffdb", "replacement-character", "at character 2"),
    "a byte order mark": ("a\ufeffb", "byte-order-mark", "holds one at character 2"),
    "UTF-8 read as Latin-1": ("Ã¤pfel", "mojibake", "'Ã¤pfel'"),
    "quotes read as Windows-1252": ("itâ€™s", "mojibake", "itâ€™s"),
    "a key of a cloud": ("use AKIAABCDEFGHIJKLMNOP now", "secret", "what begins 'AKIA' at character 5"),
    "a token of a hub": ("hf_" + "a1B2" * 9, "secret", "what begins 'hf_a'"),
    "a private key": ("-----BEGIN RSA PRIVATE KEY-----", "secret", "what begins '----'"),
}


@pytest.mark.parametrize("sentence", BROKEN)
def test_broken_text_is_named(sentence: str) -> None:
    text, rule, words = BROKEN[sentence]
    example = Example(({"role": "user", "content": text},), ({"role": "assistant", "content": text},))
    (fault,) = TextRules().faults(example)
    assert fault.rule == rule
    assert words in fault.detail


def test_a_key_is_not_repeated() -> None:
    key = "sk-" + "Zx9" * 12
    (fault,) = TextRules().faults(Example((), (), text=f"the key is {key}"))
    assert key[4:] not in fault.detail


@pytest.mark.parametrize("token", KNOWN_TOKENS)
def test_control_tokens_belong_into_no_turn_but_into_text(token: str) -> None:
    said = f"before {token} after"
    turns = Example(({"role": "user", "content": said},), ({"role": "assistant", "content": "ok"},))
    assert [fault.rule for fault in TextRules().faults(turns)] == ["special-token"]
    assert TextRules().faults(Example((), (), text=said)) == []


def test_a_model_says_which_tokens_are_its_own() -> None:
    turns = Example(
        ({"role": "user", "content": "<mine> <|im_end|>"},), ({"role": "assistant", "content": "ok"},)
    )
    (fault,) = TextRules(["<mine>"]).faults(turns)
    assert "'<mine>' at character 1" in fault.detail
    assert TextRules([]).faults(turns) == []
