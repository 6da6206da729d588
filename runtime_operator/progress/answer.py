"""What is answered to a post of progress, and in which order a post is refused: path, token, size, contents.

    200  kept, and sent back; a body without progress is let pass and changes nothing
    403  no token, or one that is not this job's
    404  another path, or no such job
    413  more than 64 KiB
    422  no JSON, or progress that the schema of a TrainJob's status refuses
    503  it cannot be kept now

Refusals are Kubernetes' Status objects, since that is what clients of an API server expect.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Protocol

Json = dict[str, Any]

MOST_BYTES = 64 * 1024
_PATH = re.compile(r"/apis/trainer\.kubeflow\.org/v1alpha1/namespaces/([^/]+)/trainjobs/([^/]+)/status")
_REASONS = {
    403: "Forbidden",
    404: "NotFound",
    413: "RequestEntityTooLarge",
    422: "Invalid",
    503: "ServiceUnavailable",
}


class Keeper(Protocol):
    """Knows who may post for a job, and keeps what is posted."""

    async def may_post(self, namespace: str, name: str, token: str) -> bool:
        """Tell whether a token is good for a job."""

    async def keep(self, namespace: str, name: str, progress: Json) -> bool:
        """Keep the progress of a job in the place of what was there; false where there is no such job."""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request."""

    code: int
    document: Json

    @property
    def body(self) -> bytes:
        """The document as it is sent."""
        return json.dumps(self.document).encode()


def refusal(code: int, message: str) -> Answer:
    """A refusal as an API server writes it."""
    document: dict[str, Any] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
    return Answer(code, document | {"message": message, "reason": _REASONS[code], "code": code})


async def answer(method: str, path: str, *, authorization: str, body: bytes, keeper: Keeper) -> Answer:
    """Answer a request; a body longer than allowed may be cut off one byte behind the limit."""
    found = _PATH.fullmatch(path.partition("?")[0])
    if found is None or method != "POST":
        return refusal(404, "Not found")
    namespace, name = found.groups()
    token = bearer(authorization)
    if not token or not await keeper.may_post(namespace, name, token):
        return refusal(403, "Forbidden")
    if len(body) > MOST_BYTES:
        return refusal(413, "Payload too large")
    from . import payload  # the schema takes a good part of a second to load, and not every job posts

    try:
        progress = payload.read_payload(body, name=name)
    except payload.InvalidPayload as error:
        return refusal(422, str(error))
    if progress is None:
        return Answer(200, {})
    if not await keeper.keep(namespace, name, progress):
        return refusal(404, "Train job not found")
    return Answer(200, {"trainerStatus": progress})


def bearer(authorization: str) -> str:
    """The token of an Authorization header: `Bearer TOKEN`, in whatever case, and nothing else."""
    scheme, _, token = authorization.strip().partition(" ")
    token = token.strip()
    return token if scheme.lower() == "bearer" and token and len(token.split()) == 1 else ""
