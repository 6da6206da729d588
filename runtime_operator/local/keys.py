"""Fresh key material for the objects of a job, drawn when it is first asked for.

Render draws no random numbers; it takes keys from a mapping. Most jobs need none, so nothing is drawn until
a plug-in looks.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

from ..errors import SetupError

PRIVATE, PUBLIC = "ssh-privatekey", "ssh-publickey"


class DrawnKeys(Mapping[str, str]):
    """A pair of ssh keys, made by ssh-keygen."""

    @cached_property
    def _pair(self) -> dict[str, str]:
        with TemporaryDirectory() as folder:
            path = Path(folder) / "key"
            command = [
                "ssh-keygen",
                "-q",
                "-t",
                "ecdsa",
                "-b",
                "521",
                "-N",
                "",
                "-C",
                "kfp-trainer",
                "-f",
                str(path),
            ]
            try:
                subprocess.run(command, check=True, capture_output=True)
            except FileNotFoundError:
                raise SetupError(
                    "ssh-keygen: not found on this machine, and MPI needs keys; install the OpenSSH client"
                ) from None
            return {PRIVATE: path.read_text(), PUBLIC: path.with_suffix(".pub").read_text()}

    def __getitem__(self, name: str) -> str:
        if name not in (PRIVATE, PUBLIC):
            raise KeyError(name)
        return self._pair[name]

    def __iter__(self) -> Iterator[str]:
        return iter((PRIVATE, PUBLIC))

    def __len__(self) -> int:
        return 2
