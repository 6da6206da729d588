"""The objects of one kind: their history by version, and who watches them."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from kfp_trainer.runtime_operator.kube.cache import Key
from kfp_trainer.runtime_operator.kube.resource import Resource

from .selectors import matches

Json = dict[str, Any]


@dataclass(frozen=True)
class Event:
    """One change: what was there before and what after."""

    version: int
    key: Key
    old: str
    new: str


@dataclass(eq=False)
class Watcher:
    """One open watch."""

    namespace: str
    labels: str
    fields: str
    events: asyncio.Queue[Event | None] = field(default_factory=asyncio.Queue)

    def line(self, event: Event) -> bytes:
        """Return the line of an event as this watch sees it; empty if it does not see it."""
        had, has = self.sees(event.old), self.sees(event.new)
        if not had and not has:
            return b""
        kind = "DELETED" if not has else "MODIFIED" if had else "ADDED"
        document = json.loads(event.new if has or event.new else event.old)
        document["metadata"]["resourceVersion"] = str(event.version)
        return event_line(kind, document)

    def sees(self, text: str) -> bool:
        """Whether an object belongs to this watch."""
        if not text:
            return False
        document = json.loads(text)
        inside = self.namespace in ("", document["metadata"].get("namespace", ""))
        return inside and matches(document, self.labels, self.fields)


@dataclass(eq=False)
class Collection:
    """All objects of a kind, as JSON text, which nobody can change by mistake."""

    resource: Resource
    objects: dict[Key, str] = field(default_factory=dict)
    history: list[Event] = field(default_factory=list)
    watchers: list[Watcher] = field(default_factory=list)
    compacted: int = 0

    def get(self, key: Key) -> Json | None:
        """Return a copy of an object."""
        text = self.objects.get(key)
        return json.loads(text) if text else None

    def set(self, key: Key, document: Json | None, version: int) -> None:
        """Store an object, or take it out, and tell the watchers."""
        old = self.objects.pop(key, "")
        new = ""
        if document is not None:
            document["metadata"]["resourceVersion"] = str(version)
            new = self.objects[key] = json.dumps(document)
        event = Event(version, key, old, new)
        self.history.append(event)
        for watcher in self.watchers:
            watcher.events.put_nowait(event)

    def at(self, version: int) -> Iterator[str]:
        """The objects as they were at a version, in the order of their keys."""
        then = dict(self.objects)
        for event in reversed([each for each in self.history if each.version > version]):
            then.pop(event.key, None)
            if event.old:
                then[event.key] = event.old
        return iter([then[key] for key in sorted(then)])

    def compact(self, version: int) -> None:
        """Forget how it came to this."""
        self.history.clear()
        self.compacted = version

    def open(self, watcher: Watcher, since: int) -> None:
        """Begin a watch with what happened since a version."""
        for event in self.history:
            if event.version > since:
                watcher.events.put_nowait(event)
        self.watchers.append(watcher)


def event_line(kind: str, document: Json) -> bytes:
    """Return an event as an API server writes it."""
    return b'{"type":"%s","object":%s}' % (
        kind.encode(),
        json.dumps(document, separators=(",", ":")).encode(),
    )
