"""AdmissionReview, the envelope in which an API server asks and is answered.

A body that is no review is refused with a sentence. The answer carries every mistake as a cause with its
field, as the API server's own refusals do, and one message that a person reads; warnings are cut to what a
server passes on.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from ..api.legacy.names import GROUP as OLDER_GROUP
from ..api.names import GROUP
from ..errors import FieldError
from ..render.admission import Verdict
from .json_patch import Operation

Json = dict[str, Any]

API_VERSION = "admission.k8s.io/v1"
LONGEST_WARNING = 1000
DENIED = 403
CREATE, UPDATE = "CREATE", "UPDATE"


class BadReview(Exception):
    """What came is no AdmissionReview that can be answered; the text says why."""


@dataclass(frozen=True, slots=True)
class Review:
    """One question of an API server."""

    uid: str
    kind: str
    operation: str
    object: Json
    """the object as it is to be stored, always with its namespace and name"""
    old: Json | None

    @property
    def changes_the_spec(self) -> bool:
        """Whether there is anything to judge: more than metadata changes, and the object stays."""
        if self.object["metadata"].get("deletionTimestamp"):
            return False
        return self.old is None or self.old.get("spec") != self.object.get("spec")


def read_review(body: bytes) -> Review:
    """Read a question; BadReview if it is none for us."""
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise BadReview(f"the body must be JSON: {error}") from None
    request = document.get("request") if isinstance(document, dict) else None
    if not isinstance(request, dict) or document.get("apiVersion") != API_VERSION:
        raise BadReview(f"the body must be an AdmissionReview of {API_VERSION} with a request")
    uid, operation = request.get("uid"), request.get("operation")
    if not isinstance(uid, str) or not uid:
        raise BadReview("request.uid: must be a text that is not empty")
    if operation not in (CREATE, UPDATE):
        raise BadReview(f"request.operation: must be {CREATE} or {UPDATE}, got {operation!r}")
    old = request.get("oldObject") if operation == UPDATE else None
    document = _placed(request.get("object"), request)
    return Review(uid, document["kind"], operation, document, None if old is None else _placed(old, request))


def _placed(document: Any, request: Mapping[str, Any]) -> Json:
    """The object with the name and namespace that it is sent to."""
    group = str(document.get("apiVersion", "")).partition("/")[0] if isinstance(document, dict) else ""
    if not isinstance(document, dict) or group not in (GROUP, OLDER_GROUP):
        raise BadReview(f"request.object: must be an object of {GROUP} or {OLDER_GROUP}")
    metadata = document.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(document.get("kind"), str):
        raise BadReview("request.object: must have kind and metadata")
    placed = {**metadata}
    if not placed.get("namespace") and request.get("namespace"):
        placed["namespace"] = request["namespace"]
    if not placed.get("name"):
        placed["name"] = request.get("name") or f"{metadata.get('generateName', '')}xxxxx"
    return {**document, "metadata": placed}


def answered(uid: str, verdict: Verdict, *, patch: Sequence[Operation] = (), message: str = "") -> bytes:
    """Write the answer to a question; a refusal with this message, if it is to have one of its own."""
    response: Json = {"uid": uid, "allowed": not verdict.errors}
    if verdict.errors:
        response["status"] = _status(verdict.errors, message)
    if verdict.warnings:
        response["warnings"] = [_short(each) for each in verdict.warnings]
    if patch:
        response |= {"patchType": "JSONPatch", "patch": base64.b64encode(orjson.dumps(list(patch))).decode()}
    return orjson.dumps({"apiVersion": API_VERSION, "kind": "AdmissionReview", "response": response})


def _status(errors: Sequence[FieldError], message: str) -> Json:
    causes = [{"reason": each.type, "field": each.field, "message": each.detail} for each in errors]
    message = message or "; ".join(dict.fromkeys(str(each) for each in errors))
    details = {"causes": causes}
    return {
        "status": "Failure",
        "code": DENIED,
        "reason": "Forbidden",
        "message": message,
        "details": details,
    }


def _short(warning: str) -> str:
    """In one line, without signs that an HTTP header cannot carry, no longer than a server passes on."""
    line = "".join(each if each.isprintable() else " " for each in warning)
    return line if len(line) <= LONGEST_WARNING else f"{line[: LONGEST_WARNING - 1]}…"
