"""What a probe asks and how its answer counts, against servers of this test."""

import asyncio
import ssl
import subprocess
from contextlib import asynccontextmanager

import pytest

from kfp_trainer.runtime_operator.local.process.probing import ask, port_of

WEB = {"ports": [{"name": "web", "containerPort": 80}, {"containerPort": 81}]}


async def nothing(argv, limit):
    raise AssertionError("no command was to be run")


@asynccontextmanager
async def server(answer, **options):
    """Serve one answer to everybody; yield the port and what was asked."""
    asked = []

    async def serve(reader, writer):
        try:
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(answer)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    serving = await asyncio.start_server(serve, "127.0.0.1", 0, **options)
    async with serving:
        yield serving.sockets[0].getsockname()[1], asked


async def answer_to(action, *, ports=None, execute=nothing, limit=5.0):
    return await ask(action, WEB, host="127.0.0.1", ports=ports or {}, execute=execute, limit=limit)


# sentence: (status line, whether all is well, what is told)
ANSWERS = {
    "well": (b"HTTP/1.1 200 OK\r\n\r\n", True, "HTTP probe returned status 200"),
    "elsewhere": (b"HTTP/1.1 302 Found\r\n\r\n", True, "HTTP probe returned status 302"),
    "ill": (b"HTTP/1.1 503 No\r\n\r\n", False, "HTTP probe returned status 503"),
    "nonsense": (b"hello\r\n", False, "no HTTP answer, got b'hello\\r\\n'"),
    "nothing": (b"", False, "no HTTP answer, got b''"),
}


@pytest.mark.parametrize("sentence", ANSWERS)
async def test_http(sentence):
    status, well, told = ANSWERS[sentence]
    async with server(status) as (port, asked):
        action = {"httpGet": {"port": "web", "path": "/z", "httpHeaders": [{"name": "X-A", "value": "1"}]}}
        assert await answer_to(action, ports={80: port}) == (well, told)
    assert asked[0].startswith(b"GET /z HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    assert b"X-A: 1\r\n" in asked[0]


async def test_https_takes_any_certificate(tmp_path):
    key, cert = tmp_path / "key", tmp_path / "cert"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-days", "1"]
    subprocess.run([*command, "-keyout", key, "-out", cert], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    async with server(b"HTTP/1.1 200 OK\r\n\r\n", ssl=context) as (port, _):
        action = {"httpGet": {"port": port, "scheme": "HTTPS", "host": "127.0.0.1"}}
        assert await answer_to(action) == (True, "HTTP probe returned status 200")


async def test_tcp():
    async with server(b"") as (port, _):
        assert await answer_to({"tcpSocket": {"port": port}}) == (True, "connected")
    well, why = await answer_to({"tcpSocket": {"port": port}})
    assert not well
    assert "Connect call failed" in why


async def test_a_port_without_a_name():
    assert await answer_to({"tcpSocket": {"port": "no"}}) == (False, 'no port "no" in ports; there are web')
    assert (port_of("8080", {}, {}), port_of(80, {}, {80: 1234})) == (8080, 1234)
    with pytest.raises(ValueError, match="there are none"):
        port_of("web", {}, {})


async def test_a_slow_server_is_a_no():
    async with server(b"") as (port, _):
        action = {"exec": {"command": ["x"]}}

        async def forever(argv, limit):
            await asyncio.Event().wait()

        assert await answer_to(action, execute=forever, limit=0.02) == (False, "no answer within 0.02s")
        assert port


@pytest.mark.parametrize("code", [0, 1])
async def test_a_command(code):
    async def execute(argv, limit):
        assert (argv, limit) == (["check", "it"], 5.0)
        return code, " said \n" if code else ""

    expected = (False, "said") if code else (True, "exit code 0")
    assert await answer_to({"exec": {"command": ["check", "it"]}}, execute=execute) == expected
