"""Processes of their own that start at once: what a run imports is loaded one time, and forked from there.

A run that is to be killed, told to stop or shared out needs a process, or two; to load torch and what is
above it takes each of them longer than the run. Here they are forked from a process that has loaded it all
and done nothing else. They have an environment, an output and an exit code, as any other.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

WORKLOADS = "kfp_trainer.runtime_operator.workloads"
PATIENCE = 600.0


@dataclass
class Forked:
    """A process that runs a workload with a command line."""

    process: BaseProcess
    output: Path
    """where what it says is kept"""

    def end(self) -> int:
        """Its exit code when it has ended, negative for a signal."""
        self.process.join(PATIENCE)
        if self.process.exitcode is None:
            self.process.kill()
            raise TimeoutError(f"does not end: {self.said[-2000:]}")
        return self.process.exitcode

    @property
    def said(self) -> str:
        """What it has said, on either stream."""
        return self.output.read_text(encoding="utf-8")


def fork(
    arguments: Sequence[str],
    output: Path,
    *,
    command: str = "finetune",
    environment: Mapping[str, str] | None = None,
) -> Forked:
    """Start a workload with these arguments; with `DIES_AT` and `SIGNAL` `finetune` ends itself at a step."""
    output.parent.mkdir(parents=True, exist_ok=True)
    output.touch()
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.forks_preloaded"])
    whole = {**os.environ, "OMP_NUM_THREADS": "1", **(environment or {})}
    process = context.Process(target=_run, args=(command, list(arguments), output, whole))
    process.start()
    return Forked(process, output)


def fork_group(arguments: Sequence[str], output: Path, *, processes: int = 2) -> list[Forked]:
    """Start so many processes that find each other as those of torchrun do."""
    from torch.distributed import TCPStore

    store: Any = TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    place = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(store.port), "GROUP_RANK": "0"}
    place |= {"WORLD_SIZE": str(processes), "LOCAL_WORLD_SIZE": str(processes)}
    place |= {"TORCHELASTIC_USE_AGENT_STORE": "True", "TORCHELASTIC_RESTART_COUNT": "0"}
    group = [
        fork(
            arguments,
            output.with_suffix(f".{rank}"),
            environment={**place, "RANK": str(rank), "LOCAL_RANK": str(rank)},
        )
        for rank in range(processes)
    ]
    try:
        for each in group:  # the store must stay until they have ended
            each.end()
    finally:
        for each in group:
            each.process.kill()
    return group


def _run(command: str, arguments: list[str], output: Path, environment: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
    told = os.open(output, os.O_WRONLY | os.O_APPEND)
    os.dup2(told, 1)
    os.dup2(told, 2)
    if "DIES_AT" in environment:
        _die_at(int(environment["DIES_AT"]), environment["SIGNAL"])
    from kfp_trainer.runtime_operator.workloads.command import main

    made = getattr(import_module(f"{WORKLOADS}.{command}.command"), f"{command}_command")
    code = main(made(), arguments)
    sys.stdout.flush()
    sys.exit(code)


def _die_at(step: int, name: str) -> None:
    import signal

    kind = import_module(f"{WORKLOADS}.finetune.progress").ProgressLog
    plain = kind.step

    def told(log: Any, event: Any) -> None:
        plain(log, event)
        if event.step == step:
            os.kill(os.getpid(), signal.Signals[name])

    kind.step = told
