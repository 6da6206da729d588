"""Shows kubectl at work: the command as a person would type it, then what it prints."""

from __future__ import annotations

import click

from ..control_plane.plane import Plane
from ..pod_programs import kubectl


def show_kubectl(plane: Plane, namespace: str, *words: str) -> None:
    """Run it and print both."""
    click.echo(f"\n$ kubectl {' '.join(words)}")
    done = kubectl(plane, namespace, *words)
    click.echo((done.stdout + done.stderr).rstrip())
