"""What the API server asks of the node: the logs of its containers, as they stand or as they grow."""

import ssl
from pathlib import Path

from aiohttp import web

from kfp_trainer.runtime_operator.local.process.logs import follow, read

from .gate import KUBELET_SOCKET
from .pods import Pods


async def serve(folder: Path, pki: Path, pods: Pods) -> None:
    """Begin to answer."""

    async def container_logs(request: web.Request) -> web.StreamResponse:
        return await _logs(request, pods)

    application = web.Application()
    application.router.add_get("/containerLogs/{namespace}/{pod}/{container}", container_logs)
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(pki / "server.crt", pki / "server.key")
    (folder / KUBELET_SOCKET).unlink(missing_ok=True)
    await web.UnixSite(runner, str(folder / KUBELET_SOCKET), ssl_context=tls).start()


async def _logs(request: web.Request, pods: Pods) -> web.StreamResponse:
    names = request.match_info
    wanted = (names["namespace"], names["pod"])
    pod = next((each for each in pods.by_uid.values() if _is(each.document["metadata"], *wanted)), None)
    if pod is None or pod.living is None:
        raise web.HTTPNotFound(text=f"pod {'/'.join(wanted)}: it does not run on this node")
    path = pod.living.log(names["container"], previous=request.query.get("previous") == "true")
    if path is None:
        raise web.HTTPBadRequest(text=f"container {names['container']}: it has printed nothing yet")
    tail = int(request.query["tailLines"]) if "tailLines" in request.query else None
    answer = web.StreamResponse(headers={"Content-Type": "text/plain"})
    await answer.prepare(request)
    if request.query.get("follow") == "true":
        living = pod.living
        async for line in follow(path, lambda: living.phase in ("Succeeded", "Failed"), tail=tail):
            await answer.write(line.text + b"\n" * line.full)
    else:
        for line in read(path, tail=tail):
            await answer.write(line.text + b"\n" * line.full)
    await answer.write_eof()
    return answer


def _is(metadata: dict[str, object], namespace: str, name: str) -> bool:
    return metadata["namespace"] == namespace and metadata["name"] == name
