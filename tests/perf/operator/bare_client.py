"""Applies the objects of a file by server-side apply and does nothing else: `bare_client KUBECONFIG FILE`."""

import asyncio
import json
import ssl
import sys
from base64 import b64decode
from pathlib import Path

import aiohttp

CONNECTIONS = 64
APPLY = {"Content-Type": "application/apply-patch+yaml"}


async def main(kubeconfig: Path, objects: Path) -> None:
    """Apply every line of the file: a path, a tab, a body."""
    config = json.loads(kubeconfig.read_text(encoding="utf-8"))
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    tls = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
    headers = {**APPLY, "Authorization": f"Bearer {user['token']}"}
    connector = aiohttp.TCPConnector(ssl=tls, limit=CONNECTIONS)
    rest = iter(objects.read_bytes().splitlines())
    async with aiohttp.ClientSession(cluster["server"], connector=connector, headers=headers) as session:

        async def work() -> None:
            for line in rest:
                path, _, body = line.partition(b"\t")
                async with session.patch(path.decode(), data=body) as answer:
                    await answer.read()
                    answer.raise_for_status()

        await asyncio.gather(*(work() for _ in range(CONNECTIONS)))


if __name__ == "__main__":
    import uvloop

    uvloop.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
