"""The transport over real sockets, against a server that answers as it is told."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from kfp_trainer.runtime_operator.kube.cluster import Cluster
from kfp_trainer.runtime_operator.kube.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Gone,
    NotFound,
    Silence,
    TooMany,
    Unreachable,
)
from kfp_trainer.runtime_operator.kube.http_transport import HttpTransport
from kfp_trainer.runtime_operator.kube.identity import Fixed
from kfp_trainer.runtime_operator.kube.informer import Informer
from kfp_trainer.runtime_operator.kube.resource import CONFIG_MAPS, LEASES

Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass
class Server:
    """Answers with one answer after the other, the last one for ever, and remembers what it was asked."""

    answers: list[Answer] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.method, request.path_qs))
        self.headers.append(dict(request.headers))
        self.bodies.append(await request.read())
        next_one = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return await next_one(request)


def says(document: Any, code: int = 200, **headers: str) -> Answer:
    async def answer(_: web.Request) -> web.Response:
        return web.json_response(document, status=code, headers=headers)

    return answer


def refuses(code: int, reason: str = "", **headers: str) -> Answer:
    return says({"kind": "Status", "reason": reason, "message": "no", "code": code}, code, **headers)


async def cuts(request: web.Request) -> web.Response:
    assert request.transport
    request.transport.abort()
    return web.Response()


async def hangs(_: web.Request) -> web.Response:
    await asyncio.sleep(60)
    return web.Response()


def streams(*chunks: bytes, then: str = "end") -> Answer:
    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            await response.write(chunk)
            await asyncio.sleep(0.01)
        if then == "cut":
            assert request.transport
            request.transport.abort()
        elif then == "hang":
            await asyncio.sleep(60)
        return response

    return answer


@asynccontextmanager
async def serving(*answers: Answer) -> AsyncIterator[Server]:
    server = Server(list(answers))
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", server.answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = site.name
    try:
        yield server
    finally:
        await runner.cleanup()


def transport_to(server: Server, **options: Any) -> HttpTransport:
    cluster = Cluster(server.url, ssl.create_default_context(), Fixed((("Authorization", "Bearer t"),)))
    return HttpTransport(cluster, chance=lambda: 0.0, **options)


async def test_each_verb_sends_what_an_api_server_understands() -> None:
    async with serving(says({"kind": "Whatever"})) as server, transport_to(server) as transport:
        assert json.loads(await transport.get(LEASES, "n", "a")) == {"kind": "Whatever"}
        await transport.create(CONFIG_MAPS, "n", b"{}")
        await transport.apply(CONFIG_MAPS, "n", "a", b"{}", manager="m", sub="status")
        await transport.apply(CONFIG_MAPS, "n", "a", b"{}", manager="m", force=False)
        await transport.patch(CONFIG_MAPS, "n", "a", b"{}", manager="m")
        await transport.delete(CONFIG_MAPS, "n", "a", uid="u", propagation="Foreground")
        await transport.request("GET", "/version", parameters={"a": "b c"})
    assert server.asked == [
        ("GET", "/apis/coordination.k8s.io/v1/namespaces/n/leases/a"),
        ("POST", "/api/v1/namespaces/n/configmaps"),
        ("PATCH", "/api/v1/namespaces/n/configmaps/a/status?fieldManager=m&force=true"),
        ("PATCH", "/api/v1/namespaces/n/configmaps/a?fieldManager=m"),
        ("PATCH", "/api/v1/namespaces/n/configmaps/a?fieldManager=m"),
        ("DELETE", "/api/v1/namespaces/n/configmaps/a"),
        ("GET", "/version?a=b+c"),
    ]
    assert [each.get("Content-Type") for each in server.headers[1:5]] == [
        "application/json",
        "application/apply-patch+yaml",
        "application/apply-patch+yaml",
        "application/merge-patch+json",
    ]
    assert {each["Authorization"] for each in server.headers} == {"Bearer t"}
    options = json.loads(server.bodies[5])
    assert (options["preconditions"], options["propagationPolicy"]) == ({"uid": "u"}, "Foreground")


def item(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": "3"}}


async def test_a_list_is_read_page_by_page_and_its_items_are_whole() -> None:
    first = {"metadata": {"resourceVersion": "9", "continue": "c/1"}, "items": [item("a"), item("b")]}
    last = {"metadata": {"resourceVersion": "9"}, "items": [item("c")]}
    async with serving(says(first), says(last)) as server, transport_to(server) as transport:
        pages = [page async for page in transport.list(CONFIG_MAPS, labels="a in (b,c)", limit=2)]
    assert [[json.loads(raw)["metadata"]["name"] for raw in page.items] for page in pages] == [
        ["a", "b"],
        ["c"],
    ]
    whole = json.loads(pages[0].items[0])
    assert (whole["apiVersion"], whole["kind"], pages[0].resource_version) == ("v1", "ConfigMap", "9")
    assert [path for _, path in server.asked] == [
        "/api/v1/configmaps?labelSelector=a+in+%28b%2Cc%29&limit=2",
        "/api/v1/configmaps?labelSelector=a+in+%28b%2Cc%29&limit=2&continue=c%2F1",
    ]


async def test_a_list_whose_rest_is_lost_is_gone() -> None:
    first = {"metadata": {"resourceVersion": "9", "continue": "c"}, "items": []}
    async with serving(says(first), refuses(410, "Expired")) as server, transport_to(server) as transport:
        with pytest.raises(Gone):
            _ = [page async for page in transport.list(CONFIG_MAPS)]


async def test_deleting_what_is_not_there_is_no_error_but_another_uid_is() -> None:
    async with serving(refuses(404, "NotFound"), refuses(409)) as server, transport_to(server) as transport:
        await transport.delete(CONFIG_MAPS, "n", "a")
        with pytest.raises(Conflict):
            await transport.delete(CONFIG_MAPS, "n", "a", uid="u")


# what goes wrong before the good answer: with which calls it is tried again
TRIED_AGAIN: dict[str, tuple[list[Answer], set[str]]] = {
    "an overloaded server, which has done nothing": ([refuses(429)], {"get", "apply", "create", "delete"}),
    "trouble, after which it may have done it": ([refuses(500), refuses(503)], {"get", "apply", "delete"}),
    "a cut connection": ([cuts, cuts], {"get", "apply", "delete"}),
    "a token that was just renewed": ([refuses(401)], {"get", "apply", "create", "delete"}),
    "too many failures": ([refuses(503)] * 4, set()),
    "a refusal": ([refuses(403)], set()),
    "a Retry-After that is a worker's whole minute": ([refuses(429, **{"Retry-After": "60"})], set()),
}
CALLS: dict[str, Callable[[HttpTransport], Awaitable[object]]] = {
    "get": lambda transport: transport.get(CONFIG_MAPS, "n", "a"),
    "apply": lambda transport: transport.apply(CONFIG_MAPS, "n", "a", b"{}", manager="m"),
    "create": lambda transport: transport.create(CONFIG_MAPS, "n", b"{}"),
    "delete": lambda transport: transport.delete(CONFIG_MAPS, "n", "a"),
}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("sentence", TRIED_AGAIN)
async def test_what_is_tried_again(sentence: str, call: str) -> None:
    answers, calls = TRIED_AGAIN[sentence]
    async with serving(*answers, says({})) as server, transport_to(server) as transport:
        if call in calls:
            await CALLS[call](transport)
            assert len(server.asked) == len(answers) + 1
        else:
            with pytest.raises(ApiError):
                await CALLS[call](transport)
            assert len(server.asked) == (4 if len(answers) == 4 and call != "create" else 1)


async def test_retry_after_is_obeyed() -> None:
    answers = (refuses(429, **{"Retry-After": "1"}), says({}))
    async with serving(*answers) as server, transport_to(server) as transport:
        began = asyncio.get_running_loop().time()
        await transport.get(CONFIG_MAPS, "n", "a")
        assert asyncio.get_running_loop().time() - began >= 1


async def test_a_long_retry_after_is_told_to_the_caller() -> None:
    async with serving(refuses(429, **{"Retry-After": "30"})) as server, transport_to(server) as transport:
        with pytest.raises(TooMany) as refused:
            await transport.get(CONFIG_MAPS, "n", "a")
        assert refused.value.retry_after == 30


async def test_a_refused_token_is_read_again() -> None:
    class Renewing(Fixed):
        token = "old"

        async def headers(self) -> tuple[tuple[str, str], ...]:
            return (("Authorization", self.token),)

        def refused(self) -> None:
            self.token = "new"

    async with serving(refuses(401), says({})) as server:
        cluster = Cluster(server.url, ssl.create_default_context(), Renewing())
        async with HttpTransport(cluster, chance=lambda: 0.0) as transport:
            await transport.get(CONFIG_MAPS, "n", "a")
    assert [each["Authorization"] for each in server.headers] == ["old", "new"]


async def test_no_server_is_an_error_that_names_it_and_was_not_sent() -> None:
    cluster = Cluster("http://127.0.0.1:1", ssl.create_default_context(), Fixed())
    async with HttpTransport(cluster, chance=lambda: 0.0) as transport:
        with pytest.raises(Unreachable, match=r"^http://127.0.0.1:1: no answer: ") as error:
            await transport.create(CONFIG_MAPS, "n", b"{}")
    assert error.value.was_not_sent


async def test_a_server_that_hangs_is_given_up() -> None:
    async with serving(hangs) as server, transport_to(server, answer_seconds=0.2) as transport:
        with pytest.raises(Unreachable) as error:
            await transport.create(CONFIG_MAPS, "n", b"{}")
    assert not error.value.was_not_sent


async def test_a_name_that_is_taken() -> None:
    async with serving(refuses(409, "AlreadyExists")) as server, transport_to(server) as transport:
        with pytest.raises(AlreadyExists):
            await transport.create(CONFIG_MAPS, "n", b"{}")


async def test_no_more_connections_than_allowed() -> None:
    now = most = 0

    async def slow(_: web.Request) -> web.Response:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.02)
        now -= 1
        return web.json_response({})

    async with serving(slow) as server, transport_to(server, connections=3) as transport:
        await asyncio.gather(*(transport.get(CONFIG_MAPS, "n", str(number)) for number in range(20)))
    assert most == 3


async def test_a_watch_asks_for_bookmarks_and_yields_lines_of_any_length() -> None:
    long = b'{"type":"ADDED","object":"' + b"x" * 1_200_000 + b'"}'
    answer = streams(b'{"type":"A"', b'}\n{"type":"B"}\n\n', long[:700_000], long[700_000:] + b"\n")
    async with serving(answer) as server, transport_to(server) as transport:
        lines = [line async for line in transport.watch(CONFIG_MAPS, resource_version="7", timeout=251.4)]
    assert lines == [b'{"type":"A"}', b'{"type":"B"}', long]
    assert server.asked == [
        (
            "GET",
            "/api/v1/configmaps?watch=true&allowWatchBookmarks=true&timeoutSeconds=251&resourceVersion=7",
        )
    ]


WATCH_ENDS: dict[str, tuple[Answer, type[Exception] | None]] = {
    "its time is over": (streams(b"a\n"), None),
    "it is cut": (streams(b"a\n", then="cut"), Unreachable),
    "it goes silent": (streams(b"a\n", then="hang"), Silence),
    "it gets no answer": (hangs, Unreachable),
}


@pytest.mark.parametrize("sentence", WATCH_ENDS)
async def test_a_watch_ends(sentence: str) -> None:
    answer, error = WATCH_ENDS[sentence]
    got = []
    async with serving(answer) as server, transport_to(server, silence_seconds=0.3) as transport:
        try:
            async for line in transport.watch(CONFIG_MAPS, resource_version="7"):
                got.append(line)
        except Unreachable as ended:
            assert type(ended) is error
        else:
            assert error is None
    assert got == ([] if answer is hangs else [b"a"])


async def test_a_watch_that_is_refused_says_why() -> None:
    async with serving(refuses(410, "Expired")) as server, transport_to(server) as transport:
        with pytest.raises(Gone):
            _ = [line async for line in transport.watch(CONFIG_MAPS, resource_version="7")]


async def test_an_abandoned_watch_leaves_no_connection_behind() -> None:
    ended = asyncio.Event()

    async def endless(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b"a\n")
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()
        return response

    async with serving(endless) as server, transport_to(server) as transport:
        async with aclosing(transport.watch(CONFIG_MAPS, resource_version="7")) as lines:
            async for _ in lines:
                break
        async with asyncio.timeout(5):
            await ended.wait()


async def test_a_log_is_lines_and_the_last_one_needs_no_end() -> None:
    async with serving(streams(b"one\ntw", b"o\nthree")) as server, transport_to(server) as transport:
        lines = [line async for line in transport.stream_log("n", "p", parameters={"follow": "true"})]
    assert lines == [b"one", b"two", b"three"]
    assert server.asked == [("GET", "/api/v1/namespaces/n/pods/p/log?follow=true")]


async def test_a_missing_pod_has_no_log() -> None:
    async with serving(refuses(404, "NotFound")) as server, transport_to(server) as transport:
        with pytest.raises(NotFound):
            _ = [line async for line in transport.stream_log("n", "p")]


async def test_an_informer_over_http_survives_a_cut_and_a_gone() -> None:
    page = {"metadata": {"resourceVersion": "5"}, "items": [configmap("a", 4)]}
    after = {"metadata": {"resourceVersion": "9"}, "items": [configmap("c", 9)]}
    gone = json.dumps({"type": "ERROR", "object": {"code": 410, "message": "old"}}).encode() + b"\n"
    added = json.dumps({"type": "ADDED", "object": configmap("b", 6)}).encode() + b"\n"
    answers = (says(page), streams(added, then="cut"), streams(gone), says(after), streams(then="hang"))
    async with serving(*answers) as server, transport_to(server) as transport:
        changes: list[tuple[str, bool]] = []
        informer = Informer(transport, CONFIG_MAPS, lambda key, _, new: changes.append((key[1], bool(new))))
        task = asyncio.create_task(informer.run())
        async with asyncio.timeout(10):
            while len(watched_from(server)) < 3:
                await asyncio.sleep(0.02)
        task.cancel()
    assert changes == [("a", True), ("b", True), ("c", True), ("a", False), ("b", False)]
    assert watched_from(server) == ["5", "6", "9"]


def watched_from(server: Server) -> list[str]:
    """The versions that watches were asked to begin at."""
    return [path.rpartition("=")[2] for _, path in server.asked if "watch" in path]


def configmap(name: str, version: int) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "n", "uid": name, "resourceVersion": str(version)}}
