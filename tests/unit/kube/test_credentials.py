"""Finding an API server and showing it who asks, against real TLS."""

import base64
import datetime
import os
import ssl
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.kube.credentials import load_credentials
from kfp_trainer.runtime_operator.kube.errors import Unreachable
from kfp_trainer.runtime_operator.kube.exec_plugin import ExecPlugin
from kfp_trainer.runtime_operator.kube.http_transport import HttpTransport
from kfp_trainer.runtime_operator.kube.in_cluster import in_cluster, is_in_cluster
from kfp_trainer.runtime_operator.kube.kubeconfig import from_kubeconfig, usual_files
from kfp_trainer.runtime_operator.kube.renewed import LOOK_EVERY, TokenFile


def issue(folder: Path, name: str, *, host: str = "", issuer: str = "ca") -> None:
    """Write NAME.crt and NAME.key, signed by the authority, or by itself if it is the authority."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    is_authority = name == issuer
    signer = key if is_authority else load_key(folder / f"{issuer}.key")
    by = subject if is_authority else x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, issuer)])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(minutes=5))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
    )
    if host:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
    certificate = builder.sign(signer, hashes.SHA256())
    (folder / f"{name}.crt").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    (folder / f"{name}.key").write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )


def load_key(path: Path) -> Any:
    return serialization.load_pem_private_key(path.read_bytes(), None)


@pytest.fixture(scope="module")
def pki(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pki")
    issue(folder, "ca")
    issue(folder, "server", host="api.test")
    issue(folder, "alice")
    return folder


@asynccontextmanager
async def api_server(pki: Path) -> AsyncIterator[tuple[str, list[dict[str, Any]]]]:
    """A server that tells whom it sees, and only speaks with who trusts api.test."""
    seen: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        peer = request.transport.get_extra_info("peercert") if request.transport else None
        subject = dict(part[0] for part in peer["subject"]) if peer else {}
        seen.append({"certificate": subject.get("commonName", ""), "headers": request.headers})
        return web.json_response({})

    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pki / "server.crt", pki / "server.key")
    tls.load_verify_locations(pki / "ca.crt")
    tls.verify_mode = ssl.CERT_OPTIONAL
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    try:
        yield site.name, seen
    finally:
        await runner.cleanup()


def kubeconfig(path: Path, cluster: dict[str, Any], user: dict[str, Any], **context: Any) -> Path:
    document = {
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", **context}}],
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


def encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def users(pki: Path) -> dict[str, tuple[dict[str, Any], str, dict[str, str]]]:
    """sentence: user, the certificate that the server sees, the headers that it sees"""
    token = {"Authorization": "Bearer t0"}
    return {
        "a token": ({"token": "t0"}, "", token),
        "a token in a file beside the kubeconfig": ({"tokenFile": "token"}, "", token),
        "a certificate in files": (
            {"client-certificate": str(pki / "alice.crt"), "client-key": str(pki / "alice.key")},
            "alice",
            {},
        ),
        "a certificate in the kubeconfig": (
            {
                "client-certificate-data": encoded(pki / "alice.crt"),
                "client-key-data": encoded(pki / "alice.key"),
            },
            "alice",
            {},
        ),
        "a password": ({"username": "a", "password": "b"}, "", {"Authorization": "Basic YTpi"}),
        "acting as another": (
            {"token": "t0", "as": "bob", "as-user-extra": {"Scopes": ["view"]}},
            "",
            {**token, "Impersonate-User": "bob", "Impersonate-Extra-Scopes": "view"},
        ),
        "a program": ({"exec": program('{"token": "t0"}')}, "", token),
    }


def program(status: str, **more: Any) -> dict[str, Any]:
    version = "client.authentication.k8s.io/v1"
    text = f'{{"apiVersion": "{version}", "kind": "ExecCredential", "status": {status}}}'
    return {"apiVersion": version, "command": sys.executable, "args": ["-c", f"print('''{text}''')"], **more}


SENTENCES = [
    "a token",
    "a token in a file beside the kubeconfig",
    "a certificate in files",
    "a certificate in the kubeconfig",
    "a password",
    "acting as another",
    "a program",
]


@pytest.mark.parametrize("sentence", SENTENCES)
async def test_a_user_is_shown_to_the_server(sentence: str, pki: Path, tmp_path: Path) -> None:
    user, certificate, headers = users(pki)[sentence]
    (tmp_path / "token").write_text("t0\n")
    async with api_server(pki) as (url, seen):
        cluster = {
            "server": f"{url}/",
            "certificate-authority": str(pki / "ca.crt"),
            "tls-server-name": "api.test",
        }
        found = load_credentials(kubeconfig(tmp_path / "config", cluster, user, namespace="team"))
        async with HttpTransport(found) as transport:
            await transport.request("GET", "/version")
    assert (found.namespace, seen[0]["certificate"]) == ("team", certificate)
    assert {name: seen[0]["headers"].get(name) for name in headers} == headers
    assert ("Authorization" in seen[0]["headers"]) == ("Authorization" in headers)


async def test_several_groups_are_several_headers(pki: Path, tmp_path: Path) -> None:
    async with api_server(pki) as (url, seen):
        cluster = {"server": url, "insecure-skip-tls-verify": True}
        user = {"token": "t", "as": "bob", "as-groups": ["g1", "g2"]}
        async with HttpTransport(from_kubeconfig([kubeconfig(tmp_path / "c", cluster, user)])) as transport:
            await transport.request("GET", "/version")
    assert seen[0]["headers"].getall("Impersonate-Group") == ["g1", "g2"]


NOT_TRUSTED = {
    "the name in the certificate is another": {"tls-server-name": "other.test"},
    "the authority is another": {"certificate-authority": "", "tls-server-name": "api.test"},
}


@pytest.mark.parametrize("sentence", NOT_TRUSTED)
async def test_a_server_is_not_trusted(sentence: str, pki: Path, tmp_path: Path) -> None:
    async with api_server(pki) as (url, seen):
        cluster = {"server": url, "certificate-authority": str(pki / "ca.crt"), **NOT_TRUSTED[sentence]}
        found = from_kubeconfig([kubeconfig(tmp_path / "config", cluster, {"token": "t"})])
        async with HttpTransport(found, chance=lambda: 0.0) as transport:
            with pytest.raises(Unreachable, match=r"(?i)certificate"):
                await transport.request("GET", "/version")
    assert seen == []


REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "a proxy that is no HTTP proxy": (
        {"proxy-url": "socks5://p:1"},
        {},
        "proxy-url: only HTTP proxies are supported, got 'socks5://p:1'",
    ),
    "an old auth-provider": (
        {},
        {"auth-provider": {"name": "gcp"}},
        "auth-provider: cannot be honoured",
    ),
    "an unknown field of the cluster": ({"quantum": 1}, {}, "cluster c: quantum: cannot be honoured"),
    "no server": ({"server": ""}, {}, "the cluster has no server"),
    "half a pair": ({}, {"client-key-data": "YQ=="}, "belong together, one of them is missing"),
    "no certificate": (
        {},
        {"client-certificate-data": "YQ==", "client-key-data": "YQ=="},
        "client-certificate: is no certificate with its key",
    ),
    "no base64": ({}, {"client-certificate-data": "?"}, "client-certificate-data: is not base64"),
    "no authority": ({"certificate-authority-data": "YQ=="}, {}, "certificate-authority: is no certificate"),
    "a missing file": ({}, {"client-certificate": "no.crt"}, r"no\.crt: cannot be read: No such file"),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_cannot_be_honoured_is_refused(sentence: str, tmp_path: Path) -> None:
    cluster, user, message = REFUSED[sentence]
    path = kubeconfig(tmp_path / "config", {"server": "https://api.test", **cluster}, user)
    with pytest.raises(SetupError, match=message):
        from_kubeconfig([path])


WRONG_FILES = {
    "no YAML": ("{", "is no YAML"),
    "no mapping": ("[]", "is no kubeconfig"),
    "no context": ("clusters: []", "has no current-context; name a context"),
    "a context that is not there": (
        "{current-context: x, contexts: [{name: y}]}",
        "contexts: no 'x'; there are y",
    ),
}


@pytest.mark.parametrize("sentence", WRONG_FILES)
def test_a_wrong_kubeconfig_says_what_is_wrong(sentence: str, tmp_path: Path) -> None:
    text, message = WRONG_FILES[sentence]
    (tmp_path / "config").write_text(text)
    with pytest.raises(SetupError, match=message):
        from_kubeconfig([tmp_path / "config"])


def test_several_kubeconfigs_are_one_and_the_first_wins(tmp_path: Path) -> None:
    first = kubeconfig(tmp_path / "a", {"server": "https://first.test"}, {"token": "t"})
    second = tmp_path / "b"
    second.write_text(
        yaml.safe_dump(
            {
                "clusters": [{"name": "c", "cluster": {"server": "https://second.test"}}],
                "contexts": [{"name": "other", "context": {"cluster": "c", "user": "u", "namespace": "b"}}],
            }
        )
    )
    environ = {"KUBECONFIG": os.pathsep.join([str(first), str(second), str(tmp_path / "missing")])}
    assert usual_files(environ) == [first, second]
    found = load_credentials(context="other", environ=environ)
    assert (found.server, found.namespace) == ("https://first.test", "b")


def test_nothing_to_find_says_what_to_write(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(SetupError, match=r"write ~/\.kube/config or set KUBECONFIG"):
        load_credentials(environ={})


async def test_in_a_cluster_the_token_is_read_again(pki: Path, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("t1")
    (tmp_path / "namespace").write_text("system\n")
    (tmp_path / "ca.crt").write_text((pki / "ca.crt").read_text())
    environ = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "6443"}
    assert is_in_cluster(environ, account=tmp_path)
    assert not is_in_cluster({}, account=tmp_path)
    found = in_cluster(environ, account=tmp_path)
    assert (found.server, found.namespace) == ("https://[fd00::1]:6443", "system")
    assert await found.identity.headers() == (("Authorization", "Bearer t1"),)
    (tmp_path / "token").write_text("t2")
    assert await found.identity.headers() == (("Authorization", "Bearer t1"),)
    found.identity.refused()
    assert await found.identity.headers() == (("Authorization", "Bearer t2"),)


async def test_a_token_file_is_looked_at_every_half_minute_and_kept_when_it_is_gone(tmp_path: Path) -> None:
    time = 0.0
    (tmp_path / "token").write_text("t1")
    identity = TokenFile(tmp_path / "token", clock=lambda: time)
    assert await identity.headers() == (("Authorization", "Bearer t1"),)
    (tmp_path / "token").write_text("t2")
    time += LOOK_EVERY
    assert await identity.headers() == (("Authorization", "Bearer t2"),)
    (tmp_path / "token").unlink()
    time += LOOK_EVERY
    assert await identity.headers() == (("Authorization", "Bearer t2"),)
    with pytest.raises(SetupError, match="token: cannot be read"):
        await TokenFile(tmp_path / "token").headers()


async def test_a_program_is_asked_again_before_its_token_ends_or_when_it_is_refused(tmp_path: Path) -> None:
    time, asked = 1_000_000.0, 0

    def run(_: object, __: Path) -> dict[str, str]:
        nonlocal asked
        asked += 1
        ends = datetime.datetime.fromtimestamp(time + 600, datetime.UTC)
        return {"token": f"t{asked}", "expirationTimestamp": ends.strftime("%Y-%m-%dT%H:%M:%SZ")}

    plugin = ExecPlugin({}, tmp_path, ssl.create_default_context(), run=run, clock=lambda: time)
    tokens = []
    for step in (0, 500, 50, 10):
        time += step
        tokens.append((await plugin.headers())[0][1])
    assert tokens == ["Bearer t1", "Bearer t1", "Bearer t2", "Bearer t2"]
    plugin.refused()
    assert (await plugin.headers())[0][1] == "Bearer t3"


async def test_a_program_may_give_a_certificate(pki: Path, tmp_path: Path) -> None:
    given = {
        "clientCertificateData": (pki / "alice.crt").read_text(),
        "clientKeyData": (pki / "alice.key").read_text(),
    }
    async with api_server(pki) as (url, seen):
        cluster = {"server": url, "certificate-authority": str(pki / "ca.crt"), "tls-server-name": "api.test"}
        found = from_kubeconfig([kubeconfig(tmp_path / "c", cluster, {"exec": program("{}")})])
        found.identity._run = lambda *_: given
        async with HttpTransport(found) as transport:
            await transport.request("GET", "/version")
    assert seen[0]["certificate"] == "alice"


FAILING = {
    "it fails": ({"command": "false"}, "exec: false: gave no credentials: exec: process returned 1"),
    "it is not there": ({"command": "no-such-program"}, "exec: no-such-program: gave no credentials"),
    "it prints nonsense": ({"command": "echo", "args": ["x"]}, "failed to decode process output"),
    "it wants what we do not give": ({"provideClusterInfo": True}, r"exec\.provideClusterInfo: cannot"),
}


@pytest.mark.parametrize("sentence", FAILING)
async def test_a_program_that_gives_nothing(sentence: str, tmp_path: Path) -> None:
    changes, message = FAILING[sentence]
    config = {"apiVersion": "client.authentication.k8s.io/v1", "command": "true", **changes}
    with pytest.raises(SetupError, match=message):
        await ExecPlugin(config, tmp_path, ssl.create_default_context()).headers()


async def test_a_proxy_is_used(tmp_path: Path) -> None:
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(f"{request.host}{request.path}")
        return web.json_response({})

    application = web.Application()
    application.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    cluster = {"server": "http://nowhere.test", "proxy-url": site.name}
    found = from_kubeconfig([kubeconfig(tmp_path / "config", cluster, {"token": "t"})])
    async with HttpTransport(found) as transport:
        await transport.request("GET", "/version")
    await runner.cleanup()
    assert asked == ["nowhere.test/version"]
