"""What a Containerfile says: its stages, and what an image of it tells whoever runs it.

A small subset, all that ours are written in: FROM, ARG, ENV, COPY, RUN, USER, WORKDIR, ENTRYPOINT, CMD and
LABEL. Anything else is refused, so that nothing is passed over unseen.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Instruction = tuple[str, str]
"""a keyword, and the words behind it"""


@dataclass(frozen=True)
class Config:
    """What an image tells whoever runs it."""

    env: Mapping[str, str] = field(default_factory=lambda: {"PATH": PATH})
    user: str = "0:0"
    workdir: str = "/"
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def changed(self, keyword: str, words: str) -> "Config":
        """The configuration after one instruction."""
        match keyword:
            case "ENV":
                return replace(self, env={**self.env, **pairs(words)})
            case "LABEL":
                return replace(self, labels={**self.labels, **pairs(words)})
            case "USER":
                return replace(self, user=words)
            case "WORKDIR":
                return replace(self, workdir=words)
            case "ENTRYPOINT":
                return replace(self, entrypoint=tuple(json.loads(words)), command=())
            case "CMD":
                return replace(self, command=tuple(json.loads(words)))
        raise ValueError(f"{keyword}: not an instruction of the subset that is read here")


@dataclass
class Stage:
    """One FROM and what follows it."""

    base: str
    name: str
    instructions: list[Instruction]


def parse(text: str, arguments: Mapping[str, str] | None = None) -> list[Stage]:
    """The stages of a Containerfile that is built with these arguments."""
    values: dict[str, str] = {}
    stages: list[Stage] = []
    for keyword, words in instructions(text):
        if keyword == "FROM":
            base, _, name = filled(words, values).partition(" AS ")
            stages.append(Stage(base, name, []))
        elif stages:
            stages[-1].instructions.append((keyword, words))
        else:
            assert keyword == "ARG", f"{keyword} before FROM"
            values.update([argument(words, arguments or {})])
    return stages


def instructions(text: str) -> Iterator[Instruction]:
    """Every instruction, its lines joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    for line in "\n".join(lines).replace("\\\n", " ").splitlines():
        if line.strip():
            keyword, _, words = line.strip().partition(" ")
            yield keyword, words.strip()


def argument(words: str, given: Mapping[str, str]) -> tuple[str, str]:
    """Name and value of an ARG: what is given, or its default."""
    name, _, default = words.partition("=")
    return name, given.get(name, default)


def pairs(words: str) -> dict[str, str]:
    """Read NAME=VALUE NAME="a value" …"""
    found = [word.partition("=") for word in shlex.split(words)]
    if wrong := [name for name, equals, _ in found if not equals]:
        raise ValueError(f"{wrong}: not NAME=VALUE")
    return {name: value for name, _, value in found}


def filled(words: str, values: Mapping[str, str]) -> str:
    """The words with their ${NAME}s; one that nobody set is a mistake."""
    return re.sub(r"\$\{(\w+)\}", lambda found: values[found[1]], words)
