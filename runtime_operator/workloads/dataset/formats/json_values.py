"""One JSON text to a value, or the reason why not.

The fast parser decides; only what it refuses is looked at again, slowly, for words that help: the column,
the usual mistake behind it, or a text that is legal after all and broken elsewhere (half a character).
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from ..records import Fault, shown

BOM = b"\xef\xbb\xbf"


class _Refused(ValueError):
    pass


def parse(raw: bytes) -> tuple[Any, Fault | None]:
    """The value that `raw` holds, and the fault if there is one."""
    try:
        return orjson.loads(raw), None
    except orjson.JSONDecodeError:
        return _parse_slowly(raw)


def twice_named(raw: bytes, value: dict[str, Any]) -> Fault | None:
    """The fault of an object that names something twice: every parser keeps one and drops the other."""
    if all(raw.count(b'"%s"' % name.encode("utf-8", "replace")) < 2 for name in value):
        return None
    found: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in items]
        found[:] = [name for name in names if names.count(name) > 1]
        return dict(items)

    json.loads(raw, object_pairs_hook=pairs)  # the outermost object is closed last
    return Fault("duplicate-key", f"names {found[0]!r} twice") if found else None


def _parse_slowly(raw: bytes) -> tuple[Any, Fault | None]:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = raw[error.start : error.start + 4]
        return None, Fault("not-utf8", f"is not UTF-8 at byte {error.start + 1} of the row ({bad!r})")
    if "\0" in text:
        return None, Fault("control-character", f"holds a NUL byte at column {text.index(chr(0)) + 1}")
    if text.startswith("\ufeff"):
        value, fault = parse(raw[len(BOM) :])
        return value, fault or Fault("byte-order-mark", "begins with a byte order mark")
    try:
        return json.loads(text, parse_constant=_refuse), None
    except json.JSONDecodeError as error:
        return None, Fault("not-json", _why(text, error))
    except _Refused as error:
        return None, Fault("not-json", f"is not JSON, it holds {error}, which JSON does not know")
    except RecursionError:
        return None, Fault("not-json", "is not JSON that can be read, it is nested too deeply")
    except ValueError as error:
        return None, Fault("not-json", f"is not JSON that can be read, {' '.join(str(error).split())[:80]}")


def _why(text: str, error: json.JSONDecodeError) -> str:
    rest = text.rstrip()
    near = shown(text[max(0, error.pos - 10) : error.pos + 20].strip())
    words = error.msg[:1].lower() + error.msg[1:].removesuffix(" starting at")
    base = f"is not JSON, {words} at column {error.colno}, near {near}"
    if error.pos >= len(rest) - 1 or error.msg.startswith("Unterminated"):
        return f"{base}: it ends too early"
    if rest.startswith(("{'", "['")):
        return f"{base}: Python's quotes are not JSON's"
    if error.msg == "Extra data" and rest[error.pos : error.pos + 1] == "{":
        return f"{base}: two objects stand on one line"
    return base


def _refuse(word: str) -> None:
    raise _Refused(word)
