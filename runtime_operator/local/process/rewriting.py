"""Host names, ports and mount paths in text, where a pod cannot have its own.

Three rules, applied to env values, commands, arguments, working directories and generated files:

1. A mount path becomes the folder of its volume where it stands as a path of its own or as the head of one:
   `/data`, `/data/x`, `--out=/data`, never `/database` or `/my/data`. The longest path wins.
2. A host name of the job becomes its address where it stands as a word: `rank-0.job:29500`, `tcp://rank-0.job`,
   never `xrank-0.job`, nor `/runs/rank-0.job`, which is a path. HOSTNAME keeps the name.
3. A port becomes a free one where it is known to be a port: after a host name of the job and a colon, as the
   whole value of a variable whose name ends in PORT, and as the value of an option whose name ends in `port`
   (or of `-p`). Any other number stays.

What a program has in its own code, or computes, cannot be rewritten.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

_PORT_VARIABLE = re.compile(r"(?:.*_)?PORT", re.IGNORECASE)
_PORT_OPTION = re.compile(r"-p|--?(?:[\w-]*[-_])?port", re.IGNORECASE)
_NOTHING = re.compile(r"(?!)")


def _one_of(words: Sequence[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


@dataclass(frozen=True)
class Rules:
    """What becomes what; empty rules leave every text as it is."""

    paths: Mapping[str, str] = field(default_factory=dict)
    """folder by mount path"""
    names: Mapping[str, str] = field(default_factory=dict)
    """what stands for each host name; the name itself where the pod resolves it"""
    ports: Mapping[int, int] = field(default_factory=dict)

    @cached_property
    def _path_pattern(self) -> re.Pattern[str]:
        return re.compile(rf"(?<![\w./-])({_one_of(list(self.paths))})(?![\w.-])") if self.paths else _NOTHING

    @cached_property
    def _name_pattern(self) -> re.Pattern[str]:
        if not self.names:
            return _NOTHING
        return re.compile(
            rf"(?<![\w.-])(?<!(?<!/)/)({_one_of(list(self.names))})(?!\.?[\w-])(?::(\d+)(?!\d))?"
        )

    def port(self, text: str) -> str:
        """Return the free port for a port, or the text as it is."""
        return str(self.ports.get(int(text), text)) if text.isdecimal() else text

    def text(self, text: str) -> str:
        """Rewrite paths, and names with the ports behind them."""
        text = self._path_pattern.sub(lambda match: self.paths[match[1]], text)
        return self._name_pattern.sub(self._name, text)

    def _name(self, match: re.Match[str]) -> str:
        port = "" if match[2] is None else f":{self.port(match[2])}"
        return self.names[match[1]] + port

    def content(self, content: bytes) -> bytes:
        """Rewrite a generated file; one that is no text stays as it is."""
        try:
            return self.text(content.decode()).encode()
        except UnicodeDecodeError:
            return content

    def env(self, env: Mapping[str, str]) -> dict[str, str]:
        """Rewrite the values of variables."""
        return {
            name: self.port(value) if _PORT_VARIABLE.fullmatch(name) else self.text(value)
            for name, value in env.items()
        }

    def words(self, words: Sequence[str]) -> list[str]:
        """Rewrite a command with its arguments."""
        result: list[str] = []
        for number, word in enumerate(words):
            option, equals, value = word.partition("=")
            if equals and _PORT_OPTION.fullmatch(option):
                result.append(f"{option}={self.port(value)}")
            elif number and _PORT_OPTION.fullmatch(words[number - 1]):
                result.append(self.port(word))
            else:
                result.append(self.text(word))
        return result
