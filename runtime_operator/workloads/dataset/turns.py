"""The turns of a conversation: read from every way people write them, and held to the order of roles.

A system message may stand first; then user and assistant take turns; a tool answers the assistant. That is
what chat templates know. What they do not know, they refuse or silently garble, hours later.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from .example import Turn
from .formats.json_lines import kind
from .records import Fault, shown

ROLES = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "human": "user",
    "prompter": "user",
    "assistant": "assistant",
    "gpt": "assistant",
    "model": "assistant",
    "bot": "assistant",
    "chatgpt": "assistant",
    "function_call": "assistant",
    "tool": "tool",
    "function": "tool",
    "observation": "tool",
    "function_response": "tool",
}
# role -> the roles that may follow it; "" is the beginning
FOLLOWS = {
    "": {"system", "user"},
    "system": {"user"},
    "user": {"assistant"},
    "assistant": {"user", "tool"},
    "tool": {"tool", "assistant"},
}
KEPT = ("tool_calls", "tool_call_id", "name", "reasoning_content")


class BadTurns(Exception):
    """The turns cannot be used; the argument is the fault."""

    def __init__(self, rule: str, detail: str) -> None:
        super().__init__(detail)
        self.fault = Fault(rule, detail)


def read_turns(value: Any, where: str, *, roles: Mapping[str, str]) -> tuple[Turn, ...]:
    """The turns that `value` holds; BadTurns for the first that is none."""
    value = _as_list(value, where)
    if not value:
        raise BadTurns("no-turns", f"{where} is an empty list")
    turns = tuple(_turn(turn, f"{where}[{at}]", roles) for at, turn in enumerate(value))
    weights = [
        raw.get("weight") for raw, turn in zip(value, turns, strict=True) if turn["role"] == "assistant"
    ]
    if weights and all(weight == 0 for weight in weights):
        raise BadTurns("no-answer", f"{where} gives every answer the weight 0")
    return turns


def order_faults(turns: Sequence[Turn], where: str, *, first: str = "") -> Iterator[Fault]:
    """What is wrong with the roles' order, if anything; `first` is the role of the turn before."""
    before = first
    for at, turn in enumerate(turns):
        role = turn["role"]
        if role not in FOLLOWS[before]:
            after = f"after {before}" if before else "at the beginning"
            expected = " or ".join(sorted(FOLLOWS[before]))
            yield Fault("role-order", f"{where}[{at}] is {role!r} {after}, expected {expected}")
            return
        before = role


def _as_list(value: Any, where: str) -> Sequence[Any]:
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise BadTurns(
                "wrong-type", f"{where} is text that is no list of turns ({shown(value)})"
            ) from None
    if isinstance(value, dict) and value and all(isinstance(inner, list) for inner in value.values()):
        lengths = {len(inner) for inner in value.values()}
        if len(lengths) != 1:
            raise BadTurns("not-a-turn", f"{where} has lists of different lengths ({sorted(lengths)})")
        value = [dict(zip(value, cells, strict=True)) for cells in zip(*value.values(), strict=True)]
    if value is None:
        raise BadTurns("null-value", f"{where} is null")
    if not isinstance(value, list):
        raise BadTurns("wrong-type", f"{where} is {kind(value)} ({shown(value)}), expected a list of turns")
    return value


def _turn(turn: Any, where: str, roles: Mapping[str, str]) -> Turn:
    if not isinstance(turn, dict):
        raise BadTurns("not-a-turn", f"{where} is {kind(turn)} ({shown(turn)}), expected role and content")
    spoken = "from" in turn and "role" not in turn
    role_name, text_name = ("from", "value") if spoken else ("role", "content")
    if role_name not in turn:
        raise BadTurns(
            "not-a-turn", f"{where} has no role, only {', '.join(sorted(map(str, turn))) or 'nothing'}"
        )
    kept = {name: turn[name] for name in KEPT if turn.get(name)}
    if kept:
        check_json(kept, where)
    role = _role(turn[role_name], f"{where}.{role_name}", roles)
    if text_name not in turn and "tool_calls" not in kept:
        raise BadTurns("not-a-turn", f"{where} has no {text_name}, only {', '.join(sorted(map(str, turn)))}")
    text = _text(turn.get(text_name), f"{where}.{text_name}", empty_is_fine="tool_calls" in kept)
    return {"role": role, "content": text, **kept}


def check_json(value: Any, where: str) -> None:
    """What stands beside the text has to fit into JSON again."""
    try:
        orjson.dumps(value)
    except TypeError as error:
        raise BadTurns("wrong-type", f"{where} holds what JSON cannot ({str(error).lower()})") from None


def _role(given: Any, where: str, roles: Mapping[str, str]) -> str:
    if not isinstance(given, str):
        raise BadTurns("unknown-role", f"{where} is {kind(given)} ({shown(given)})")
    role = roles.get(given) or ROLES.get(given.strip().lower())
    if role is None:
        raise BadTurns("unknown-role", f"{where} is {shown(given)}")
    return role


def _text(given: Any, where: str, *, empty_is_fine: bool) -> str:
    if isinstance(given, list):
        given = "".join(_part(part, f"{where}[{at}]") for at, part in enumerate(given))
    if given is None and empty_is_fine:
        return ""
    if given is None:
        raise BadTurns("null-value", f"{where} is null")
    if not isinstance(given, str):
        raise BadTurns("wrong-type", f"{where} is {kind(given)} ({shown(given)}), expected text")
    if not given.strip() and not empty_is_fine:
        raise BadTurns("empty-turn", f"{where} is {'empty' if not given else 'only white space'}")
    return given


def _part(part: Any, where: str) -> str:
    if isinstance(part, dict) and part.get("type", "text") == "text" and isinstance(part.get("text"), str):
        return str(part["text"])
    what = part.get("type", "an object") if isinstance(part, dict) else kind(part)
    raise BadTurns("wrong-type", f"{where} is {shown(what)}, only text is trained on")
