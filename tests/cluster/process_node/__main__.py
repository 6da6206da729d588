"""Run a node, inside the network of all nodes and in namespaces of its own.

python -m tests.cluster.process_node CONFIG
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from .api import Api, Kept
from .network import Hub
from .node import keep_registered, node_document
from .pods import Pods
from .server import serve


async def main(config: dict[str, Any]) -> None:
    """Run until killed."""
    name, folder, pki = config["name"], Path(config["folder"]), Path(config["pki"])
    hub = Hub(config["index"])
    await hub.set_up()
    api = Api(pki, name)
    pods = Pods(api, folder / "pods", name, hub, claims=Path(config["claims"]))
    await serve(str(hub.address), pki, pods)
    changed = asyncio.Event()
    mine = Kept(api, f"/api/v1/pods?fieldSelector=spec.nodeName={name}", changed.set)
    async with asyncio.TaskGroup() as group:
        group.create_task(keep_registered(api, node_document(config, str(hub.address))))
        group.create_task(mine.run())
        while True:
            await changed.wait()
            changed.clear()
            pods.take_in(mine.by_uid)


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
