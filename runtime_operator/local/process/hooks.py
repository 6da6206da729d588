"""What a container asks to be done after its start and before its end."""

from __future__ import annotations

import asyncio

from .bench import Bench
from .pod import Container
from .probing import Answer, ask
from .run import Run


async def run_hook(name: str, container: Container, run: Run, bench: Bench, *, limit: float) -> Answer:
    """Do what a hook says, within the limit; a container without it is content."""
    action = (container.spec.get("lifecycle") or {}).get(name)
    if not action:
        return True, ""
    if "sleep" in action:
        await asyncio.sleep(min(float(action["sleep"]["seconds"]), limit))
        return True, ""
    return await ask(
        action,
        container.spec,
        host=bench.place.pod_ip,
        ports=bench.place.ports,
        execute=run.execute,
        limit=limit,
    )
