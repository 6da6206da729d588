"""The process beside the check that holds the model's tokenizer: rows in, their lengths out.

It is a process of its own because loading a tokenizer brings torch along, which no tokenizer needs: here
torch is kept out before the first import, which leaves a tenth of the memory and a fifth of the start. It
also counts on one core while the check reads on another.

One JSON line a question on stdin, one a reply on stdout. The template is rendered and the text counted
exactly as fine-tuning does. Nothing of the folder is run: a tokenizer that needs code of its own is refused.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import orjson

from .word_counts import WordCounts

PORTION = 1_000_000  # characters counted at once
PIECE = 100_000  # characters of a text so long that it is counted piece by piece; a cut may add a token
LOOKED_AT = 256  # rows whose prompt is rendered once more, alone
UNLIMITED = 1_000_000_000  # tokenizers without a limit of their own say a number beyond it
Question = dict[str, Any]
Reply = dict[str, Any]


class Counter:
    """Counts and renders rows with one tokenizer; `room` is how many tokens a row may have."""

    def __init__(self, tokenizer: Any, room: int | None) -> None:
        self._tokenizer = tokenizer
        self._room = room
        self._has_template = bool(tokenizer.chat_template)
        added = [str(token) for token in tokenizer.added_tokens_decoder.values() if token.special]
        self._special = sorted({*tokenizer.all_special_tokens, *added})
        self._looked_at = 0
        self._words = WordCounts.of(tokenizer.backend_tokenizer) if tokenizer.is_fast else None

    def about(self) -> Reply:
        """What the check has to know of the tokenizer."""
        tokenizer = self._tokenizer
        return {
            "special_tokens": self._special,
            "tokens": len(tokenizer),
            "longest": int(min(tokenizer.model_max_length, 1 << 60)),
            "has_template": self._has_template,
        }

    def measure(self, rows: Sequence[Question]) -> list[Reply]:
        """For each row its tokens, those of its prompt if it is too long, or why the template refuses it."""
        texts = self._rendered([self._turns(row) for row in rows], rows, ask=False)
        lengths = self._lengths([text for text in texts if isinstance(text, str)])
        replies: list[Reply] = []
        for row, text in zip(rows, texts, strict=True):
            if not isinstance(text, str):
                replies.append({"refused": text[0]})
                continue
            replies.append({"tokens": next(lengths), "remarks": self._remarks(row, text)})
        self._add_prompts(rows, replies)
        return replies

    def render(self, rows: Sequence[Question]) -> list[str]:
        """Each row as the model reads it; what the template refuses is empty."""
        texts = self._rendered([self._turns(row) for row in rows], rows, ask=False)
        return [text if isinstance(text, str) else "" for text in texts]

    def _remarks(self, row: Question, text: str) -> list[str]:
        """The rules that the template breaks for this row; the costly ones only for the first rows."""
        if row["text"] is not None or not self._has_template:
            return []
        answer = self._turns(row)[-1]["content"].strip()
        at = text.rfind(answer)
        if at < 0:
            return ["answer-lost"]
        if self._looked_at >= LOOKED_AT:
            return []
        self._looked_at += 1
        found = []
        if not any(token in text[at + len(answer) :] for token in self._special):
            found.append("open-end")
        asked = self._rendered([row["prompt"]], [row], ask=True)[0]
        if isinstance(asked, str) and not text.startswith(asked):
            found.append("prompt-differs")
        return found

    def _turns(self, row: Question) -> Any:
        """The conversation, of a pair the one with the longer answer; or the plain text."""
        if row["text"] is not None:
            return row["text"]
        size = [sum(len(turn["content"]) for turn in row[side]) for side in ("answer", "rejected")]
        return [*row["prompt"], *(row["rejected"] if size[1] > size[0] else row["answer"])]

    def _rendered(
        self, turns: Sequence[Any], rows: Sequence[Question], *, ask: bool
    ) -> list[str | tuple[str]]:
        """The text of each row, or the words of the template's refusal in a tuple."""
        if not self._has_template:
            return [each if isinstance(each, str) else _plainly(each) for each in turns]
        ordinary = [
            each
            for each, row in zip(turns, rows, strict=True)
            if not isinstance(each, str) and not row["tools"]
        ]
        try:
            together = iter(self._template(ordinary, ask=ask) if ordinary else [])
        except _refusals():
            together = None
        out: list[str | tuple[str]] = []
        for each, row in zip(turns, rows, strict=True):
            if isinstance(each, str):
                out.append(each)
            elif together is not None and not row["tools"]:
                out.append(next(together))
            else:
                out.append(self._alone(each, row["tools"], ask=ask))
        return out

    def _alone(self, turns: Any, tools: Any, *, ask: bool) -> str | tuple[str]:
        try:
            text: str = self._template(turns, ask=ask, tools=tools or None)
        except _refusals() as error:
            return (" ".join(str(error).split())[:160],)
        return text

    def _template(self, turns: Any, *, ask: bool, tools: Any = None) -> Any:
        return self._tokenizer.apply_chat_template(
            turns, tokenize=False, add_generation_prompt=ask, tools=tools
        )

    def _lengths(self, texts: Sequence[str]) -> Iterator[int]:
        """The tokens of each text, by its words where that is as good."""
        known = [self._words.length(text) if self._words else None for text in texts]
        rest = self._counted_whole(
            [text for text, length in zip(texts, known, strict=True) if length is None]
        )
        for length in known:
            yield next(rest) if length is None else length

    def _counted_whole(self, texts: Sequence[str]) -> Iterator[int]:
        """A token takes some 600 bytes while it is counted, so few are at once."""
        for some in _portions(texts):
            if len(some) == 1 and len(some[0]) > PORTION:
                pieces = [some[0][at : at + PIECE] for at in range(0, len(some[0]), PIECE)]
                yield sum(self._counted([piece])[0] for piece in pieces)
            else:
                yield from self._counted(some)

    def _counted(self, texts: Sequence[str]) -> list[int]:
        if self._tokenizer.is_fast:
            core = self._tokenizer.backend_tokenizer
            return [len(one) for one in core.encode_batch_fast(texts, add_special_tokens=False)]
        return [len(one) for one in self._tokenizer(texts, add_special_tokens=False)["input_ids"]]

    def _add_prompts(self, rows: Sequence[Question], replies: list[Reply]) -> None:
        """The prompt's own length, only where the row is too long: does any of the answer remain."""
        if self._room is None:
            return
        long = [
            at
            for at, reply in enumerate(replies)
            if reply.get("tokens", 0) > self._room and rows[at]["text"] is None
        ]
        texts = self._rendered([rows[at]["prompt"] for at in long], [rows[at] for at in long], ask=True)
        asked = [(at, text) for at, text in zip(long, texts, strict=True) if isinstance(text, str)]
        for (at, _), length in zip(asked, self._lengths([text for _, text in asked]), strict=True):
            replies[at]["prompt"] = length


