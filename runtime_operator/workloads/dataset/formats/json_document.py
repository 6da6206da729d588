"""One JSON document: a list of objects, read object by object; a list under a name; lists by column.

Many files called .json hold JSON lines; they are read as that. A list is taken apart as its text arrives,
so that a file of many gigabytes needs the memory of one row.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from ..records import Record, broken, shown
from .json_lines import kind, read_json_lines, record
from .json_values import BOM
from .opened import DAMAGE, MOST_BYTES, damage

CHUNK = 1 << 20
CUT = 16  # a mistake this near the end of what was read may be no mistake
SPACE = " \t\r\n"
MOST_DOCUMENT = 8 * MOST_BYTES  # an object of columns has to be read at once


def read_json(stream: BinaryIO) -> Iterator[Record]:
    """Each row, whatever the document's form."""
    try:
        head = _head(stream)
        if head.lstrip(BOM).lstrip()[:1] == b"[":
            text = io.TextIOWrapper(_Joined(head, stream), encoding="utf-8-sig")
            try:
                yield from _list_items(text)
            finally:
                text.detach()  # the stream is its opener's to close
            return
        first, _, rest = head.lstrip(BOM).lstrip().partition(b"\n")
        if rest.strip() and _is_whole(first):
            yield from read_json_lines(_Joined(head, stream))
            return
        yield from _object(head + stream.read(MOST_DOCUMENT))
    except UnicodeDecodeError as error:
        yield broken(1, None, "not-utf8", f"is not UTF-8 near byte {error.start + 1}")
    except DAMAGE as error:
        yield broken(1, None, "damaged-file", damage(error))


def _head(stream: BinaryIO) -> bytes:
    """Enough of the beginning to see the form: a first line, unless it is very long."""
    head = stream.read(CHUNK)
    while head and b"\n" not in head and len(head) < MOST_BYTES:
        more = stream.read(CHUNK)
        if not more:
            break
        head += more
    return head


def _is_whole(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _list_items(text: io.TextIOWrapper) -> Iterator[Record]:
    row, buffer = 0, _Buffer(text)
    buffer.skip(SPACE)
    buffer.at += 1  # the bracket
    while True:
        buffer.skip(SPACE + ",")
        if buffer.peek() == "]":
            buffer.at += 1
            buffer.skip(SPACE)
            if buffer.peek():
                yield broken(row + 1, None, "not-json", "is more text behind the end of the list")
            return
        row += 1
        try:
            value = buffer.value()
        except RecursionError:
            yield broken(row, None, "not-json", "is nested too deeply to be read")
            return
        except json.JSONDecodeError as error:
            yield broken(row, None, "not-json", _why(error))
            return
        except OverflowError:
            yield broken(row, None, "row-too-large", f"is longer than {MOST_BYTES >> 20} MiB")
            return
        yield _item(row, value)


class _Buffer:
    """The part of the text that is being looked at."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text, self._held, self.at = text, "", 0
        self._decode = json.JSONDecoder().raw_decode
        self._grow()

    def peek(self) -> str:
        """The next character; nothing at the end of the text."""
        if self.at >= len(self._held):
            self._grow()
        return self._held[self.at : self.at + 1]

    def skip(self, characters: str) -> None:
        """Go on to the next character that is none of these."""
        while (char := self.peek()) and char in characters:
            self.at += 1

    def value(self) -> Any:
        """The JSON value that stands here; OverflowError when it is too large to be a row."""
        while True:
            try:
                value, self.at = self._decode(self._held, self.at)
                return value
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated") or error.pos > len(self._held) - CUT
                if not cut or not self._grow():
                    raise

    def _grow(self) -> bool:
        """Read on; whether there was more. What was passed is let go."""
        self._held, self.at = self._held[self.at :], 0
        if len(self._held) > MOST_BYTES:
            raise OverflowError
        more = self._text.read(max(CHUNK, len(self._held)))
        self._held += more
        return bool(more)


def _object(raw: bytes) -> Iterator[Record]:
    """A document that is one object: a row, a list under a name, or lists by column."""
    first = record(1, None, raw.strip())
    value = first.value
    if value is None:
        yield first
        return
    lists = {name: inner for name, inner in value.items() if isinstance(inner, list)}
    nested = [name for name, inner in lists.items() if inner and all(isinstance(i, dict) for i in inner)]
    if len(nested) == 1 and nested[0] not in ("messages", "conversations", "conversation"):
        for row, inner in enumerate(lists[nested[0]], 1):
            yield _item(row, inner)
        return
    lengths = {len(inner) for inner in lists.values()}
    if value and len(lists) == len(value) and len(lengths) == 1 and not nested:
        for row, cells in enumerate(zip(*lists.values(), strict=True), 1):
            yield Record(row, None, dict(zip(lists, cells, strict=True)))
        return
    yield first


def _item(row: int, value: Any) -> Record:
    if isinstance(value, dict):
        return Record(row, None, value)
    return broken(row, None, "not-an-object", f"is {kind(value)} ({shown(value)})")


def _why(error: json.JSONDecodeError) -> str:
    text = error.doc
    if error.pos >= len(text.rstrip()) - 1 or error.msg.startswith("Unterminated"):
        return "is not JSON, the list ends in the middle"
    near = shown(text[max(0, error.pos - 10) : error.pos + 20].strip())
    return f"is not JSON, {error.msg[:1].lower()}{error.msg[1:]} near {near}"


class _Joined(io.BufferedReader):
    """Bytes that were read already, and the rest behind them."""

    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        super().__init__(_Chain(head, rest), CHUNK)


class _Chain(io.RawIOBase):
    def __init__(self, head: bytes, rest: BinaryIO) -> None:
        self._head, self._rest = memoryview(head), rest

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        data = self._head[: len(into)] if self._head else self._rest.read(len(into))
        self._head = self._head[len(data) :]
        into[: len(data)] = data
        return len(data)
