"""From a container of a document to what its launcher is told: command, environment, mounts.

Everything is looked up and computed anew at each start, as a kubelet does. In a pod without a view of its own
paths, names and ports are rewritten here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .attempt import Attempt
from .bench import Bench
from .environment import stated_env
from .expansion import expand
from .failures import StartError
from .gpus import visible_devices
from .hosts import hosts_text
from .identity import Identity, identity_of
from .images import Image, command_line, image_env
from .isolation import launch_config
from .mounts import Mount, container_mounts, make_sources
from .pod import TERMINATION_LOG, Container, containers, hostname_of
from .references import Found, look_up
from .rewriting import Rules
from .strays import MARK
from .volumes import locate, make_volumes

HOME = Path(__file__).resolve().parents[3]
OURS = (
    Path(sys.base_prefix),
    *(HOME / name for name in ("components", "manifests", "pipelines", "runtime_operator")),
)
"""the interpreter and this program, which may be installed from a checkout anywhere"""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A container that can be started."""

    config: dict[str, Any]
    """what the launcher is told"""
    rules: Rules
    """how words are rewritten that run in it later"""


async def prepare(container: Container, attempt: Attempt, bench: Bench) -> Prepared:
    """Look everything up, make the volumes; ConfigError or StartError when the container cannot start."""
    found = await look_up(bench.pod, bench.resolver)
    image, _ = bench.settings.images.find(str(container.spec.get("image") or ""))
    env = stated_env(container, bench.pod, place=bench.place, found=found, machine=bench.settings.machine)
    argv = command_line(image, container.spec)
    if not argv:
        name = container.spec.get("image")
        raise StartError(f'{container.path}: no command, and image "{name}" has none here; give a command')
    identity = identity_of(container, bench.pod, user=image.user) if bench.settings.identities else Identity()
    mounts, rules = _mounts(container, attempt, bench, found=found, env=env)
    if bench.settings.isolation.own_view:
        mounts = [
            *mounts,
            *_kept_in_view(mounts, bench.place.folder, image.environment, *OURS),
        ]
    config = launch_config(
        attempt,
        argv=rules.words([expand(word, env) for word in argv]),
        env=_machine_env(container, attempt, bench, image) | rules.env(env),
        cwd=rules.text(str(container.spec.get("workingDir") or "")) or _home(bench),
        way=bench.settings.isolation,
        mounts=[(str(mount.source), mount.target, mount.read_only) for mount in mounts],
        hostname=hostname_of(bench.pod),
        network=bench.place.network,
        identity=identity,
    )
    return Prepared(config, rules)


def _machine_env(container: Container, attempt: Attempt, bench: Bench, image: Image) -> dict[str, str]:
    """Return what the machine, the image and the node give a container; none of it is rewritten."""
    env = image_env(image, bench.settings.environ)
    env |= visible_devices(container, bench.pod, bench.place.gpus)
    env |= {"HOSTNAME": hostname_of(bench.pod), **bench.place.env}
    return env | {MARK: str(attempt.folder)}


def _home(bench: Bench) -> str:
    """Return where a container works that does not say: a folder of the pod's own."""
    folder = bench.place.folder / "work"
    folder.mkdir(exist_ok=True)
    return str(folder)


def _kept_in_view(mounts: Sequence[Mount], *folders: Path) -> list[Mount]:
    """Mount what a container cannot do without, where one of its own mounts would hide it."""
    hidden = [folder for folder in folders if any(folder.is_relative_to(mount.target) for mount in mounts)]
    return [Mount(folder, str(folder), False) for folder in hidden]


def _mounts(
    container: Container, attempt: Attempt, bench: Bench, *, found: Found, env: Mapping[str, str]
) -> tuple[Sequence[Mount], Rules]:
    """Make the volumes; return the container's mounts and how its text is rewritten."""
    own_view = bench.settings.isolation.own_view
    rules = Rules(names=_names(bench), ports=bench.place.ports)
    sources = fill_volumes(bench, found)
    mounts = container_mounts(container, bench.pod, sources=sources, env=env)
    make_sources(mounts)
    words = str(container.spec.get("terminationMessagePath") or TERMINATION_LOG)
    own = [*mounts, Mount(attempt.termination_log, words, False)]
    if own_view:
        return [*_etc(bench, taken={mount.target for mount in mounts}), *own], rules
    paths = {mount.target: str(mount.source) for mount in own}
    return (), Rules(paths=paths, names=rules.names, ports=rules.ports)


def fill_volumes(bench: Bench, found: Found) -> Mapping[str, Path]:
    """Make the pod's volumes, or write their generated files anew; return where each lies."""
    paths = {} if bench.settings.isolation.own_view else _pod_paths(bench, found)
    rules = Rules(paths=paths, names=_names(bench), ports=bench.place.ports)
    return make_volumes(
        bench.pod, place=bench.place, found=found, machine=bench.settings.machine, rewrite=rules.content
    )


def write_hosts(bench: Bench) -> None:
    """Write the pod's /etc/hosts, in place: a container that runs sees the new text."""
    text = hosts_text(bench.pod, pod_ip=bench.place.pod_ip, names=bench.place.hosts)
    (bench.place.folder / "etc" / "hosts").write_text(text)


def _names(bench: Bench) -> dict[str, str]:
    """Return what stands for each host name: its address, or itself where the pod resolves it."""
    hosts = bench.place.hosts
    return {name: name for name in hosts} if bench.settings.isolation.own_view else dict(hosts)


def _pod_paths(bench: Bench, found: Found) -> dict[str, str]:
    """Return the folder of each mount path of the pod, for files that all its containers may read."""
    volumes = bench.pod["spec"].get("volumes") or ()
    folders = {volume["name"]: locate(volume, place=bench.place, found=found) for volume in volumes}
    return {
        mount["mountPath"]: str(folders[mount["name"]] / (mount.get("subPath") or ""))
        for container in containers(bench.pod)
        for mount in container.spec.get("volumeMounts") or ()
        if mount["name"] in folders and "subPathExpr" not in mount
    }


def _etc(bench: Bench, *, taken: set[str]) -> list[Mount]:
    """Return the files of /etc that are the pod's own."""
    folder = bench.place.folder / "etc"
    folder.mkdir(exist_ok=True)
    write_hosts(bench)
    names = ["hosts"]
    if bench.place.resolv_conf:
        (folder / "resolv.conf").write_text(bench.place.resolv_conf)
        names.append("resolv.conf")
    return [Mount(folder / name, f"/etc/{name}", False) for name in names if f"/etc/{name}" not in taken]
