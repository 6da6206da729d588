"""Who of several replicas acts: the one that holds a Lease, and never two at a time.

The leader counts its time from before it sent its last renewal that succeeded, and stops when `renew_within`
has passed, whether or not an answer to the next one is still to come. A follower counts from when it saw the
Lease last change, and waits the longer `lease_seconds`. Both use the loop's clock, which nobody sets back;
the times written in the Lease are for people. One gap is left open, for closing it would delay every first
start: a Lease that is deleted by hand while a replica starts that has never seen it.

    acquire   wait until the Lease is free or its holder silent, then take it with a precondition
    lead      run the work, renew beside it; on loss say so at once, cancel the work, raise
    release   when the work ends by itself or is stopped, so that another need not wait
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from typing import Any

import orjson

from ..errors import KfpTrainerError
from .backoff import Chance
from .cache import Json
from .errors import ApiError, NotFound
from .resource import LEASES
from .transport import Transport

LOG = logging.getLogger(__name__)

LEASE_SECONDS, RENEW_WITHIN, RENEW_EVERY = 15.0, 10.0, 2.0
RELEASE_WITHIN = 2.0


class LeadershipLost(KfpTrainerError):
    """Another may be leading now: this process must do nothing more."""


def utc_now() -> datetime:
    """Return the time of day."""
    return datetime.now(UTC)


class Election:
    """One replica's part in it."""

    def __init__(
        self,
        transport: Transport,
        namespace: str,
        name: str,
        identity: str,
        *,
        lost: Callable[[], None] = lambda: None,
        lease_seconds: float = LEASE_SECONDS,
        renew_within: float = RENEW_WITHIN,
        renew_every: float = RENEW_EVERY,
        now: Callable[[], datetime] = utc_now,
        chance: Chance = random.random,
    ) -> None:
        self.holder = ""
        """who leads, as far as this replica knows"""
        self._transport, self._namespace, self._name, self._identity = transport, namespace, name, identity
        self._lost, self._now, self._chance = lost, now, chance
        self._lease_seconds, self._renew_within, self._renew_every = lease_seconds, renew_within, renew_every
        self._clock = asyncio.get_running_loop().time
        self._lease: Json = {}
        """as last read or written, for the precondition of the next write; empty if there is none"""
        self._spec: Json = {}
        self._changed = self._clock()
        self._leads = self._in_doubt = False
        self._renewed = float("-inf")

    @property
    def is_leader(self) -> bool:
        """Whether this replica may act at this moment."""
        return self._leads and self._clock() < self._renewed + self._renew_within

    async def lead(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Wait for leadership and run the work under it; LeadershipLost if it ends before the work does."""
        await self.acquire()
        working, renewing = asyncio.create_task(work()), asyncio.create_task(self._renew_until_lost())
        try:
            await asyncio.wait((working, renewing), return_when=asyncio.FIRST_COMPLETED)
            if renewing.done():
                renewing.result()
            working.result()
        finally:
            try:  # what the work does to its end is under the lease too
                working.cancel()
                await asyncio.wait((working,))
            finally:
                renewing.cancel()
            if self._leads:
                await self.release()

    async def acquire(self) -> None:
        """Wait until this replica leads."""
        while not await self._try_to_acquire():
            await asyncio.sleep(self._renew_every * (0.9 + 0.2 * self._chance()))
        self._leads, self.holder = True, self._identity
        LOG.info("%s leads", self._identity)

    async def release(self) -> None:
        """Give the Lease back, if there is time; nothing is lost if not, for it runs out."""
        self._leads = False
        try:
            async with asyncio.timeout(RELEASE_WITHIN):
                await self._write({**self._spec, "holderIdentity": "", "leaseDurationSeconds": 1})
        except (ApiError, TimeoutError) as error:
            LOG.info("the lease was not given back: %s", error)

    async def _try_to_acquire(self) -> bool:
        began = self._clock()
        try:
            async with asyncio.timeout(self._renew_within):
                await self._look()
                if not self._is_free():
                    return False
                await self._take()
        except (ApiError, TimeoutError) as error:  # another was faster, or nobody answers
            LOG.info("%s does not lead: %s", self._identity, error)
            return False
        self._renewed = began
        return True

    async def _look(self) -> None:
        """Read the Lease, and note when it changed."""
        try:
            self._lease = orjson.loads(await self._transport.get(LEASES, self._namespace, self._name))
        except NotFound:
            self._lease = {}
            return
        spec = self._lease.get("spec") or {}  # an installation makes it empty
        if spec != self._spec:
            self._spec, self._changed = spec, self._clock()
        self.holder = self._spec.get("holderIdentity") or ""

    def _is_free(self) -> bool:
        """Whether it may be taken; a deleted one leaves its holder as much time as a silent one."""
        if self.holder in ("", self._identity):
            return True
        return self._clock() - self._changed >= self._lease_seconds

    async def _take(self) -> None:
        stamp = _stamp(self._now())
        await self._write(
            {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": round(self._lease_seconds),
                "acquireTime": stamp,
                "renewTime": stamp,
                "leaseTransitions": self._spec.get("leaseTransitions", 0) + bool(self._spec),
            }
        )

    async def _renew_until_lost(self) -> None:
        while True:
            await asyncio.sleep(self._renew_every)
            try:
                async with asyncio.timeout_at(self._renewed + self._renew_within):
                    await self._renew()
            except (TimeoutError, LeadershipLost) as error:
                self._leads = False
                self._lost()
                why = str(error) or f"no renewal within {self._renew_within:.0f} s"
                raise LeadershipLost(f"lease {self._namespace}/{self._name}: {why}") from error

    async def _renew(self) -> None:
        """Renew once, however many tries it takes; whoever calls sets the deadline."""
        while True:
            began = self._clock()
            try:
                if self._in_doubt:
                    await self._make_sure()
                await self._write({**self._spec, "renewTime": _stamp(self._now())})
            except ApiError as error:
                LOG.warning("the lease is not renewed: %s", error)
                self._in_doubt = True
                await asyncio.sleep(self._renew_every / 4)
            else:
                self._renewed, self._in_doubt = began, False
                return

    async def _make_sure(self) -> None:
        """Look who holds the Lease after a write that failed; one that was deleted is made again."""
        await self._look()
        if self._lease and self.holder != self._identity:
            raise LeadershipLost(f"is held by {self.holder or 'nobody'}")

    async def _write(self, spec: Json) -> None:
        """Write the Lease on condition that it is as last seen; a refusal if it is not."""
        metadata = {"name": self._name, "namespace": self._namespace}
        lease: Json = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": metadata,
            "spec": spec,
        }
        if self._lease:
            metadata["resourceVersion"] = self._lease["metadata"]["resourceVersion"]
            raw = await self._transport.patch(LEASES, self._namespace, self._name, orjson.dumps(lease))
        else:
            raw = await self._transport.create(LEASES, self._namespace, orjson.dumps(lease))
        self._lease = orjson.loads(raw)
        self._spec, self._changed = self._lease["spec"], self._clock()


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
