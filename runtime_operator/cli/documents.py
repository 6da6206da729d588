"""The documents of the files a command is given, and the runtimes that come with this package.

A file may hold several documents; `-` is stdin; a `List`, as `kubectl get -o yaml` prints it, is what it
holds. A document without kind or name is refused with the line on which it begins.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..api.names import CLUSTER_TRAINING_RUNTIME, TRAINING_RUNTIME
from ..api.paths import REQUIRED, WRONG_TYPE
from ..errors import FieldError, SpecError
from .yaml_documents import read_yaml

Document = Mapping[str, Any]
STDIN = "-"


def read_documents(sources: Sequence[str]) -> list[Document]:
    """Read all documents of these files, in their order; SpecError says where one is broken."""
    documents = [document for source in sources for document in _read_source(source)]
    if not documents:
        raise SpecError(f"{named(sources)}: no document in it; write a job, or name another file")
    return documents


def named(sources: Iterable[str]) -> str:
    """The files a command was given, as a person calls them."""
    return ", ".join("stdin" if each == STDIN else each for each in sources)


def shipped_runtimes() -> list[Document]:
    """The runtimes that serve where a person's files have none of that name."""
    folder = files("kfp_trainer.manifests").joinpath("runtimes")
    texts = sorted(
        (each.name, each.read_text("utf-8")) for each in folder.iterdir() if each.name.endswith(".yaml")
    )
    documents = (document for name, text in texts for document, _ in read_yaml(text, name))
    return [each for each in documents if each.get("kind") in (CLUSTER_TRAINING_RUNTIME, TRAINING_RUNTIME)]


def _read_source(source: str) -> Iterator[Document]:
    name = "stdin" if source == STDIN else source
    for document, place in read_yaml(_text(source, name), name):
        items = document.get("items")
        if str(document.get("kind", "")).endswith("List") and isinstance(items, list):
            yield from (_with_identity(item, f"{place}: items[{index}]") for index, item in enumerate(items))
        else:
            yield _with_identity(document, place)


def _text(source: str, name: str) -> str:
    try:
        content = sys.stdin.buffer.read() if source == STDIN else Path(source).read_bytes()
        return content.decode("utf-8-sig")
    except IsADirectoryError as error:
        raise SpecError(f"{name}: is a folder; name the files in it") from error
    except OSError as error:
        raise SpecError(f"{name}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise SpecError(f"{name}:{line}: not UTF-8: {error.reason}; save it as UTF-8") from error


def _with_identity(document: Any, place: str) -> Document:
    """The document, if it says what it is and how it is called."""
    if not isinstance(document, Mapping):
        raise SpecError(f"{place}: an item must be a mapping, got {document!r:.40}")
    metadata = document.get("metadata")
    identity = {
        "kind": document.get("kind"),
        "metadata": metadata if metadata != {} else {"name": None},
        "metadata.name": _name(metadata) if isinstance(metadata, Mapping) else None,
    }
    for field, value in identity.items():
        wanted = Mapping if field == "metadata" else str
        if not value:
            raise SpecError([FieldError(field, f"required, missing in the document at {place}", REQUIRED)])
        if not isinstance(value, wanted):
            detail = f"must be {'a mapping' if wanted is Mapping else 'text'}, got {value!r:.40}, at {place}"
            raise SpecError([FieldError(field, detail, WRONG_TYPE)])
    return document


def _name(metadata: Document) -> Any:
    return metadata.get("name") or metadata.get("generateName")
