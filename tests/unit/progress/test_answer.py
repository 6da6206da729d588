import asyncio
import json
import urllib.error
import urllib.request

import pytest

from kfp_trainer.runtime_operator.progress import answer, serve

PATH = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/lab/trainjobs/bert/status"
GOOD = {
    "progressPercentage": 45,
    "estimatedRemainingSeconds": 120,
    "metrics": [{"name": "loss", "value": "0.15"}],
    "lastUpdatedTime": "2026-01-01T00:00:00Z",
}


class Keeper:
    def __init__(self, *jobs: str) -> None:
        self.jobs = jobs
        self.kept: list[dict] = []

    async def may_post(self, namespace: str, name: str, token: str) -> bool:
        return token == "mine" and namespace == "lab"

    async def keep(self, namespace: str, name: str, progress: dict) -> bool:
        self.kept.append(progress)
        return name in self.jobs


def body(progress: object) -> bytes:
    return json.dumps({"trainerStatus": progress}).encode()


TIME = {"lastUpdatedTime": GOOD["lastUpdatedTime"]}
CASES = {
    "progress is kept": ({}, 200, None),
    "the scheme is written in any case": ({"authorization": "bEARER mine"}, 200, None),
    "unknown fields are dropped": ({"body": body({**GOOD, "mood": "good"})}, 200, None),
    "no progress changes nothing": ({"body": b"{}"}, 200, None),
    "no token": ({"authorization": ""}, 403, "Forbidden"),
    "another token": ({"authorization": "Bearer other"}, 403, "Forbidden"),
    "another scheme": ({"authorization": "Basic mine"}, 403, "Forbidden"),
    "three words": ({"authorization": "Bearer mine too"}, 403, "Forbidden"),
    "another namespace": ({"path": PATH.replace("lab", "home")}, 403, "Forbidden"),
    "another job": ({"path": PATH.replace("bert", "gpt")}, 404, "Train job not found"),
    "another path": ({"path": "/healthz"}, 404, "Not found"),
    "another method": ({"method": "GET"}, 404, "Not found"),
    "no JSON": ({"body": b"{"}, 422, "Invalid payload"),
    "no mapping": ({"body": b"[]"}, 422, "Invalid payload"),
    "too much": ({"body": b" " * 65537}, 413, "Payload too large"),
    "more than all": (
        {"body": body({**TIME, "progressPercentage": 101})},
        422,
        "status.trainerStatus.progressPercentage in body should be less than or equal to 100",
    ),
    "a number where text is wanted": (
        {"body": body({**TIME, "metrics": [{"name": "loss", "value": 0.1}]})},
        422,
        'status.trainerStatus.metrics[0].value in body must be of type string: "number"',
    ),
}


@pytest.mark.parametrize("sentence", CASES)
async def test_answers(sentence):
    given, code, message = CASES[sentence]
    keeper = Keeper("bert")
    request = {"method": "POST", "path": PATH, "authorization": "Bearer mine", "body": body(GOOD), **given}
    found = await answer(request.pop("method"), request.pop("path"), **request, keeper=keeper)
    assert found.code == code
    assert found.document.get("message") == message
    if code == 200:
        assert keeper.kept == ([] if given.get("body") == b"{}" else [GOOD])
        assert found.document == ({"trainerStatus": GOOD} if keeper.kept else {})


def post(port: int, content: bytes) -> tuple[int, dict]:
    url = f"http://127.0.0.1:{port}{PATH}"
    request = urllib.request.Request(
        url, data=content, headers={"Authorization": "Bearer mine"}, method="POST"
    )
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, json.loads(response.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


async def test_the_server_speaks_http():
    keeper = Keeper("bert")
    server = await serve(0, keeper)
    port = server.sockets[0].getsockname()[1]
    async with server:
        assert await asyncio.to_thread(post, port, body(GOOD)) == (200, {"trainerStatus": GOOD})
        assert (await asyncio.to_thread(post, port, b"x" * 3_000_000))[0] == 413
    assert keeper.kept == [GOOD]


async def test_the_server_outlives_nonsense():
    server = await serve(0, Keeper("bert"))
    port = server.sockets[0].getsockname()[1]
    async with server:
        for nonsense in (b"", b"\r\n", b"hello\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(nonsense)
            writer.write_eof()
            await reader.read()
            writer.close()
        assert (await asyncio.to_thread(post, port, body(GOOD)))[0] == 200
