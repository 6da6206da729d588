"""Where a trainer posts its progress, and the token that lets it.

Only with the feature gate TrainJobStatus. Every container of the trainer gets the address of the operator,
the authority of its certificate and a token that is good for this job's status and nothing else.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable

from ...api.names import API_VERSION
from ...errors import SetupError
from ..framework import Plugin, Watch
from ..info import Info
from ..overlay import Object
from ..rendezvous import variable

GATE = "TrainJobStatus"
FOLDER = "/var/run/secrets/kubeflow/trainer"
VOLUME = "kubeflow-trainer-token"
TOKEN_SECONDS = 3600
SUFFIX = "-tls-config"


class Progress(Plugin):
    """Serves every runtime, where the gate is on."""

    name = "progress"

    def watch_extension(self) -> tuple[Watch, ...]:
        """The certificate's authority is copied for each job."""
        return (Watch("v1", "ConfigMap"),)

    def enforce_ml_policy(self, info: Info) -> None:
        """Give the trainer's containers the address and the token."""
        if GATE not in info.facts.features or info.trainer is None:
            return
        path = f"namespaces/{info.namespace}/trainjobs/{info.name}/status"
        facts = info.facts
        server = f"https://{facts.operator_service}.{facts.operator_namespace}.svc:{facts.progress_port}"
        env = (
            variable("KUBEFLOW_TRAINER_SERVER_URL", f"{server}/apis/{API_VERSION}/{path}"),
            variable("KUBEFLOW_TRAINER_SERVER_CA_CERT", f"{FOLDER}/ca.crt"),
            variable("KUBEFLOW_TRAINER_SERVER_TOKEN", f"{FOLDER}/token"),
        )
        for container in info.trainer.containers:
            container.add_env(env)
            container.add_mounts(({"name": VOLUME, "mountPath": FOLDER, "readOnly": True},))
        info.trainer.add_volumes(_volume(info, f"{API_VERSION}/{path}"))
        info.decide("KUBEFLOW_TRAINER_SERVER_URL", server, "the feature gate %s is on", GATE)

    def build_components(self, info: Info) -> Iterable[Object]:
        """The authority of the operator's certificate, in the job's namespace."""
        if GATE not in info.facts.features:
            return ()
        secret = info.existing("Secret", info.facts.certificate)
        if secret is None or secret["metadata"].get("namespace") != info.facts.operator_namespace:
            raise SetupError(
                f"failed to look up status server tls secret: secret {info.facts.certificate!r} of namespace "
                f"{info.facts.operator_namespace!r} is not found"
            )
        authority = (secret.get("data") or {}).get("ca.crt")
        if not authority:
            raise SetupError("failed to find status server ca.crt in tls secret")
        text = base64.b64decode(authority).decode()
        return (info.owned("v1", "ConfigMap", _authority(info), data={"ca.crt": text}),)


def is_authority(document: Object) -> bool:
    """Whether this is the ConfigMap that tells a trainer whose certificate to trust."""
    return bool(document["kind"] == "ConfigMap" and document["metadata"]["name"].endswith(SUFFIX))


def _authority(info: Info) -> str:
    return info.name + SUFFIX


def _volume(info: Info, audience: str) -> Object:
    token = {"audience": audience, "expirationSeconds": TOKEN_SECONDS, "path": "token"}
    authority = {"name": _authority(info), "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    return {
        "name": VOLUME,
        "projected": {"sources": [{"serviceAccountToken": token}, {"configMap": authority}]},
    }
