"""What is known, whatever order the news comes in."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kfp_trainer.runtime_operator.kube.cache import Cached, Key
from kfp_trainer.runtime_operator.kube.store import GRAVES, Store

# one name's life: created, changed, deleted, and created again
LIFE = [("put", "old", 10), ("put", "old", 11), ("remove", "old", 12), ("put", "new", 13), ("put", "new", 14)]


def raw(name: str, uid: str, version: int, **metadata: Any) -> bytes:
    metadata = {"name": name, "namespace": "n", "uid": uid, "resourceVersion": str(version), **metadata}
    return json.dumps({"metadata": metadata}).encode()


class Seen:
    """Plays the changes that a store tells, and finds fault with them."""

    def __init__(self) -> None:
        self.world: dict[Key, tuple[str, str]] = {}
        self.told = 0

    def __call__(self, key: Key, old: Cached | None, new: Cached | None) -> None:
        assert old is not None or new is not None
        assert self.world.get(key) == (_identity(old) if old else None)
        self.told += 1
        if new:
            assert old is None or old.head.uid == new.head.uid
            self.world[key] = _identity(new)
        else:
            del self.world[key]


def _identity(of: Cached) -> tuple[str, str]:
    return of.head.uid, of.head.resource_version


@given(st.permutations(LIFE), st.lists(st.sampled_from(LIFE), max_size=4))
def test_the_end_is_the_same_in_any_order_and_however_often(news: list, again: list) -> None:
    seen = Seen()
    store = Store(seen)
    for what, uid, version in news + again:
        if what == "put":
            store.put(raw("a", uid, version))
        else:
            store.remove(("n", "a"), uid, str(version))
    assert seen.world == {("n", "a"): ("new", "14")}
    assert [_identity(each) for _, each in store.items()] == [("new", "14")]


def test_a_namesake_is_told_as_a_deletion_and_a_creation() -> None:
    told: list[tuple[str, str]] = []
    store = Store(lambda _, old, new: told.append((old.head.uid if old else "", new.head.uid if new else "")))
    store.put(raw("a", "u1", 1))
    store.put(raw("a", "u2", 5))
    assert told == [("", "u1"), ("u1", ""), ("", "u2")]


def test_our_own_write_is_known_at_once_and_told_to_nobody() -> None:
    seen = Seen()
    store = Store(seen)
    store.put(raw("a", "u", 5), is_ours=True)
    store.put(raw("a", "u", 4))  # the older event comes later
    store.put(raw("a", "u", 5))  # and our own
    assert (seen.told, store.get(("n", "a")).head.resource_version) == (0, "5")


def test_an_answer_that_comes_after_the_deletion_brings_nothing_back() -> None:
    store = Store(Seen())
    store.put(raw("a", "u", 5))
    store.remove(("n", "a"), "u", "7")
    store.put(raw("a", "u", 6), is_ours=True)
    assert store.get(("n", "a")) is None


def test_a_list_takes_out_what_it_lacks_but_not_what_is_newer_than_it() -> None:
    store = Store(Seen())
    for name, version in (("gone", 5), ("kept", 6), ("newer", 21)):
        store.put(raw(name, name, version))
    store.keep_only({("n", "kept")}, "20")
    assert sorted(key[1] for key, _ in store.items()) == ["kept", "newer"]


def test_indices_follow_every_change() -> None:
    store = Store(
        Seen(),
        indices={
            "owner": lambda each, _: [each.head.owner_uid],
            "label": lambda _, document: document["metadata"].get("labels", {}).values(),
        },
    )
    owners = [{"kind": "K", "name": "o", "uid": "o1"}]
    store.put(raw("a", "u", 1, ownerReferences=owners, labels={"x": "1", "y": "2"}))
    store.put(raw("b", "v", 2, ownerReferences=owners, labels={"x": "1"}))
    assert names(store, "owner", "o1") == ["a", "b"]
    assert (names(store, "label", "1"), names(store, "label", "2")) == (["a", "b"], ["a"])
    store.put(raw("a", "u", 3, labels={"x": "3"}))
    assert (names(store, "owner", "o1"), names(store, "label", "1")) == (["b"], ["b"])
    assert (names(store, "label", "2"), names(store, "label", "3")) == ([], ["a"])
    store.remove(("n", "a"), "u", "4")
    assert names(store, "label", "3") == []


def names(store: Store, index: str, value: str) -> list[str]:
    return [each.head.name for each in store.by_index(index, value)]


def test_what_is_condensed_has_no_bytes() -> None:
    store = Store(Seen(), condense=lambda document: document["metadata"]["name"].upper())
    kept = store.put(raw("a", "u", 1))
    assert (kept.value, kept.raw, kept.head.uid) == ("A", b"", "u")


def test_graves_are_bounded() -> None:
    store = Store(Seen())
    for number in range(GRAVES + 10):
        store.remove(("n", "a"), f"u{number}", "1")
    assert len(store._graves) == GRAVES


def test_versions_that_are_no_numbers_are_taken_as_they_come() -> None:
    store = Store(Seen())
    for version in ("x9", "x1", "x1"):
        store.put(raw("a", "u", 0).replace(b'"0"', f'"{version}"'.encode()))
    assert store.get(("n", "a")).head.resource_version == "x1"
