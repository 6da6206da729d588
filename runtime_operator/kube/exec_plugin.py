"""Credentials from a program, as a kubeconfig's `exec` names it: cloud providers' users have no other.

The `kubernetes` package knows the protocol with such programs, so it is asked, and only here. The program may
open a browser or talk to a network, so it runs in a thread, one at a time; what it gave is kept until a
minute before it ends or until the API server refuses it.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from ..errors import SetupError
from .cluster import Headers
from .identity import bearer
from .kubeconfig import load_pair

EARLY_SECONDS = 60.0
Json = dict[str, Any]


class ExecPlugin:
    """Who we are, as the program says."""

    def __init__(
        self,
        config: Json,
        beside: Path,
        tls: ssl.SSLContext,
        extra: Headers = (),
        *,
        run: Callable[[Json, Path], Json] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._config, self._beside, self._tls, self._extra = config, beside, tls, extra
        self._run, self._clock = run or run_program, clock
        self._headers: Headers = ()
        self._until = float("-inf")
        self._one_at_a_time = asyncio.Lock()

    async def headers(self) -> Headers:
        """Return what the program gave, or ask it again."""
        async with self._one_at_a_time:
            if self._clock() >= self._until:
                self._take(await asyncio.to_thread(self._run, self._config, self._beside))
        return self._headers

    def refused(self) -> None:
        """Ask the program again the next time."""
        self._until = float("-inf")

    def _take(self, status: Json) -> None:
        if status.get("clientCertificateData"):  # connections that are made from now on show it
            load_pair(self._tls, status["clientCertificateData"], status.get("clientKeyData", ""))
        token = status.get("token")
        self._headers = (bearer(token) if token else ()) + self._extra
        ends = status.get("expirationTimestamp")
        self._until = datetime.fromisoformat(ends).timestamp() - EARLY_SECONDS if ends else float("inf")


def run_program(config: Json, beside: Path) -> Json:
    """Run the program of a kubeconfig and return its ExecCredential's status."""
    try:
        from kubernetes.config.config_exception import ConfigException
        from kubernetes.config.exec_provider import ExecProvider
        from kubernetes.config.kube_config import ConfigNode
    except ImportError as error:
        raise SetupError(
            "kubeconfig: its user needs an exec plug-in; pip install 'kfp-trainer[client]'"
        ) from error
    if config.get("provideClusterInfo"):
        raise SetupError("exec.provideClusterInfo: cannot be honoured; use a plug-in that does without")
    try:
        status: Json = ExecProvider(ConfigNode("exec", config), str(beside)).run()
    except (ConfigException, OSError, AttributeError) as error:  # it trips over failures at a terminal
        raise SetupError(f"exec: {config.get('command')}: gave no credentials: {error}") from error
    return status
