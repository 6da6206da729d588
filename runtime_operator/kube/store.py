"""The objects of one collection as far as they are known, whatever order the news comes in.

News come from lists, from events and from the answers to our own writes, over connections that overtake each
other. Whichever is newer by its resourceVersion counts; an object that is known to be gone does not come
back by an older piece of news.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import orjson

from .cache import Cached, Json, Key, cached, is_older

OnChange = Callable[[Key, Cached | None, Cached | None], None]
"""key, what was known, what is known now"""
Condense = Callable[[Json], Any]
Index = Callable[[Cached, Json], Iterable[str]]
"""the values under which an object is found"""

GRAVES = 4096  # deleted objects that are remembered; older news than that do not come


class Store:
    """A cache of one collection with its indices."""

    def __init__(
        self,
        on_change: OnChange,
        *,
        condense: Condense | None = None,
        indices: Mapping[str, Index] | None = None,
        keeps_managers: bool = False,
    ) -> None:
        self._on_change = on_change
        self._keeps_managers = keeps_managers
        self._condense = condense
        self._index_of = dict(indices or {})
        self._objects: dict[Key, Cached] = {}
        self._found: dict[str, dict[str, dict[Key, None]]] = {name: {} for name in self._index_of}
        self._values: dict[Key, tuple[tuple[str, str], ...]] = {}
        self._graves: OrderedDict[str, str] = OrderedDict()

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, key: Key) -> Cached | None:
        """Return an object, if it is known."""
        return self._objects.get(key)

    def items(self) -> Iterator[tuple[Key, Cached]]:
        """Every object; what changes meanwhile does not disturb."""
        return iter(list(self._objects.items()))

    def by_index(self, name: str, value: str) -> list[Cached]:
        """Return the objects that an index finds under a value."""
        return [self._objects[key] for key in self._found[name].get(value, ())]

    def put(self, raw: bytes, document: Json | None = None, *, is_ours: bool = False) -> Cached:
        """Take an object in, and return what is known of it now; our own write is told to nobody."""
        document = orjson.loads(raw) if document is None else document
        new = cached(document, raw, keeps_managers=self._keeps_managers)
        key, known = new.head.key, self._objects.get(new.head.key)
        if known and not _is_news(new, known):
            return known
        if new.head.uid in self._graves:  # a uid never comes back
            return known or new
        if known and known.head.uid != new.head.uid:  # its deletion was told to nobody
            self.remove(key, known.head.uid, new.head.resource_version)
            known = None
        if self._condense:
            new = Cached(new.head, b"", self._condense(document))
        self._objects[key] = new
        if self._index_of:
            self._file(key, new, document)
        if not is_ours:
            self._on_change(key, known, new)
        return new

    def remove(self, key: Key, uid: str, resource_version: str) -> None:
        """Take an object out, unless what is known under its name is newer."""
        self._bury(uid, resource_version)
        known = self._objects.get(key)
        if not known or is_older(resource_version, known.head.resource_version):
            return
        self._unfile(key)
        del self._objects[key]
        self._on_change(key, known, None)

    def keep_only(self, keys: set[Key], resource_version: str) -> None:
        """Take out what a list of this version does not have, except what is newer than the list."""
        for key in [each for each in self._objects if each not in keys]:
            head = self._objects[key].head
            if not is_older(resource_version, head.resource_version):
                self.remove(key, head.uid, resource_version)

    def _bury(self, uid: str, resource_version: str) -> None:
        self._graves[uid] = resource_version
        while len(self._graves) > GRAVES:
            self._graves.popitem(last=False)

    def _file(self, key: Key, new: Cached, document: Json) -> None:
        self._unfile(key)
        filed = tuple((name, value) for name, of in self._index_of.items() for value in of(new, document))
        for name, value in filed:
            self._found[name].setdefault(value, {})[key] = None
        self._values[key] = filed

    def _unfile(self, key: Key) -> None:
        for name, value in self._values.pop(key, ()):
            keys = self._found[name][value]
            keys.pop(key, None)
            if not keys:
                del self._found[name][value]


def _is_news(new: Cached, known: Cached) -> bool:
    """Whether an object is another or newer than what is known under its name."""
    if new.head.resource_version == known.head.resource_version and new.head.uid == known.head.uid:
        return False
    return not is_older(new.head.resource_version, known.head.resource_version)
