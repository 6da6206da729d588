"""YAML text to documents, as Kubernetes reads it, with the place of every mistake.

Kubernetes turns YAML into JSON first. So a time stays text, keys are text, a key that stands twice is a
mistake, and whatever JSON cannot hold (binary, infinity, a value that contains itself) is refused here,
with line and column, instead of surprising somebody later. An alias that is repeated until it would fill
the memory is refused as well.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from typing import Any, ClassVar, cast

import yaml

from ..errors import SpecError

MOST_VALUES = 1_000_000
DEEPEST = 100
TAG = "tag:yaml.org,2002:"
NOT_IN_JSON = {f"{TAG}timestamp", f"{TAG}value"}
MERGE = f"{TAG}merge"
JSON_TAGS = {TAG + name for name in ("map", "seq", "str", "int", "float", "bool", "null", "merge")}

try:
    from yaml import CSafeLoader as _Base
except ImportError:  # PyYAML without its C library: the same, slower
    from yaml import SafeLoader as _Base  # type: ignore[assignment]


class KubernetesLoader(_Base):
    """Reads YAML as Kubernetes does: times stay text, keys are text, and stand once."""

    yaml_implicit_resolvers: ClassVar = {  # type: ignore[misc]
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in NOT_IN_JSON]
        for first, resolvers in _Base.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Read a mapping, keys as text; its own keys go before merged ones."""
        self.flatten_mapping(node)
        return {self.key(key): self.construct_object(value, deep=deep) for key, value in node.value}

    def key(self, node: yaml.Node) -> str:
        """Read a key as the text that JSON makes of it."""
        key = self.construct_object(node)
        if isinstance(key, bool):
            return str(key).lower()
        if isinstance(key, (str, int, float)):
            return str(key)
        raise _mistake(node, "a key must be text")


def read_yaml(text: str, source: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Give each document of a text with its place, `FILE:LINE:COLUMN`; SpecError where it is broken."""
    try:
        _refuse_depth(text)
        loader = KubernetesLoader(text)
        while loader.check_node() and (node := loader.get_node()) is not None:
            _Judge(loader).judge(node)
            document = loader.construct_document(node)
            if document is not None:
                yield _checked(document, node), _place(source, node.start_mark)
    except yaml.MarkedYAMLError as error:
        place = _place(source, error.problem_mark or error.context_mark)
        raise SpecError(f"{place}: {_said(error)}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        column = error.position - text.rfind("\n", 0, error.position)
        problem = f"a character that YAML does not allow: {error.reason}"
        raise SpecError(f"{source}:{line}:{column}: {problem}") from error


def _place(source: str, mark: yaml.Mark | None) -> str:
    return source if mark is None else f"{source}:{mark.line + 1}:{mark.column + 1}"


def _said(error: yaml.MarkedYAMLError) -> str:
    """The parser's words in one line."""
    return " ".join(part for part in (error.context, error.problem) if part).replace("\n", " ")


def _mistake(at: yaml.Node | yaml.Event, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=cast("yaml.Mark", at.start_mark))


def _checked(document: Any, node: yaml.Node) -> dict[str, Any]:
    if not isinstance(document, dict):
        got = "a list" if isinstance(document, list) else f"{document!r:.40}"
        raise _mistake(node, f"a document must be a mapping with apiVersion and kind, got {got}")
    return document


def _refuse_depth(text: str) -> None:
    """Refuse deep nesting before a tree is made: the parser's own recursion would end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=KubernetesLoader):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
            if depth > DEEPEST:
                raise _mistake(event, f"nested too deeply, at most {DEEPEST} levels are read")
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1


class _Judge:
    """Walks one document and refuses what JSON cannot hold, what holds itself, and what aliases blow up."""

    def __init__(self, loader: KubernetesLoader) -> None:
        self.loader = loader
        self.sizes: dict[int, int] = {}

    def judge(self, node: yaml.Node, depth: int = 0) -> int:
        """Return how many values the node holds once its aliases are written out."""
        if depth > DEEPEST:
            raise _mistake(node, f"nested too deeply or within itself, at most {DEEPEST} levels are read")
        if id(node) not in self.sizes:
            self._check_value(node)
            self._check_keys(node)
            self.sizes[id(node)] = 1 + sum(self.judge(child, depth + 1) for child in _children(node))
        size = self.sizes[id(node)]
        if size > MOST_VALUES:
            raise _mistake(node, f"more than {MOST_VALUES} values once its aliases are written out")
        return size

    def _check_value(self, node: yaml.Node) -> None:
        if node.tag not in JSON_TAGS:
            raise _mistake(node, f"a value of type {node.tag.rpartition(':')[2]} can't stand in an object")
        if not isinstance(node, yaml.ScalarNode) or node.tag == MERGE:
            return
        try:
            value = self.loader.construct_object(node)
        except (ValueError, KeyError) as error:
            raise _mistake(node, f"{node.value!r:.40} is no {node.tag.rpartition(':')[2]}") from error
        if isinstance(value, float) and not math.isfinite(value):
            raise _mistake(node, f"{node.value!r} is no number that JSON can hold")

    def _check_keys(self, node: yaml.Node) -> None:
        seen: set[str] = set()
        for key_node, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            if key_node.tag == MERGE:
                continue
            key = self.loader.key(key_node)
            if key in seen:
                raise _mistake(key_node, f"the key {key!r} stands twice")
            seen.add(key)


def _children(node: yaml.Node) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield key
            yield value
    elif isinstance(node, yaml.SequenceNode):
        yield from node.value
