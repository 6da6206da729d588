"""A cluster that was there before: the same tests run against it, if it is marked as one that may be spoiled.

KFP_TRAINER_KUBECONFIG names a kubeconfig of an administrator with a token or a certificate.
"""

import base64
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from .client import ApiError, Client, collection
from .cluster import DISPOSABLE, Cluster
from .parts import PARTS

VARIABLE = "KFP_TRAINER_KUBECONFIG"
HTTPS = 443


class UnusableCluster(Exception):
    """The tests do not touch this cluster; the text says why, and what to do."""


class ExistingCluster(Cluster):
    """Its programs are not ours: nothing is started, killed or slowed down."""

    def __init__(self, kubeconfig: Path, folder: Path) -> None:
        self._folder = folder
        self._server, self._trust, user = _current(kubeconfig)
        tls = self._tls()
        token = str(user.get("token") or "")
        if pair := _pair(user, kubeconfig.parent, folder):
            tls.load_cert_chain(*pair)
        elif not token:
            raise UnusableCluster(
                f"{kubeconfig}: the current user has neither a token nor a certificate, which the tests need;"
                " make such a kubeconfig, for example with 'kubectl create token'"
            )
        super().__init__(self._client(tls, token), kubeconfig)
        self._parts = self._declared()

    def _declared(self) -> list[str]:
        """The parts that its mark names."""
        path = f"{collection('v1', 'ConfigMap', 'kube-system')}/{DISPOSABLE}"
        try:
            mark = self.client.get(path)
        except ApiError as refused:
            if refused.code != 404:
                raise
            self.close()
            raise UnusableCluster(self._how_to_mark()) from None
        return [name for name in (mark.get("data") or {}).get("parts", "").split(",") if name]

    def _how_to_mark(self) -> str:
        kubectl = f"kubectl --kubeconfig {self.kubeconfig} -n kube-system"
        parts = ", ".join(PARTS)
        return (
            f"{self.kubeconfig}: {self._server}: no ConfigMap kube-system/{DISPOSABLE} says that the tests"
            " may spoil all that is in it; if they may, run"
            f" '{kubectl} create configmap {DISPOSABLE} --from-literal=parts=scheduler,jobset'"
            f" with those of {parts} that it has"
        )

    def why_not(self, name: str) -> str:
        """Why it cannot carry a part; empty if it can."""
        return "" if name in self._parts else f"{self._server}: its mark {DISPOSABLE} does not name {name}"

    def need(self, *names: str) -> None:
        """They run already."""
        if missing := [name for name in names if self.why_not(name)]:
            raise UnusableCluster(self.why_not(missing[0]))

    def bearer(self, token: str) -> Client:
        """A client that shows a token."""
        return self._client(self._tls(), token)

    def write_kubeconfig(self, name: str, token: str, *, port: int = 0) -> Path:
        """A kubeconfig with a token; at another port something lies between."""
        server = f"https://127.0.0.1:{port}" if port else self._server
        cluster = {"server": server, "certificate-authority-data": base64.b64encode(self._trust).decode()}
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": name,
            "clusters": [{"name": "existing", "cluster": cluster}],
            "users": [{"name": name, "user": {"token": token}}],
            "contexts": [{"name": name, "context": {"cluster": "existing", "user": name}}],
        }
        path = self._folder / f"{name}.kubeconfig"
        path.write_text(json.dumps(config, indent=1), encoding="utf-8")
        return path

    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cadata=self._trust.decode() or None)

    def _client(self, tls: ssl.SSLContext, token: str) -> Client:
        at = urlsplit(self._server)
        return Client(at.hostname or "", at.port or HTTPS, tls, token)


def _current(kubeconfig: Path) -> tuple[str, bytes, dict[str, Any]]:
    """Server, authority and user of the current context."""
    try:
        config = yaml.safe_load(kubeconfig.read_text(encoding="utf-8"))
    except OSError as problem:
        raise UnusableCluster(f"{VARIABLE}={kubeconfig}: {problem.strerror}; name a kubeconfig") from problem
    context = _named(config["contexts"], config["current-context"])["context"]
    cluster = _named(config["clusters"], context["cluster"])["cluster"]
    user = _named(config["users"], context["user"])["user"]
    trust = _content(cluster, "certificate-authority", kubeconfig.parent)
    return str(cluster["server"]), trust, user


def _named(entries: list[dict[str, Any]], name: str) -> dict[str, Any]:
    return next(each for each in entries if each["name"] == name)


def _content(entry: dict[str, Any], key: str, folder: Path) -> bytes:
    """What stands in a kubeconfig, or in the file that it names."""
    if data := entry.get(f"{key}-data"):
        return base64.b64decode(data)
    return (folder / entry[key]).read_bytes() if key in entry else b""


def _pair(user: dict[str, Any], beside: Path, folder: Path) -> tuple[Path, Path] | None:
    """Certificate and key of the user as files, as Python's TLS wants them."""
    contents = [_content(user, key, beside) for key in ("client-certificate", "client-key")]
    if not all(contents):
        return None
    paths = folder / "user.crt", folder / "user.key"
    for path, content in zip(paths, contents, strict=True):
        path.touch(mode=0o600)
        path.write_bytes(content)
    return paths
