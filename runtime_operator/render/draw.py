"""The picture of a plan: plain text, as wide as it is given, in colour if the caller can paint.

First the waves from top to bottom with what each waits for, then every number with its reason, then the
pods with their programs, and the warnings last, where a terminal leaves the eye.
"""

from __future__ import annotations

import re
import shlex
import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from ..api.names import TRAIN_JOB
from .explain import Explanation, Line, Pods, Program

Paint = Callable[[str, str], str]
"""puts a style (`title`, `name`, `quiet`, `warning`) on a text; plain text comes back as it is"""

ROLES = {"": "", "first": ", runs first", "beside": ", beside the others"}
KEPT_TOGETHER = "\u00a0"
"""a blank at which no line is broken"""
NUMBER = re.compile(r"\d+$")
MOST_OF_A_VALUE = 400
"""characters of a variable: the addresses of a large job would fill the screen"""
UNTIL = {"Complete": "complete", "Ready": "ready"}


def plain(text: str, style: str) -> str:
    """Paint nothing."""
    return text


def draw(story: Explanation, *, width: int = 100, paint: Paint = plain) -> str:
    """Draw an explanation as lines of text."""
    lines = [
        *_head(story, width, paint),
        "",
        *_order(story, paint),
        *_section("Where the numbers come from", _reasons(story, width), paint),
    ]
    for pods in story.pods:
        title = f"Pods of {pods.name}{f': it {pods.purpose}' if pods.purpose else ''}"
        lines += _section(title, _pods(pods, width), paint)
    lines += _section("Warnings", (paint(each, "warning") for each in _wrapped(story.warnings, width)), paint)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _head(story: Explanation, width: int, paint: Paint) -> Iterator[str]:
    origin = f", from {story.runtime}" if story.runtime else ""
    yield f"{paint(f'{story.kind} {story.job}', 'title')} in namespace {story.namespace}{origin}"
    objects = ", ".join(each.replace(" ", KEPT_TOGETHER) for each in _runs(story.objects))
    yield from (line.replace(KEPT_TOGETHER, " ") for line in _hanging("becomes ", objects, width))
    if story.suspended:
        yield paint(f"It is suspended: nothing runs until {_switch(story)} is false.", "warning")


def _runs(objects: Sequence[str]) -> Iterator[str]:
    """The objects; of those that differ by a number alone the first and the last: there may be thousands."""
    for _, run in groupby(objects, key=lambda name: NUMBER.sub("", name)):
        first, *others = run
        yield f"{first} … {others[-1].partition(' ')[2]}" if others else first


def _switch(story: Explanation) -> str:
    return "spec.suspend" if story.kind == TRAIN_JOB else "spec.runPolicy.suspend"


def _section(title: str, lines: Iterator[str], paint: Paint) -> list[str]:
    body = [f"  {line}" for line in lines]
    return ["", paint(title, "title"), *body] if body else []


def _order(story: Explanation, paint: Paint) -> Iterator[str]:
    yield paint("What runs, in this order", "title")
    widest = max((len(pods.name) for pods in story.pods), default=0)
    for wave, members in groupby(sorted(story.pods, key=lambda pods: pods.wave), key=lambda pods: pods.wave):
        group = list(members)
        yield from _arrows(group)
        for index, pods in enumerate(group):
            number = f"{wave + 1}" if index == 0 else " "
            name = paint(pods.name.ljust(widest), "name")
            yield f"  {number}  {name}  {_count(pods.count, 'pod')}{_purpose(pods)}"
        yield from _gang(story, group)


def _arrows(group: Sequence[Pods]) -> Iterator[str]:
    for pods in group:
        if pods.waits_for:
            yield "     │"
            yield f"     ▼  {pods.name} starts once {_until(pods.waits_for)}"


def _until(waits: Sequence[Line]) -> str:
    """`a and b are complete and c is ready`."""
    clauses = []
    for state, edges in groupby(waits, key=lambda edge: edge.text):
        names = [edge.name for edge in edges]
        verb = "are" if len(names) > 1 else "is"
        clauses.append(f"{' and '.join(names)} {verb} {UNTIL.get(state, state)}")
    return " and ".join(clauses)


def _purpose(pods: Pods) -> str:
    purpose = f", {pods.purpose}" if pods.purpose else ""
    return f"{purpose}, {_processes(pods.processes)}" if pods.processes else purpose


def _processes(value: str) -> str:
    if value == "auto":
        return "a process for each of its devices"
    return f"{value} process{'' if value == '1' else 'es'} in each"


def _gang(story: Explanation, group: Sequence[Pods]) -> Iterator[str]:
    if story.gang is None or not any(pods.in_gang for pods in group):
        return
    total = sum(pods.count for pods in group if pods.in_gang)
    least = "all" if story.gang.min_member >= total else f"at least {story.gang.min_member}"
    members = f"{least} of these {total} pods" if total > 1 else "this pod"
    yield f"     └─ a gang: {story.gang.scheduler} places {members} at once, or none"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _reasons(story: Explanation, width: int) -> Iterator[str]:
    rows = [Line(each.field, each.value) for each in story.decisions]
    widest = max((len(f"{row.name} = {row.text}") for row in rows), default=0)
    for row, each in zip(rows, story.decisions, strict=True):
        label = f"{row.name} = {row.text}".ljust(min(widest, 44))
        yield from _hanging(f"{label}  ", each.reason, width)


def _pods(pods: Pods, width: int) -> Iterator[str]:
    if pods.requests:
        yield f"each asks for {pods.requests}"
    if pods.addresses:
        yield from _hanging("found at ", _addresses(pods.addresses), width)
    for program in pods.programs:
        yield from _program(program, width)


def _addresses(addresses: Sequence[str]) -> str:
    return addresses[0] if len(addresses) == 1 else f"{addresses[0]} … {addresses[-1]}"


def _program(program: Program, width: int) -> Iterator[str]:
    yield f"{program.name}{ROLES[program.role]}: {program.image}"
    if program.command:
        yield from _hanging("  $ ", shlex.join(program.command), width)
    yield from _table("env", program.env, width)
    yield from _table("at", program.mounts, width)
    if program.ports:
        yield f"  listens on {', '.join(str(port) for port in program.ports)}"


def _table(label: str, rows: Sequence[Line], width: int) -> Iterator[str]:
    """Rows of two columns, the label before the first of them."""
    widest = min(max((len(row.name) for row in rows), default=0), 40)
    for index, row in enumerate(rows):
        lead = label if index == 0 else " " * len(label)
        yield from _hanging(f"  {lead} {row.name.ljust(widest)}  ", _shown(row.text), width)


def _shown(text: str) -> str:
    if len(text) <= MOST_OF_A_VALUE:
        return text or "(empty)"
    return f"{text[:MOST_OF_A_VALUE]}… ({len(text)} characters; `render` prints all)"


def _hanging(lead: str, text: str, width: int) -> list[str]:
    """The text behind the lead, its further lines indented as far."""
    room = max(width - len(lead) - 2, 30)
    words = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [lead + words[0], *(" " * len(lead) + line for line in words[1:])]


def _wrapped(texts: Sequence[str], width: int) -> Iterator[str]:
    for text in texts:
        yield from _hanging("! ", text, width)
