"""The jobs that fetch a dataset or a model before the training: what to fetch, and with whose credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...api.names import DATASET_STEP, MODEL_STEP
from ..framework import Plugin
from ..info import Info
from ..overlay import Container, Object
from ..typed import copied_env

if TYPE_CHECKING:
    from ...api.trainjob import InitializerSource


class Initializers(Plugin):
    """Serves every runtime: any may have jobs that fetch."""

    name = "initializers"

    def enforce_ml_policy(self, info: Info) -> None:
        """Tell each initializer what to fetch; of what the job says nothing the runtime decides."""
        wanted = info.job.spec.initializer
        if wanted is None:
            return
        for pods in info.pods:
            if pods.main is not None:
                if pods.step == DATASET_STEP and wanted.dataset is not None:
                    _fetch(pods.main, wanted.dataset, upstream=info.upstream)
                elif pods.step == MODEL_STEP and wanted.model is not None:
                    _fetch(pods.main, wanted.model, upstream=info.upstream)


def _fetch(container: Container, source: InitializerSource, *, upstream: bool) -> None:
    env: list[Object] = []
    if source.storageUri is not None:
        env.append({"name": "STORAGE_URI", "value": source.storageUri})
    if source.env:
        env.extend(copied_env(source.env) if upstream else source.env)
    if env:
        container.add_env(env)
    if source.secretRef:
        container.put("envFrom", [*(container.get("envFrom") or ()), {"secretRef": source.secretRef}])
