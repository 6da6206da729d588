"""The one form of a row that everything behind the reading works on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Turn = dict[str, Any]
"""role and content, and for tools what belongs to a call"""

Shape = Literal[
    "prompt and completion",
    "instruction and output",
    "messages",
    "conversations",
    "text",
    "preference pairs",
]


@dataclass(frozen=True, slots=True)
class Example:
    """What a model is asked and what it should answer; or plain text; or two answers, one better."""

    prompt: tuple[Turn, ...]
    answer: tuple[Turn, ...]
    rejected: tuple[Turn, ...] = ()
    text: str | None = None
    tools: tuple[Any, ...] = ()

    @property
    def turns(self) -> list[Turn]:
        """The whole conversation."""
        return [*self.prompt, *self.answer]

    @property
    def size(self) -> int:
        """How many characters it has."""
        turns = (*self.prompt, *self.answer, *self.rejected)
        return len(self.text or "") + sum(len(turn["content"]) for turn in turns)

    @property
    def is_pair(self) -> bool:
        """Whether two answers are compared."""
        return bool(self.rejected)

    @property
    def is_simple(self) -> bool:
        """Whether one question is followed by one answer and nothing else."""
        turns = [*self.prompt, *self.answer, *self.rejected]
        return (
            len(self.prompt) == len(self.answer) == 1
            and len(self.rejected) <= 1
            and self.prompt[0]["role"] == "user"
            and not self.tools
            and all(turn.keys() == {"role", "content"} for turn in turns)
        )


def said(turns: tuple[Turn, ...] | list[Turn]) -> str:
    """All that the turns say, with their roles, as one text for comparing."""
    return "\x1e".join(
        f"{turn['role']}\x1f{turn['content']}\x1f{turn.get('tool_calls', '')}" for turn in turns
    )


def in_plain(example: Example) -> str:
    """A row as text where no model says how: its turns below each other."""
    if example.text is not None:
        return example.text
    return "\n".join(f"{turn['role']}: {turn['content']}" for turn in example.turns)
