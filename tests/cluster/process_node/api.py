"""The node's client of the API server, which it reaches as its pods do, and what pods name, found there."""

import ssl
from pathlib import Path
from typing import Any

import aiohttp

from .network import API_PORT, GATEWAY

Json = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
NOT_FOUND = 404


class Refused(Exception):
    """The API server refused; `code` is HTTP's."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(f"{code}: {text}")
        self.code = code


class Api:
    """JSON in, JSON out."""

    def __init__(self, pki: Path) -> None:
        tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        tls.load_cert_chain(pki / "admin.crt", pki / "admin.key")
        self._session = aiohttp.ClientSession(
            f"https://{GATEWAY}:{API_PORT}", connector=aiohttp.TCPConnector(ssl=tls)
        )

    async def ask(self, method: str, path: str, body: Any = None, *, kind: str = "application/json") -> Json:
        """One request; Refused if the answer is a refusal."""
        headers = {"Content-Type": kind}
        async with self._session.request(method, path, json=body, headers=headers) as answer:
            if answer.status >= 300:
                raise Refused(answer.status, await answer.text())
            found: Json = await answer.json()
            return found

    async def find(self, path: str) -> Json | None:
        """An object, or None if there is no such."""
        try:
            return await self.ask("GET", path)
        except Refused as refused:
            if refused.code == NOT_FOUND:
                return None
            raise


class Names:
    """Looks up what one pod names."""

    def __init__(self, api: Api, pod: Json, claims: Path) -> None:
        self._api, self._pod = api, pod
        self._namespace = f"/api/v1/namespaces/{pod['metadata']['namespace']}"
        self._claims = claims / str(pod["metadata"]["namespace"])

    async def config_map(self, name: str) -> Json | None:
        return await self._api.find(f"{self._namespace}/configmaps/{name}")

    async def secret(self, name: str) -> Json | None:
        return await self._api.find(f"{self._namespace}/secrets/{name}")

    async def claim(self, name: str) -> Path | None:
        """A claim is a folder of its namespace, which all pods that name it share."""
        if await self._api.find(f"{self._namespace}/persistentvolumeclaims/{name}") is None:
            return None
        folder = self._claims / name
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
