"""Build a Containerfile: every RUN and COPY makes a layer; one that was made of the same is taken again.

The base is a Debian of debootstrap, which is what debian:bookworm-slim is made of. Layers lie in
.cache/images; those that no image's last build had a use for are deleted.
"""

import fcntl
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from stat import S_ISREG

from .containerfile import PATH, Config, Stage, argument, filled, parse
from .layers import Container

ROOT = Path(__file__).resolve().parents[2]
CONTEXT = ROOT / "manifests/images"
CACHE = ROOT / ".cache/images"
LAYERS = CACHE / "layers"
DEBIAN = "docker.io/library/debian:bookworm-slim"


@dataclass(frozen=True)
class Built:
    """An image: its layers, the lowest first, and what it says of running."""

    layers: tuple[Path, ...]
    config: Config

    def container(self, seen: Mapping[Path, str] | None = None, **env: str) -> Container:
        """What its commands run in, as its own user and with nothing to write but /tmp."""
        config = self.config
        return Container(self.layers, {**config.env, **env}, config.user, config.workdir, seen or {})

    @property
    def own_megabytes(self) -> float:
        """What it adds to the base."""
        return megabytes(self.layers[1:])


def build(
    name: str,
    context: Path,
    *,
    arguments: Mapping[str, str] | None = None,
    images: Mapping[str, Built] | None = None,
) -> Built:
    """Build NAME/Containerfile of a context; `images` are those that a FROM may name, besides the base."""
    with _alone():
        building = _Building(context, arguments or {}, images or {})
        built = building.image((context / name / "Containerfile").read_text())
        (CACHE / f"{name}.layers").write_text("\n".join(building.used))
        return built


def forget(name: str) -> None:
    """Delete the layers that only this image has."""
    with _alone():
        (CACHE / f"{name}.layers").unlink(missing_ok=True)


