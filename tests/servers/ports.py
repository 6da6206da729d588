"""A port of loopback that nobody listens on, for a program that cannot choose one itself."""

from __future__ import annotations

import socket


def free_port() -> int:
    """A free port; another process could take it before it is used, which then says so."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
