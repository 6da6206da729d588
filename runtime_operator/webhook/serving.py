"""One TLS context that all our servers share, and its pair, kept fresh while they run.

A pair that changed is loaded into the context: handshakes from then on get it, open connections go on. A
failed look (API server away, file half written) changes nothing; the next one mends it.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
import tempfile
from pathlib import Path

from ..errors import KfpTrainerError
from ..kube.transport import Transport
from .certificate_store import Store
from .certificates import Pair
from .metrics import AdmissionMetrics
from .trust import CONFIGURATIONS, Configurations, publish

LOG = logging.getLogger(__name__)
LOOK_EVERY = 60.0  # seconds
HEARD_AFTER = 1.0  # seconds in which every API server has surely seen a changed configuration
LOOK_AGAIN = 2.0  # seconds, after a look that failed


class Serving:
    """The context, and whether it has a pair that the API server trusts."""

    def __init__(
        self,
        store: Store,
        transport: Transport,
        metrics: AdmissionMetrics,
        *,
        publishes: bool = True,
        configurations: Configurations = CONFIGURATIONS,
    ) -> None:
        self._store, self._transport, self._metrics = store, transport, metrics
        self._configurations = configurations
        self._publishes = publishes and store.publishes
        self._pair: Pair | None = None
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ready = asyncio.Event()

    @property
    def authority(self) -> bytes:
        """What clients of our servers must trust; empty as long as it is not known."""
        return b"" if self._pair is None else self._pair.authority

    async def look(self) -> None:
        """Take the pair of now, and let the API server trust it."""
        pair, before = await self._store.pair(), self.authority
        if pair == self._pair:
            await self._publish(pair.authority)
        else:
            trusted = pair.authority if before in pair.authority else pair.authority + before
            await self._publish(trusted)
            if (
                trusted != pair.authority
            ):  # another authority: API servers must hear of it before they meet it
                await asyncio.sleep(HEARD_AFTER)
            self._serve_with(pair)
        self.ready.set()

    async def _publish(self, authority: bytes) -> None:
        if self._publishes:
            await publish(self._transport, authority, self._configurations)

    def _serve_with(self, pair: Pair) -> None:
        _load(self.context, pair)
        self._pair = pair
        self._metrics.certificate_ends.set(pair.ends.timestamp())
        LOG.info("serving with a certificate", extra={"until": pair.ends.isoformat()})

    async def keep(self, *, every: float = LOOK_EVERY, again: float = LOOK_AGAIN) -> None:
        """Look for ever."""
        while True:
            try:
                await self.look()
            except (KfpTrainerError, ValueError, ssl.SSLError, OSError) as error:
                LOG.warning("the certificate cannot be looked after", extra={"why": str(error)})
                await asyncio.sleep(again)
            else:
                await asyncio.sleep(every)


def _load(context: ssl.SSLContext, pair: Pair) -> None:
    """Load a pair, for which OpenSSL wants files."""
    with tempfile.TemporaryDirectory(prefix="kfp-trainer-") as folder:
        both = Path(folder, "pair.pem")
        both.touch(mode=0o600)
        both.write_bytes(pair.key.rstrip() + b"\n" + pair.certificate)
        context.load_cert_chain(both)
