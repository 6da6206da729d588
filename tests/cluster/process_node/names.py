"""What a pod names, looked up at the API server."""

from pathlib import Path

from .api import Api, Json
from .claims import claim_folder


class Names:
    """Looks up what one pod names."""

    def __init__(self, api: Api, pod: Json, claims: Path) -> None:
        self._api, self._pod = api, pod
        self._namespace = f"/api/v1/namespaces/{pod['metadata']['namespace']}"
        self._claims = claims

    async def config_map(self, name: str) -> Json | None:
        return await self._api.find(f"{self._namespace}/configmaps/{name}")

    async def secret(self, name: str) -> Json | None:
        return await self._api.find(f"{self._namespace}/secrets/{name}")

    async def claim(self, name: str) -> Path | None:
        """A claim is a folder of its namespace, which all pods that name it share."""
        if await self._api.find(f"{self._namespace}/persistentvolumeclaims/{name}") is None:
            return None
        folder = claim_folder(self._claims, self._pod["metadata"]["namespace"], name)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    async def token(self, audience: str, seconds: int) -> str:
        account = self._pod["spec"].get("serviceAccountName") or "default"
        metadata = self._pod["metadata"]
        bound = {"apiVersion": "v1", "kind": "Pod", "name": metadata["name"], "uid": metadata["uid"]}
        spec: Json = {"expirationSeconds": seconds, "boundObjectRef": bound}
        if audience:
            spec["audiences"] = [audience]
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
        made = await self._api.ask("POST", f"{self._namespace}/serviceaccounts/{account}/token", request)
        return str(made["status"]["token"])