@contextmanager
def _alone() -> Iterator[None]:
    """Let nobody else build, and delete at the end what no image is made of any more."""
    LAYERS.mkdir(parents=True, exist_ok=True)
    with (CACHE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
        used = {line for file in CACHE.glob("*.layers") for line in file.read_text().splitlines()}
        for folder in LAYERS.iterdir():
            if folder.name not in used:
                shutil.rmtree(folder)


class _Building:
    """One build, from stage to stage."""

    def __init__(self, context: Path, arguments: Mapping[str, str], images: Mapping[str, Built]) -> None:
        self.context, self.arguments, self.images = context, arguments, images
        self.stages: dict[str, Built] = {}
        self.used: list[str] = []

    def image(self, text: str) -> Built:
        """The image of the last stage."""
        for stage in parse(text, self.arguments):
            built = self._stage(stage)
            self.stages[stage.name] = built
        return built

    def _stage(self, stage: Stage) -> Built:
        base = self.images.get(stage.base) or self.stages.get(stage.base)
        built = base or Built((debian(stage.base),), Config())
        args: dict[str, str] = {}
        for keyword, words in stage.instructions:
            config = built.config
            if keyword == "ARG":
                args.update([argument(words, self.arguments)])
            elif keyword == "RUN":
                given = {name: value for name, value in args.items() if value}
                inside = Container(built.layers, {**given, **config.env}, config.user, config.workdir)
                built = replace(built, layers=(*built.layers, self._run(inside, words)))
            elif keyword == "COPY":
                words = filled(words, {**args, **config.env})
                built = replace(built, layers=(*built.layers, self._copy(built, words)))
            else:
                words = filled(words, {**args, **config.env})
                built = replace(built, config=config.changed(keyword, words))
        return built

    def _run(self, inside: Container, words: str) -> Path:
        key = digest(inside.layers[-1].name, words, json.dumps(dict(inside.env)))
        with self._layer(key) as new:
            if new:
                run(among_us(inside), ["/bin/sh", "-c", words], new=new)
        return LAYERS / key

    def _copy(self, built: Built, words: str) -> Path:
        *sources, target = shlex.split(words)
        if sources[0].startswith("--from="):
            stage = self.stages[sources.pop(0).removeprefix("--from=")]
            return self._copy_stage(built, stage, sources[0], target)
        files = sorted(file for source in sources for file in self.context.glob(source))
        if not files:
            raise FileNotFoundError(f"COPY {words}: nothing there in {self.context}")
        contents = [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
        key = digest(built.layers[-1].name, words, *contents)
        with self._layer(key) as new:
            if new:
                folder = new / target.lstrip("/")
                folder.mkdir(parents=True)
                for file in files:
                    shutil.copy(file, folder)
        return LAYERS / key

    def _copy_stage(self, built: Built, stage: Built, source: str, target: str) -> Path:
        key = digest(built.layers[-1].name, source, target, stage.layers[-1].name)
        with self._layer(key) as new:
            if new:
                folder = new / target.lstrip("/")
                folder.mkdir(parents=True)
                inside = Container(stage.layers, {"PATH": PATH}, seen={folder: "/tmp/new"})
                run(inside, ["cp", "--archive", f"{source}/.", "/tmp/new"])
        return LAYERS / key

    @contextmanager
    def _layer(self, key: str) -> Iterator[Path | None]:
        """An empty folder to fill, kept under the key if all goes well; None where it is filled already."""
        made = LAYERS / key
        self.used.append(key)
        if made.exists():
            yield None
            return
        with tempfile.TemporaryDirectory(dir=LAYERS) as scratch:
            new = Path(scratch, "new")
            new.mkdir(mode=0o755)
            yield new
            new.rename(made)


def run(inside: Container, words: list[str], *, new: Path | None = None) -> str:
    """Run a command in it to its end and return what it printed; a failure shows its last lines."""
    with tempfile.TemporaryDirectory(dir=new.parent if new else None) as scratch:
        command = inside.command(words, Path(scratch), new=new)
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if ran.returncode:
        said = "\n".join(ran.stdout.splitlines()[-30:])
        raise RuntimeError(f"{' '.join(words)}\nended with {ran.returncode}:\n{said}")
    return ran.stdout


def debian(reference: str) -> Path:
    """The files of the base image."""
    if reference != DEBIAN:
        raise ValueError(f"FROM {reference}: only {DEBIAN} can be made here, and the images that came before")
    made = CACHE / "bookworm"
    if not made.exists():
        with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
            mirror = [os.environ[name] for name in ("DEBIAN_MIRROR",) if name in os.environ]
            command = ["debootstrap", "--variant=minbase", "bookworm", f"{scratch}/new", *mirror]
            subprocess.run(command, check=True, capture_output=True)
            Path(scratch, "new/etc/hosts").touch()  # every engine gives a container one
            Path(scratch, "new").rename(made)
    return made


def among_us(inside: Container) -> Container:
    """The same with this machine's way to the network."""
    env = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    seen = {Path("/etc/resolv.conf"): "/etc/resolv.conf"}
    env |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "DEBIAN_FRONTEND": "noninteractive"}
    pip = [sys.executable, "-m", "pip", "config", "get"]
    index = subprocess.run([*pip, "global.index-url"], capture_output=True, text=True).stdout.strip()
    authority = subprocess.run([*pip, "global.cert"], capture_output=True, text=True).stdout.strip()
    if index := os.environ.get("PIP_INDEX_URL", index):
        env["PIP_INDEX_URL"] = index
    if authority := os.environ.get("SSL_CERT_FILE", authority):
        seen[Path(authority)] = env["PIP_CERT"] = "/tmp/outside/authority.pem"
    return replace(inside, env={**inside.env, **env}, seen=seen)


def digest(*words: str) -> str:
    """A name for what these make."""
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:16]


def megabytes(layers: Iterable[Path]) -> float:
    """What the files of these layers take."""
    found = [each.lstat() for layer in layers for each in layer.rglob("*")]
    sizes = {(each.st_dev, each.st_ino): each.st_size for each in found if S_ISREG(each.st_mode)}
    return sum(sizes.values()) / 1e6