def _portions(texts: Sequence[str]) -> Iterator[list[str]]:
    """The texts in their order, in portions of so many characters; a longer text is a portion alone."""
    portion: list[str] = []
    size = 0
    for text in texts:
        if portion and size + len(text) > PORTION:
            yield portion
            portion, size = [], 0
        portion.append(text)
        size += len(text)
    if portion:
        yield portion


def serve(counter: Counter, questions: BinaryIO, replies: BinaryIO) -> None:
    """Answer until there is no further question."""
    answers: dict[str, Callable[[Any], Any]] = {"measure": counter.measure, "render": counter.render}
    _send(replies, counter.about())
    for line in questions:
        kind, rows = orjson.loads(line)
        _send(replies, answers[kind](rows))


def load_tokenizer(folder: Path) -> Any:
    """The folder's tokenizer, without torch and without running anything of the folder."""
    sys.modules["torch"] = None  # type: ignore[assignment]  # how Python is told that a module is absent
    from ..quiet import quiet_libraries

    os.environ["TOKENIZERS_PARALLELISM"] = "true"  # nothing is forked here
    quiet_libraries()
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)


def main(folder: str, room: str) -> None:
    """Load the tokenizer and serve; what keeps it from loading is the first reply."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # a library that prints must not garble the replies
    try:
        tokenizer = load_tokenizer(Path(folder))
    except (ValueError, OSError, KeyError, TypeError, ImportError, AttributeError) as error:
        _send(replies, {"error": " ".join(str(error).split())[:300]})
        return
    rooms = [length for length in (int(room), tokenizer.model_max_length) if 0 < length < UNLIMITED]
    serve(Counter(tokenizer, min(rooms, default=None)), sys.stdin.buffer, replies)


def _send(replies: BinaryIO, value: Any) -> None:
    replies.write(orjson.dumps(value) + b"\n")
    replies.flush()


def _plainly(turns: Any) -> str:
    return "\n".join(f"{turn['role']}: {turn['content']}" for turn in turns)


def _refusals() -> tuple[type[Exception], ...]:
    """What a template raises; jinja2 is imported with the tokenizer."""
    import jinja2

    return (jinja2.TemplateError, TypeError, ValueError, KeyError, AttributeError, IndexError)


if __name__ == "__main__":
    main(*sys.argv[1:])
