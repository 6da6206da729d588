"""Builds a program of a Go module of ours once, into the cache, and says why if it cannot."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path

BIN = Path(__file__).resolve().parents[2] / ".cache" / "servers"


def why_not() -> str:
    """Why nothing can be built on this machine; empty if it can."""
    return "" if shutil.which("go") else "go: not on the PATH, needed to build the server"


def go_program(name: str, module: Path) -> Path:
    """The program that the package main in `module` makes; built if its sources changed."""
    sources = b"\0".join((module / each).read_bytes() for each in ("go.mod", "go.sum", "main.go"))
    program = BIN / f"{name}-{hashlib.sha256(sources).hexdigest()[:12]}"
    if program.exists():
        return program
    BIN.mkdir(parents=True, exist_ok=True)
    with (BIN / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not program.exists():
            _build(module, program)
    return program


def _build(module: Path, program: Path) -> None:
    part = program.with_suffix(".part")
    subprocess.run(
        ["nice", "-n", "10", "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", str(part), "."],
        cwd=module,
        env={**os.environ, "CGO_ENABLED": "0"},
        check=True,
    )
    os.replace(part, program)
