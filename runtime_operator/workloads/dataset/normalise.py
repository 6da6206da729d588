"""One row to one example, and what is wrong with it.

The row's columns are taken by the dataset's mapping. A row that cannot be read as the shape says is no
example; one whose turns are all there but out of order is, so that a person may still let it pass.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .example import Example, Turn
from .formats.json_lines import kind
from .records import Fault, shown
from .shapes import Mapped, shape_of_row
from .turns import BadTurns, check_json, order_faults, read_turns


class Normaliser:
    """Reads rows of one mapping; `roles` are names of roles that only this dataset uses."""

    def __init__(self, mapped: Mapped, roles: Mapping[str, str] | None = None) -> None:
        self.mapped = mapped
        self._roles = roles or {}
        self._needs = mapped.needs()
        self._read = {
            "preference pairs": self._pair,
            "messages": self._chat,
            "conversations": self._chat,
            "instruction and output": self._answered,
            "prompt and completion": self._answered,
            "text": self._text,
        }[mapped.shape]

    def example(self, row: Mapping[str, Any]) -> tuple[Example | None, list[Fault]]:
        """The example that a row is, if it can be read as one, and what is wrong with it."""
        missing = [column for column in self._needs if column not in row]
        if missing:
            return None, [self._lacking(row, missing)]
        try:
            example = self._read(row)
        except BadTurns as bad:
            return None, [bad.fault]
        return example, [*_order(example, self.mapped), *_emptiness(example)]

    def _lacking(self, row: Mapping[str, Any], missing: list[str]) -> Fault:
        other = shape_of_row(row)
        if other and set(other.columns.values()) != set(self.mapped.columns.values()):
            return Fault(
                "mixed-shapes",
                f"has the shape {other.shape} ({other}), most rows have {self.mapped.shape} ({self.mapped})",
            )
        return Fault(
            "missing-column", f"has no {missing[0]}, only {', '.join(sorted(map(str, row))) or 'nothing'}"
        )

    def _answered(self, row: Mapping[str, Any]) -> Example:
        columns = self.mapped.columns
        prompt = self._side(row, columns["prompt"], "user")
        if context := row.get(columns.get("context", "")):
            if not isinstance(context, str):
                raise BadTurns("wrong-type", f"{columns['context']} is {kind(context)} ({shown(context)})")
            if context.strip():
                last = {**prompt[-1], "content": f"{prompt[-1]['content']}\n\n{context}"}
                prompt = (*prompt[:-1], last)
        answer = self._side(row, columns["completion"], "assistant")
        return Example((*self._system(row, prompt), *prompt), answer, tools=self._tools(row))

    def _chat(self, row: Mapping[str, Any]) -> Example:
        column = self.mapped.columns["messages"]
        turns = read_turns(row[column], column, roles=self._roles)
        turns = (*self._system(row, turns), *turns)
        return Example(turns[:-1], turns[-1:], tools=self._tools(row))

    def _text(self, row: Mapping[str, Any]) -> Example:
        return Example((), (), text=_plain(row, self.mapped.columns["text"]))

    def _pair(self, row: Mapping[str, Any]) -> Example:
        columns = self.mapped.columns
        chosen = self._side(row, columns["chosen"], "assistant")
        rejected = self._side(row, columns["rejected"], "assistant")
        if prompt_column := columns.get("prompt", "") if columns.get("prompt") in row else "":
            prompt = self._side(row, prompt_column, "user")
            if chosen[: len(prompt)] == prompt and rejected[: len(prompt)] == prompt:
                chosen, rejected = chosen[len(prompt) :], rejected[len(prompt) :]
        else:
            prompt, chosen, rejected = _common_beginning(chosen, rejected, columns)
        if not chosen or not rejected:
            raise BadTurns(
                "no-answer", f"{columns['chosen']} or {columns['rejected']} holds nothing but the prompt"
            )
        if chosen == rejected:
            raise BadTurns("same-pair", f"has one answer as {columns['chosen']} and as {columns['rejected']}")
        return Example((*self._system(row, prompt), *prompt), chosen, rejected, tools=self._tools(row))

    def _side(self, row: Mapping[str, Any], column: str, role: str) -> tuple[Turn, ...]:
        """A question or an answer: text, or turns."""
        if isinstance(row[column], list):
            return read_turns(row[column], column, roles=self._roles)
        return ({"role": role, "content": _plain(row, column)},)

    def _system(self, row: Mapping[str, Any], turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
        given = row.get(self.mapped.columns.get("system", ""))
        if not isinstance(given, str) or not given.strip() or turns[0]["role"] == "system":
            return ()
        return ({"role": "system", "content": given},)

    def _tools(self, row: Mapping[str, Any]) -> tuple[Any, ...]:
        given = row.get(column := self.mapped.columns.get("tools", ""))
        if isinstance(given, str) and given.strip():
            try:
                given = json.loads(given)
            except (ValueError, RecursionError):
                raise BadTurns("wrong-type", f"{column} is text that is not JSON ({shown(given)})") from None
        if not isinstance(given, list):
            return ()
        check_json(given, column)
        return tuple(given)


def _plain(row: Mapping[str, Any], column: str) -> str:
    value = row[column]
    if value is None:
        raise BadTurns("null-value", f"{column} is null")
    if not isinstance(value, str):
        raise BadTurns("wrong-type", f"{column} is {kind(value)} ({shown(value)}), expected text")
    if not value.strip():
        raise BadTurns("empty-text", f"{column} is {'empty' if not value else 'only white space'}")
    return value


def _common_beginning(
    chosen: tuple[Turn, ...], rejected: tuple[Turn, ...], columns: Mapping[str, str]
) -> tuple[tuple[Turn, ...], tuple[Turn, ...], tuple[Turn, ...]]:
    """The prompt that both sides begin with, and what each says after it."""
    if len(chosen) == len(rejected) == 1:
        one, other = chosen[0]["content"], rejected[0]["content"]
        same = next(
            (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
            min(len(one), len(other)),
        )
        cut = one.rfind("\n\nAssistant:", 0, same)
        cut = cut + len("\n\nAssistant:") if cut >= 0 else one.rfind(" ", 0, same) + 1
        if cut and one[:cut].strip() and one[cut:].strip() and other[cut:].strip():
            prompt = ({"role": "user", "content": one[:cut]},)
            sides = [({"role": "assistant", "content": text[cut:].strip()},) for text in (one, other)]
            return prompt, sides[0], sides[1]
        if one == other:
            raise BadTurns("same-pair", f"has one answer as {columns['chosen']} and as {columns['rejected']}")
        raise BadTurns(
            "different-prompts", f"has no prompt and no common beginning ({shown(one)}, {shown(other)})"
        )
    same = 0
    while same < min(len(chosen), len(rejected)) and chosen[same] == rejected[same]:
        same += 1
    if chosen == rejected:
        raise BadTurns(
            "same-pair", f"has one conversation as {columns['chosen']} and as {columns['rejected']}"
        )
    if not same or chosen[same - 1]["role"] not in ("user", "tool"):
        raise BadTurns(
            "different-prompts", f"{columns['chosen']} and {columns['rejected']} differ before the answer"
        )
    return chosen[:same], chosen[same:], rejected[same:]


def _order(example: Example, mapped: Mapped) -> list[Fault]:
    if example.text is not None:
        return []
    where = mapped.columns.get("messages") or "turns"
    faults = list(order_faults(example.turns, where))
    if example.is_pair:
        before = example.prompt[-1]["role"]
        faults += order_faults(example.rejected, mapped.columns["rejected"], first=before)
    roles = [turn["role"] for turn in example.turns]
    if "assistant" not in roles:
        return [Fault("no-answer", f"{where} has no turn of the assistant, only {', '.join(roles[:6])}")]
    if roles[-1] != "assistant" and not faults:
        return [Fault("no-answer", f"{where} ends with {roles[-1]!r}")]
    return faults[:1]


def _emptiness(example: Example) -> list[Fault]:
    if example.text is None and len(example.prompt) and len(example.answer) == 1:
        question, answer = example.prompt[-1]["content"].strip(), example.answer[0]["content"].strip()
        if answer and question == answer:
            return [Fault("answer-is-prompt", f"answers {shown(question)} with the same words")]
    return []
