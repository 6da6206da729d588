"""What the API server asks of the node: the logs of its containers, as they stand or grow, and `exec`.

Nobody else is answered: a client shows the certificate of the API server.
"""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from aiohttp import web

from kfp_trainer.runtime_operator.local.process import Pod
from kfp_trainer.runtime_operator.local.process.logs import Line, follow, read

from .exec_server import execute
from .log_options import LogOptions
from .node import KUBELET_PORT
from .pods import NodePod, Pods

CLIENT = "kube-apiserver"
Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


async def serve(address: str, pki: Path, pods: Pods) -> None:
    """Begin to answer."""

    async def container_logs(request: web.Request) -> web.StreamResponse:
        return await _logs(request, _pod_of(request, pods))

    async def container_exec(request: web.Request) -> web.StreamResponse:
        return await execute(request, _pod_of(request, pods))

    application = web.Application(middlewares=[_only_the_api_server])
    application.router.add_get("/containerLogs/{namespace}/{pod}/{container}", container_logs)
    application.router.add_route("*", "/exec/{namespace}/{pod}/{container}", container_exec)
    application.router.add_route("*", "/exec/{namespace}/{pod}/{uid}/{container}", container_exec)
    for name in ("attach", "portForward"):
        application.router.add_route("*", f"/{name}/{{rest:.*}}", _refuse)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(pki / "ca.crt"))
    tls.verify_mode = ssl.CERT_REQUIRED
    tls.load_cert_chain(pki / "server.crt", pki / "server.key")
    await web.TCPSite(runner, address, KUBELET_PORT, ssl_context=tls).start()


@web.middleware
async def _only_the_api_server(request: web.Request, handler: Answer) -> web.StreamResponse:
    shown: dict[str, Any] = request.get_extra_info("peercert")
    names = [value for part in shown["subject"] for key, value in part if key == "commonName"]
    if names != [CLIENT]:
        raise web.HTTPForbidden(text=f"{', '.join(names)}: only the API server is answered here")
    return await handler(request)


async def _refuse(request: web.Request) -> web.StreamResponse:
    what = request.path.split("/")[1]
    raise web.HTTPNotImplemented(text=f"{what}: not done by this node; use a Service, logs or exec")


def _pod_of(request: web.Request, pods: Pods) -> NodePod:
    names = request.match_info
    pod = pods.find(names["namespace"], names["pod"])
    if pod is None or pod.living is None:
        raise web.HTTPNotFound(text=f'pod "{names["namespace"]}/{names["pod"]}" does not run on this node')
    return pod


async def _logs(request: web.Request, pod: NodePod) -> web.StreamResponse:
    name, living = request.match_info["container"], pod.living
    assert living is not None
    try:
        options = LogOptions.of(request.query, datetime.now(UTC))
    except ValueError as error:
        raise web.HTTPBadRequest(text=f"log options: {error}") from error
    path = living.log(name, previous=options.previous)
    if path is None:
        raise web.HTTPBadRequest(text=_why_no_log(pod, living, name, options))
    answer = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await answer.prepare(request)
    passed = options.filter()
    async for line in _lines(path, living, name, options):
        if told := passed(line):
            await answer.write(told)
    await answer.write_eof()
    return answer


async def _lines(path: Path, living: Pod, name: str, options: LogOptions) -> AsyncIterator[Line]:
    if not options.follow:
        for line in read(path, tail=options.tail):
            yield line
        return
    number = int(path.parent.name)

    def over() -> bool:
        state = _state_of(living, name)
        waits = state["state"].get("waiting", {}).get("reason") == "CrashLoopBackOff"
        return state["restartCount"] > number or waits or "terminated" in state["state"]

    async for line in follow(path, over, tail=options.tail):
        yield line


def _state_of(living: Pod, name: str) -> dict[str, Any]:
    """The status of a container; of one that the pod does not have, one that has never run."""
    status = living.status()
    states = [*status.get("containerStatuses", ()), *status.get("initContainerStatuses", ())]
    missing = {"state": {"waiting": {"reason": "ContainerCreating"}}, "restartCount": 0}
    return next((each for each in states if each["name"] == name), missing)


def _why_no_log(pod: NodePod, living: Pod, name: str, options: LogOptions) -> str:
    """In a kubelet's words, which clients know."""
    called = pod.document["metadata"]["name"]
    if options.previous:
        return f'previous terminated container "{name}" in pod "{called}" not found'
    waiting = _state_of(living, name)["state"].get("waiting", {"reason": "ContainerCreating"})
    return f'container "{name}" in pod "{called}" is waiting to start: {waiting["reason"]}'
