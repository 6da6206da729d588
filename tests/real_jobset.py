"""What an API server with the real JobSet CRD says of a JobSet: its schema, list keys and CEL rules.

None of our own judgement is in here: the schema is the CRD's, jsonschema-rs judges the structure and Google's
CEL the rules. A field that the schema does not know is refused, as under strict validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import jsonschema_rs
from cel_expr_python import cel

from kfp_trainer.runtime_operator.api.kube import kube_schema

Schema = Mapping[str, Any]
BITS = {"int32": 31, "int64": 63}


def refusals(jobset: Mapping[str, Any]) -> list[str]:
    """Everything for which the CRD refuses a new JobSet; empty if it is accepted."""
    found = [] if jobset.get("apiVersion") == "jobset.x-k8s.io/v1alpha2" else ["apiVersion"]
    spec = jobset["spec"]
    found += [f"spec{error.instance_path}: {error.message}" for error in _validator().iter_errors(spec)]
    return [*found, *_rules(kube_schema("JobSetSpec"), spec, "spec")]


@cache
def _validator() -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator(_as_json_schema(kube_schema("JobSetSpec")))


def _as_json_schema(schema: Any) -> Any:
    """The structural schema in the words of JSON Schema; an object that names its fields has no others."""
    made: dict[str, Any] = {
        key: value
        for key, value in schema.items()
        if key
        in ("type", "enum", "pattern", "required", "minimum", "maximum", "maxItems", "maxLength", "minLength")
    }
    if "properties" in schema:
        made["properties"] = {name: _as_json_schema(below) for name, below in schema["properties"].items()}
        made["additionalProperties"] = False
    if "items" in schema:
        made["items"] = _as_json_schema(schema["items"])
    if isinstance(schema.get("additionalProperties"), Mapping):
        made["additionalProperties"] = _as_json_schema(schema["additionalProperties"])
    if schema.get("x-kubernetes-int-or-string"):
        made["type"] = ["integer", "string"]
    if schema.get("format") in BITS:
        bound = 1 << BITS[schema["format"]]
        made = {"minimum": -bound, "maximum": bound - 1, **made}
    return made


def _rules(schema: Schema, value: Any, path: str) -> Iterator[str]:
    """List keys and CEL rules, from the outside in; rules about an update are not asked of a new object."""
    for rule in schema.get("x-kubernetes-validations") or ():
        if "oldSelf" not in rule["rule"] and not _holds(rule["rule"], value):
            yield f"{path}: {rule['message']}"
    if isinstance(value, Mapping):
        for name, below in value.items():
            known = (schema.get("properties") or {}).get(name)
            if known is not None:
                yield from _rules(known, below, f"{path}.{name}")
    elif isinstance(value, list):
        yield from _doubles(schema, value, path)
        for index, item in enumerate(value):
            yield from _rules(schema.get("items") or {}, item, f"{path}[{index}]")


def _doubles(schema: Schema, items: list[Any], path: str) -> Iterator[str]:
    keys = schema.get("x-kubernetes-list-map-keys") or ()
    seen = [tuple(item.get(key, _default(schema, key)) for key in keys) for item in items] if keys else []
    yield from (f"{path}: {key} stands twice" for key in {each for each in seen if seen.count(each) > 1})


def _default(schema: Schema, key: str) -> Any:
    return schema["items"]["properties"][key].get("default")


@cache
def _compiled(rule: str) -> Any:
    return cel.NewEnv(variables={"self": cel.Type.DYN}).compile(rule)


def _holds(rule: str, value: Any) -> bool:
    held: object = _compiled(rule).eval(data={"self": value}).value()
    return held is True
