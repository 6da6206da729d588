"""A Model Registry in memory that the official client talks to as to the real one."""

from __future__ import annotations

import json
from typing import Any

from tests.servers.web import Answer, Asked, Service, said

BASE = "/api/model_registry/v1/"
MODELS, VERSIONS, ARTIFACTS = "registered_models", "model_versions", "artifacts"


class ModelRegistry(Service):
    """Models, their versions, and where each version is; `token` is asked for where it is set."""

    def __init__(self, *, token: str = "") -> None:
        self.entries: dict[str, list[dict[str, Any]]] = {MODELS: [], VERSIONS: [], ARTIFACTS: []}
        self.token = token
        super().__init__()

    def _answer(self, asked: Asked) -> Answer:
        if self.token and asked.headers.get("authorization") != f"Bearer {self.token}":
            return said(401, {"code": "", "message": "who are you"})
        parts = asked.path.removeprefix(BASE).split("/")
        if asked.method == "POST":
            return said(201, self._enter(parts, json.loads(asked.body)))
        match parts:
            case ["registered_model"]:
                return self._one(MODELS, name=asked.query["name"])
            case ["model_version"]:
                wanted = {"name": asked.query["name"], "registeredModelId": asked.query["parentResourceId"]}
                return self._one(VERSIONS, **wanted)
            case ["model_artifact"]:
                wanted = {"name": asked.query["name"], "parent": asked.query["parentResourceId"]}
                return self._one(ARTIFACTS, **wanted)
            case ["registered_models"]:
                items = self.entries[MODELS]
                page = {"items": items, "size": len(items), "pageSize": 1, "nextPageToken": ""}
                return said(200, page)
        return said(404, {"code": "", "message": "no such path"})

    def _enter(self, parts: list[str], entry: dict[str, Any]) -> dict[str, Any]:
        kind = parts[-1]
        parent = {"parent": parts[1]} if kind == ARTIFACTS else {}
        known = {**entry, **parent, "id": str(1 + sum(map(len, self.entries.values())))}
        self.entries[kind].append(known)
        return known

    def _one(self, kind: str, **wanted: str) -> Answer:
        for entry in self.entries[kind]:
            if all(entry.get(name) == value for name, value in wanted.items()):
                return said(200, entry)
        return said(404, {"code": "", "message": "not found"})
