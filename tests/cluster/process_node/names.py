"""What a pod names, looked up at the API server."""

import time
from pathlib import Path

from kfp_trainer.runtime_operator.errors import Retryable

from .api import TROUBLE, Api, Json
from .claims import claim_folder

SHARE = 0.8
"""of a token's time, after which another is asked for"""


class Names:
    """Looks up what one pod names.

    A refusal is no answer: the API server's authorizer of nodes learns a moment after the binding what a node
    may read.
    """

    def __init__(self, api: Api, pod: Json, claims: Path) -> None:
        self._api, self._pod = api, pod
        self._namespace = f"/api/v1/namespaces/{pod['metadata']['namespace']}"
        self._claims = claims
        self._tokens: dict[tuple[str, int], tuple[str, float]] = {}

    async def config_map(self, name: str) -> Json | None:
        return await self._find(f"configmaps/{name}")

    async def secret(self, name: str) -> Json | None:
        return await self._find(f"secrets/{name}")

    async def claim(self, name: str) -> Path | None:
        """A claim is a folder of its namespace, which all pods that name it share."""
        if await self._find(f"persistentvolumeclaims/{name}") is None:
            return None
        folder = claim_folder(self._claims, self._pod["metadata"]["namespace"], name)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    async def token(self, audience: str, seconds: int) -> str:
        """A token of the pod's ServiceAccount, the same one until its time is nearly over."""
        token, until = self._tokens.get((audience, seconds), ("", 0.0))
        if time.monotonic() > until:
            token, until = await self._new_token(audience, seconds), time.monotonic() + SHARE * seconds
            self._tokens[audience, seconds] = token, until
        return token

    async def _new_token(self, audience: str, seconds: int) -> str:
        account = self._pod["spec"].get("serviceAccountName") or "default"
        metadata = self._pod["metadata"]
        bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        spec: Json = {"expirationSeconds": seconds, "boundObjectRef": bound}
        if audience:
            spec["audiences"] = [audience]
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        path = f"{self._namespace}/serviceaccounts/{account}/token"
        try:
            made = await self._api.ask("POST", path, request)
        except TROUBLE as problem:
            raise Retryable(f"token of serviceaccount {account}: {problem}", after=0) from problem
        return str(made["status"]["token"])

    async def _find(self, what: str) -> Json | None:
        try:
            return await self._api.find(f"{self._namespace}/{what}")
        except TROUBLE as problem:
            raise Retryable(f"{what}: {problem}", after=0) from problem
