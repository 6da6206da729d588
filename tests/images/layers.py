"""Layers of files, one over the other, and commands in them: what an engine does, by mount and chroot.

A command sees its own mounts, processes and nothing else of the machine's root; all of it ends with the
command. With a new layer it may write, and what it writes is that layer; without one nothing can be written
but /tmp, as in a pod whose root file system is read-only.
"""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

IN_MOUNTS = """
set -eu
root=$1 options=$2 user=$3 workdir=$4; shift 4
mount -t overlay -o "$options" overlay "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind -o ro /sys "$root/sys"
mount --bind -o ro /etc/hosts "$root/etc/hosts"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
while [ "$1" != -- ]; do # what of this machine is seen, and where
  if [ -d "$1" ]; then mkdir -p "$root$2"; else mkdir -p "$(dirname "$root$2")"; touch "$root$2"; fi
  mount --bind "$1" "$root$2"; shift 2
done
shift
if [ "$user" = 0:0 ]; then exec chroot "$root" /usr/bin/env -i -C "$workdir" "$@"; fi
exec chroot "$root" /usr/bin/setpriv --reuid="${user%:*}" --regid="${user#*:}" --clear-groups \\
  --no-new-privs --inh-caps=-all --bounding-set=-all /usr/bin/env -i -C "$workdir" "$@"
"""
PROGRAMS = ("debootstrap", "unshare", "chroot", "setpriv")


@dataclass(frozen=True)
class Container:
    """What a command runs in."""

    layers: Sequence[Path]
    """the lowest first"""
    env: Mapping[str, str]
    user: str = "0:0"
    workdir: str = "/"
    seen: Mapping[Path, str] = field(default_factory=dict)
    """folders and files of this machine, and where they are"""

    def command(self, words: Sequence[str], scratch: Path, *, new: Path | None = None) -> list[str]:
        """The command line that runs these words in it; `scratch` is an empty folder."""
        root, lower = scratch / "root", ":".join(str(layer) for layer in reversed(self.layers))
        root.mkdir()
        options = f"lowerdir={lower}"
        if new:
            (scratch / "work").mkdir()
            options += f",upperdir={new},workdir={scratch / 'work'}"
        env = [f"{name}={value}" for name, value in self.env.items()]
        seen = [str(word) for pair in self.seen.items() for word in pair]
        apart = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
        sandbox = ["sh", "-c", IN_MOUNTS, "sh", str(root), options, self.user, self.workdir]
        return [*apart, *sandbox, *seen, "--", *env, *words]


def why_not() -> str:
    """Why layers cannot be made here; empty if they can."""
    if os.geteuid() != 0:
        return "needs root: for chroot and mounts"
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        return f"needs {', '.join(missing)} on the PATH"
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True).returncode:
        return "needs the right to make namespaces"
    return ""
