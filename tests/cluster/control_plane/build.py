"""Builds the programs of the control plane with `go build`, once, into one cache folder.

Only what is asked for is built. A stamp beside each program holds what it was made from, so that a second
run costs nothing; a lock lets two runs at once share the work. Go verifies every module against go.sum.

Volcano 1.15 asks for an API module of the same version that nobody can download; the one before it lacks a
single constant. The build therefore takes that one, adds the constant to a copy in the cache, and puts the
copy in its place by a second go.mod, which exists only there.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from .programs import HERE, KUBERNETES_VERSION, PROGRAMS, versions

CACHE = HERE.parents[2] / ".cache" / "control-plane"
BIN = CACHE / "bin"
COLD_SECONDS = {"kube-apiserver": 150, "kueue": 200, "jobset": 75, "kube-controller-manager": 60}
"""on two cores, in the order in which all are built; the others take less than 45 s each"""

VOLCANO_API = "volcano.sh/apis"
VOLCANO_CONSTANT = """package v1beta1

// The value is the one in Volcano's design of scheduling gates.
const QueueAllocationGateKey = GroupName + "/queue-allocation-gate"
"""

Say = Callable[[str], None]


class BuildError(Exception):
    """A program could not be built; the text holds what Go said."""


def why_not() -> str:
    """Why nothing can be built on this machine; empty if it can."""
    missing = [name for name in ("go", "nice", "kubectl") if shutil.which(name) is None]
    if missing:
        return f"{', '.join(missing)}: not on the PATH, needed for the control plane"
    return ""


def build(names: Iterable[str], say: Say) -> dict[str, Path]:
    """Build what is not built yet, and return where each program is."""
    wanted = {name: BIN / name for name in names}
    if all(_is_fresh(name) for name in wanted):
        return wanted
    BIN.mkdir(parents=True, exist_ok=True)
    with _lock():
        for name in wanted:
            if not _is_fresh(name):
                _build_one(name, say)
    return wanted


@contextmanager
def _lock() -> Iterator[None]:
    with (CACHE / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build_one(name: str, say: Say) -> None:
    program = PROGRAMS[name]
    say(f"building {name} from Go modules (from nothing about {COLD_SECONDS.get(name, 45)} s on two cores)")
    started = time.monotonic()
    extra = ["-modfile", str(_volcano_modfile())] if name.startswith("volcano-") else []
    _go(
        ["build", "-trimpath", "-ldflags", _ldflags(), *extra, "-o", str(BIN / name), program.package],
        program.module,
    )
    _stamp(name).write_text(_made_from(name), encoding="utf-8")
    size = (BIN / name).stat().st_size // 1_000_000
    say(f"built {name} in {time.monotonic() - started:.0f} s, {size} MB")


def _is_fresh(name: str) -> bool:
    stamp = _stamp(name)
    return (BIN / name).exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == _made_from(name)


def _stamp(name: str) -> Path:
    return BIN / f"{name}.stamp"


@cache
def _made_from(name: str) -> str:
    """A digest of everything that decides what comes out of the build."""
    folder = HERE / PROGRAMS[name].module
    parts = [(folder / file).read_bytes() for file in ("go.mod", "go.sum")]
    version = _go(["env", "GOVERSION"], PROGRAMS[name].module)
    told = [PROGRAMS[name].package, _ldflags(), version, VOLCANO_CONSTANT if "volcano" in name else ""]
    return hashlib.sha256(b"\0".join([*parts, *(text.encode() for text in told)])).hexdigest()


def _ldflags() -> str:
    """The API server takes the version that it serves from the linker."""
    major, minor, patch = KUBERNETES_VERSION
    values = {"gitVersion": f"v{major}.{minor}.{patch}", "gitMajor": major, "gitMinor": minor}
    set_each = (f"-X k8s.io/component-base/version.{key}={value}" for key, value in values.items())
    return " ".join(["-s -w", *set_each])


def _volcano_modfile() -> Path:
    """A copy of kubernetes/go.mod in which Volcano's API module is our completed copy."""
    source = HERE / "kubernetes"
    downloaded = json.loads(_go(["mod", "download", "-json", f"{VOLCANO_API}@v1.14.0"], "kubernetes"))
    target = CACHE / "volcano"
    shutil.rmtree(target, ignore_errors=True)
    api = target / "apis"
    shutil.copytree(downloaded["Dir"], api, copy_function=shutil.copyfile)
    for folder in [target, *(path for path in target.rglob("*") if path.is_dir())]:
        folder.chmod(0o755)
    (api / "pkg/apis/scheduling/v1beta1/zz_gate.go").write_text(VOLCANO_CONSTANT, encoding="utf-8")
    shutil.copyfile(source / "go.sum", target / "go.sum")
    shutil.copyfile(source / "go.mod", target / "go.mod")
    _go(["mod", "edit", f"-replace={VOLCANO_API}={api}", str(target / "go.mod")], "kubernetes")
    return target / "go.mod"


@cache
def module_folder(module: str, path: str) -> Path:
    """Where Go keeps the source of a dependency of one of the modules, fetched if no build needed it."""
    folder = Path(_go(["env", "GOMODCACHE"], module)) / f"{path}@{versions(module)[path]}"
    if not folder.exists():
        _go(["mod", "download", path], module)
    return folder


def _go(arguments: list[str], module: str) -> str:
    ran = subprocess.run(
        ["nice", "-n", "10", "go", *arguments],
        cwd=HERE / module,
        env={**os.environ, "CGO_ENABLED": "0"},
        capture_output=True,
        text=True,
    )
    if ran.returncode:
        raise BuildError(f"go {' '.join(arguments)}: exit code {ran.returncode}\n{ran.stderr[-4000:]}")
    return ran.stdout.strip()
