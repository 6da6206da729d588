"""What is wrong with the characters of an example, whatever it says.

Most text is plain and holds no beginning of a token or a key; that is told by searches for single strings,
which are ten times as fast as patterns. Only what is left goes through the patterns.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .example import Example
from .records import Fault

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MOJIBAKE = re.compile(r"[ÃÂ][\u0080-\u00bf]|â€[\u0080-\u00bf™œ˜¦“”]|Ã[¤¶¼Ÿ©¨±]")
_SECRET = re.compile(
    r"\bAKIA[0-9A-Z]{16}\b|\bhf_[A-Za-z0-9]{30,}\b|\bgh[pousr]_[A-Za-z0-9]{36}|\bsk-[A-Za-z0-9_-]{32,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
_SECRETS_BEGIN = ("AKIA", "hf_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "sk-", "-----BEGIN")
# Control tokens that no honest text holds, for when no model says which are its own.
KNOWN_TOKENS = (
    "<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|start_header_id|>", "<|end_of_text|>",
    "<|begin_of_text|>", "[INST]", "[/INST]", "<<SYS>>", "<start_of_turn>", "<end_of_turn>",
)  # fmt: skip


class TextRules:
    """The rules about characters; `tokens` are the model's control tokens, or the well-known ones."""

    def __init__(self, tokens: Iterable[str] = KNOWN_TOKENS) -> None:
        listed = sorted({token for token in tokens if len(token) > 2}, key=len, reverse=True)
        self._token = re.compile("|".join(map(re.escape, listed)) or r"(?!)")
        self._begins = {token[:2] for token in listed}

    def faults(self, example: Example) -> list[Fault]:
        """At most one fault of each rule."""
        found: dict[str, Fault] = {}
        for where, text in _texts(example):
            for fault in self._faults(where, text, in_turn=example.text is None):
                found.setdefault(fault.rule, fault)
        return list(found.values())

    def _faults(self, where: str, text: str, *, in_turn: bool) -> Iterator[Fault]:
        if not _is_plain(text):
            yield from _character_faults(where, text)
        held = in_turn and any(begin in text for begin in self._begins)
        if held and (token := self._token.search(text)):
            yield Fault("special-token", f"{where} holds {token[0]!r} at character {token.start() + 1}")
        if any(begin in text for begin in _SECRETS_BEGIN) and (secret := _SECRET.search(text)):
            yield Fault(
                "secret", f"{where} holds what begins {secret[0][:4]!r} at character {secret.start() + 1}"
            )


def _is_plain(text: str) -> bool:
    """ASCII without control characters but for the ends of lines and tabs."""
    return text.isascii() and text.replace("\n", "").replace("\t", "").replace("\r", "").isprintable()


def _character_faults(where: str, text: str) -> Iterator[Fault]:
    if bad := _CONTROL.search(text):
        yield Fault("control-character", f"{where} holds {bad[0]!r} at character {bad.start() + 1}")
    if bad := _SURROGATE.search(text):
        yield Fault("lone-surrogate", f"{where} holds {bad[0]!r} at character {bad.start() + 1}")
    if (at := text.find("\ufffd")) >= 0:
        yield Fault("replacement-character", f"{where} holds '\ufffd' at character {at + 1}")
    if (at := text.find("\ufeff")) >= 0:
        yield Fault("byte-order-mark", f"{where} holds one at character {at + 1}")
    if bad := _MOJIBAKE.search(text):
        near = text[max(0, bad.start() - 8) : bad.end() + 8]
        yield Fault("mojibake", f"{where} holds {near!r} at character {bad.start() + 1}")


def _texts(example: Example) -> Iterator[tuple[str, str]]:
    if example.text is not None:
        yield "the text", example.text
        return
    for turn in example.prompt:
        yield ("the prompt" if turn["role"] == "user" else f"a turn of {turn['role']}"), turn["content"]
    for turn in (*example.answer, *example.rejected):
        yield "the answer", turn["content"]
