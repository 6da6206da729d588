"""The Secrets of jobs: made and never read.

Where one of its name stands already, a dry run that claims it tells whose it is, for the API server lets no
object have two controllers.
"""

from __future__ import annotations

import orjson

from ..errors import Retryable
from ..kube.errors import AlreadyExists, Invalid
from ..kube.resource import SECRETS
from ..kube.transport import APPLY_PATCH, Transport
from ..render.plan import Object
from .kinds import MANAGER

NAMESAKE_AGAIN_AFTER = 2.0  # seconds; garbage collection takes about as long


async def create_secret(transport: Transport, wanted: Object) -> None:
    """Make a Secret, or find that it is made; Retryable if it is another job's."""
    try:
        await transport.create(SECRETS, wanted["metadata"]["namespace"], orjson.dumps(wanted, default=list))
    except AlreadyExists:
        await _claim(transport, wanted)


async def _claim(transport: Transport, wanted: Object) -> None:
    """Retryable if the object of this name has another controller, which is about to go."""
    metadata = wanted["metadata"]
    claim = {
        "apiVersion": wanted["apiVersion"],
        "kind": wanted["kind"],
        "metadata": {"name": metadata["name"], "ownerReferences": metadata["ownerReferences"]},
    }
    try:
        await transport.request(
            "PATCH",
            SECRETS.path(metadata["namespace"], metadata["name"]),
            parameters={"fieldManager": MANAGER, "force": "true", "dryRun": "All"},
            body=orjson.dumps(claim),
            content_type=APPLY_PATCH,
        )
    except Invalid as refused:
        text = f"Secret {metadata['name']} belongs to another object, which has to go first"
        raise Retryable(text, after=NAMESAKE_AGAIN_AFTER) from refused
