"""A kubeconfig as kubectl reads it: which cluster, which user, and how that user shows who they are.

Every field is honoured or refused by name, never skipped: a proxy that is ignored, or a server name that is
not checked, would send credentials where they do not belong. Several files are merged as kubectl does, the
first that names a thing wins.
"""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from ..errors import SetupError
from .cluster import Cluster, Identity
from .identity import Fixed, bearer, impersonation
from .renewed import TokenFile

Json = dict[str, Any]

CLUSTER_FIELDS = {
    "server", "certificate-authority", "certificate-authority-data", "insecure-skip-tls-verify",
    "tls-server-name", "proxy-url", "disable-compression", "extensions",
}  # fmt: skip
USER_FIELDS = {
    "client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile",
    "username", "password", "exec", "as", "as-uid", "as-groups", "as-user-extra", "extensions",
}  # fmt: skip


def usual_files(environ: Mapping[str, str]) -> list[Path]:
    """Return the kubeconfigs that kubectl would read, those that exist."""
    named = [Path(each) for each in environ.get("KUBECONFIG", "").split(os.pathsep) if each]
    return [path for path in named or [Path("~/.kube/config").expanduser()] if path.is_file()]


def from_kubeconfig(files: Sequence[Path], context: str = "") -> Cluster:
    """Read the cluster and the user of a context, the current one if none is named."""
    documents = [(path.absolute().parent, _read(path)) for path in files]
    name = context or next((doc["current-context"] for _, doc in documents if doc.get("current-context")), "")
    if not name:
        raise SetupError(f"{files[0]}: has no current-context; name a context")
    chosen, _ = _find(documents, "contexts", name, files)
    cluster, beside_cluster = _find(documents, "clusters", chosen["cluster"], files)
    user, beside_user = (
        _find(documents, "users", chosen["user"], files) if chosen.get("user") else ({}, Path())
    )
    _refuse_unknown(f"{files[0]}: cluster {chosen['cluster']}", cluster, CLUSTER_FIELDS)
    _refuse_unknown(f"{files[0]}: user {chosen.get('user')}", user, USER_FIELDS)
    tls = _tls(cluster, beside_cluster)
    _show_certificate(tls, user, beside_user)
    return Cluster(
        cluster["server"].rstrip("/"),
        tls,
        _identity(user, beside_user, tls),
        chosen.get("namespace") or "default",
        cluster.get("tls-server-name", ""),
        _proxy(cluster.get("proxy-url", "")),
    )


def _read(path: Path) -> Json:
    try:
        document = yaml.safe_load(path.read_text())
    except OSError as error:
        raise SetupError(f"{path}: cannot be read: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise SetupError(f"{path}: is no YAML: {error}") from error
    if not isinstance(document, dict):
        raise SetupError(f"{path}: is no kubeconfig")
    return document


def _find(
    documents: list[tuple[Path, Json]], kind: str, name: str, files: Sequence[Path]
) -> tuple[Json, Path]:
    """Return what has a name, and the folder that its relative paths start from."""
    for beside, document in documents:
        for entry in document.get(kind) or ():
            if entry.get("name") == name:
                return entry.get(kind[:-1]) or {}, beside
    there = sorted({entry["name"] for _, document in documents for entry in document.get(kind) or ()})
    raise SetupError(f"{files[0]}: {kind}: no {name!r}; there are {', '.join(there) or 'none'}")


def _refuse_unknown(where: str, given: Json, known: set[str]) -> None:
    if unknown := sorted(field for field, value in given.items() if field not in known and value):
        raise SetupError(
            f"{where}: {', '.join(unknown)}: cannot be honoured; use a token, a certificate or exec"
        )


def _proxy(url: str) -> str:
    if url and not url.startswith(("http://", "https://")):
        raise SetupError(f"proxy-url: only HTTP proxies are supported, got {url!r}")
    return url


def _tls(cluster: Json, beside: Path) -> ssl.SSLContext:
    """Make the context that trusts this cluster's authority."""
    if not cluster.get("server"):
        raise SetupError("kubeconfig: the cluster has no server")
    data = _decoded(cluster, "certificate-authority-data").decode()
    file = cluster.get("certificate-authority")
    try:
        tls = ssl.create_default_context(
            cafile=str(beside / file) if file and not data else None, cadata=data or None
        )
    except (OSError, ValueError) as error:
        raise SetupError(f"certificate-authority: is no certificate: {error}") from error
    if cluster.get("insecure-skip-tls-verify"):
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    return tls


def _show_certificate(tls: ssl.SSLContext, user: Json, beside: Path) -> None:
    """Have the user's certificate shown, if there is one."""
    pair = [_material(user, name, beside) for name in ("client-certificate", "client-key")]
    if all(pair):
        load_pair(tls, *(each.decode() for each in pair))
    elif any(pair):
        raise SetupError(
            "client-certificate: a certificate and its key belong together, one of them is missing"
        )


def load_pair(tls: ssl.SSLContext, certificate: str, key: str) -> None:
    """Load a pair of PEM texts; only files can be loaded, so they are one for a moment."""
    with tempfile.NamedTemporaryFile("w") as file:  # only its owner may read it
        file.write(f"{certificate}\n{key}\n")
        file.flush()
        try:
            tls.load_cert_chain(file.name)
        except (OSError, ValueError) as error:
            raise SetupError(f"client-certificate: is no certificate with its key: {error}") from error


def _material(user: Json, name: str, beside: Path) -> bytes:
    """Return a certificate or key, which stands in the kubeconfig or in a file."""
    if data := _decoded(user, f"{name}-data"):
        return data
    if not user.get(name):
        return b""
    path = beside / str(user[name])
    try:
        return path.read_bytes()
    except OSError as error:
        raise SetupError(f"{path}: cannot be read: {error.strerror}") from error


def _decoded(given: Json, field: str) -> bytes:
    try:
        return base64.b64decode(given.get(field) or "", validate=True)
    except binascii.Error as error:
        raise SetupError(f"{field}: is not base64") from error


def _identity(user: Json, beside: Path, tls: ssl.SSLContext) -> Identity:
    """Choose how the user shows who they are; a certificate is shown by TLS alone."""
    extra = impersonation(user)
    if user.get("exec"):
        from .exec_plugin import ExecPlugin

        return ExecPlugin(user["exec"], beside, tls, extra)
    if user.get("tokenFile"):
        return TokenFile(beside / user["tokenFile"], extra=extra)
    if user.get("token"):
        return Fixed(bearer(user["token"]) + extra)
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password', '')}".encode()
        return Fixed((("Authorization", f"Basic {base64.b64encode(pair).decode()}"), *extra))
    return Fixed(extra)
