"""Kubeflow Pipelines' API v2beta1 in memory, as far as kfp's client asks it; nothing that it takes is run."""

from __future__ import annotations

import json
import re
from itertools import count
from typing import Any

from tests.servers.web import Answer, Asked, Service, said

BASE = "/apis/v2beta1/"


class PipelinesApi(Service):
    """Pipelines, versions, experiments and runs; `token` is asked for where it is set."""

    def __init__(self, *, token: str = "") -> None:
        self.pipelines: list[dict[str, Any]] = []
        self.versions: list[dict[str, Any]] = []
        self.experiments: list[dict[str, Any]] = []
        self.runs: list[dict[str, Any]] = []
        self.ends = "SUCCEEDED"
        self.token = token
        self._ids = count(1)
        super().__init__()

    def _answer(self, asked: Asked) -> Answer:
        if self.token and asked.headers.get("authorization") != f"Bearer {self.token}":
            return said(401, {"error": "who are you", "code": 16})
        post = asked.method == "POST"
        match asked.path.removeprefix(BASE).split("/"):
            case ["healthz"]:
                return said(200, {"multi_user": False})
            case ["pipelines", "upload"]:
                return said(200, self._upload(asked, self.pipelines, "pipeline_id", name="display_name"))
            case ["pipelines", "upload_version"]:
                return said(
                    200, self._upload(asked, self.versions, "pipeline_version_id", name="display_name")
                )
            case ["pipelines"]:
                return self._list("pipelines", self.pipelines, asked)
            case ["pipelines", pipeline, "versions"]:
                of = [each for each in self.versions if each["pipeline_id"] == pipeline]
                return self._list("pipeline_versions", of, asked)
            case ["experiments"] if post:
                return said(200, self._keep(self.experiments, "experiment_id", json.loads(asked.body)))
            case ["experiments"]:
                return self._list("experiments", self.experiments, asked)
            case ["runs"] if post:
                return self._run(json.loads(asked.body))
            case ["runs", run]:
                known = next((each for each in self.runs if each["run_id"] == run), None)
                return said(200, {**known, "state": self.ends}) if known else said(404, {"error": "no run"})
        return said(404, {"error": f"no such path {asked.path}"})

    def _upload(self, asked: Asked, kept: list[dict[str, Any]], key: str, *, name: str) -> dict[str, Any]:
        document = re.search(rb"\r\n\r\n(.*?)\r\n--", asked.body, re.DOTALL)
        entry = {"display_name": asked.query["name"], "document": document[1].decode() if document else ""}
        if "pipelineid" in asked.query:
            entry["pipeline_id"] = asked.query["pipelineid"]
        return self._keep(kept, key, entry)

    def _run(self, body: dict[str, Any]) -> Answer:
        spec = body["pipeline_spec"]["pipeline_spec"]
        known = set(spec["root"]["inputDefinitions"]["parameters"])
        given = body["runtime_config"]["parameters"]
        if strange := set(given) - known:
            return said(400, {"error": f"parameter {strange.pop()} is not known", "code": 3})
        return said(200, self._keep(self.runs, "run_id", body))

    def _keep(self, kept: list[dict[str, Any]], key: str, entry: dict[str, Any]) -> dict[str, Any]:
        known = {**entry, key: str(next(self._ids)), "created_at": "2026-01-01T00:00:00Z"}
        kept.append(known)
        return {name: value for name, value in known.items() if name != "document"}

    def _list(self, name: str, items: list[dict[str, Any]], asked: Asked) -> Answer:
        wanted = json.loads(asked.query.get("filter", "{}")).get("predicates", [])
        for each in wanted:
            value = each.get("stringValue", each.get("string_value"))
            items = [item for item in items if item.get(each["key"]) == value]
        shown = [{key: value for key, value in item.items() if key != "document"} for item in items]
        return said(200, {name: shown, "total_size": len(shown)} if shown else {})
