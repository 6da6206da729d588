"""A settings document: read, merged with flags and checked, with every mistake told at once.

Each workload declares a frozen pydantic model whose fields all have a description; the document (YAML or
JSON) and the command's flags are made from it. An unknown field is refused with the nearest name, because a
setting that is silently ignored costs a training run.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import FieldError, SpecError


class Settings(BaseModel):
    """The root of every settings document."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, protected_namespaces=())


SettingsType = TypeVar("SettingsType", bound=Settings)


def parse_settings(kind: type[SettingsType], document: Mapping[str, Any]) -> SettingsType:
    """The settings that `document` holds, or a SpecError with one sentence for each mistake in it."""
    try:
        return kind.model_validate(document)
    except ValidationError as error:
        raise SpecError([_mistake(kind, detail) for detail in error.errors()]) from None


def shown(value: object) -> str:
    """How a person reads the value of a setting."""
    match value:
        case None:
            return "not set"
        case bool():
            return "yes" if value else "no"
        case tuple():
            return ", ".join(map(str, value)) or "none"
        case float():
            return f"{value:g}"
        case Path():
            return value.name
        case _:
            return str(value)


def flags(given: Mapping[str, object]) -> list[str]:
    """Settings as the command line of a workload takes them; what is None is left out."""
    said = {name.replace("_", "-"): value for name, value in given.items() if value is not None}
    return [f"--{name}={written(value)}" for name, value in said.items()]


def written(value: object) -> str:
    """The value of a setting as a flag takes it."""
    match value:
        case bool():
            return str(value).lower()
        case tuple() | list():
            return ",".join(map(str, value))
        case _:
            return str(value)


def read_document(path: Path) -> dict[str, Any]:
    """The mapping that a YAML or JSON file holds."""
    try:
        document = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(f"{path}: cannot be read, {error.strerror or error}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        first_line = " ".join(str(error).split())
        raise SpecError(f"{path}: is neither YAML nor JSON, {first_line}") from None
    if not isinstance(document, dict):
        raise SpecError(f"{path}: holds a {type(document).__name__}, give a mapping of settings")
    return document


def _mistake(kind: type[Settings], detail: Any) -> FieldError:
    field = ".".join(str(part) for part in detail["loc"])
    given = detail["input"]
    match detail["type"]:
        case "missing":
            description = kind.model_fields[field].description or ""
            return FieldError(field, f"is missing, give {description}", "FieldValueRequired")
        case "extra_forbidden":
            nearest = get_close_matches(field, kind.model_fields, n=1)
            hint = f"did you mean {nearest[0]}" if nearest else f"known are {', '.join(kind.model_fields)}"
            return FieldError(field, f"is not a setting (given {given!r}), {hint}", "FieldValueForbidden")
        case _:
            rule = detail["msg"].removeprefix("Value error, ").removeprefix("Input ")
            shown = "" if detail["type"] == "value_error" else f" (given {given!r})"
            return FieldError(field, f"{rule}{shown}")
