"""Label and field selectors, as far as a client of ours may use them; any other is refused."""

import re
from typing import Any

from kfp_trainer.runtime_operator.kube.errors import api_error

Json = dict[str, Any]
SET = re.compile(r"^(\S+)\s+(in|notin)\s+\(([^)]*)\)$")


def matches(document: Json, labels: str, fields: str) -> bool:
    """Whether an object is selected."""
    worn: Json = document["metadata"].get("labels") or {}
    return all(_label(worn, term) for term in _terms(labels)) and all(
        _field(document, term) for term in _terms(fields)
    )


def _terms(selector: str) -> list[str]:
    return [term.strip() for term in re.split(r",(?![^(]*\))", selector) if term.strip()]


def _label(worn: Json, term: str) -> bool:
    if found := SET.match(term):
        is_in = worn.get(found[1]) in [value.strip() for value in found[3].split(",")]
        return is_in == (found[2] == "in")
    for operator, is_equal in (("!=", False), ("==", True), ("=", True)):
        if operator in term:
            name, value = term.split(operator, 1)
            return (worn.get(name.strip()) == value.strip()) == is_equal
    return (term[1:] not in worn) if term.startswith("!") else term in worn


def _field(document: Json, term: str) -> bool:
    found = re.match(r"^([\w.]+)(!=|==|=)(.*)$", term)
    if not found:
        raise api_error(400, "BadRequest", f"unable to parse field selector {term!r}")
    value: Any = document
    for step in found[1].split("."):
        value = value.get(step, "") if isinstance(value, dict) else ""
    return (str(value) == found[3]) == (found[2] != "!=")
