"""What a hub means by a refusal, and what to do about it.

A hub tells the kind of a refusal in X-Error-Code, and hides a private repository behind "not found". When it
has had too many requests it says in RateLimit, and not in Retry-After, when it takes more.
"""

from __future__ import annotations

import re

from ..troubles import Refusal, Transient
from .hf_address import HubAddress

_EXHAUSTED = re.compile(r";\s*r\s*=\s*0\s*;\s*t\s*=\s*(\d{1,6})")


def reason(refusal: Refusal, address: HubAddress, endpoint: str, *, has_token: bool) -> str:
    """Why the hub refuses, and what would help; empty where it means nothing of its own."""
    page = f"{endpoint}/{'datasets/' if address.kind == 'dataset' else ''}{address.repo}"
    match refusal.status, refusal.headers.get("x-error-code", ""):
        case _, "RevisionNotFound":
            return f"has no revision {address.revision!r}, give a branch, a tag or a whole commit"
        case 401, "GatedRepo":
            return f"is gated: ask for access on {page}, then give a token of that account in ACCESS_TOKEN"
        case _, "GatedRepo":
            return f"is gated, and the token's account has no access: ask for it on {page}"
        case _, "EntryNotFound":
            return f"the hub lists a file at {address.revision} and does not hold it, fetch it again"
        case (404, _) | (401, "RepoNotFound"):
            shows = "the token may not see it" if has_token else "it needs a token in ACCESS_TOKEN"
            return f"there is no such {address.kind} on {endpoint}, or {shows}"
        case 401, _:
            return f"{endpoint} does not accept the token, give one that is valid in ACCESS_TOKEN"
        case 403, _:
            return "the token may not read it, give one with read access in ACCESS_TOKEN"
    return ""


def until_the_limit_resets(error: Transient) -> Transient:
    """The same trouble, with the time that the hub asks us to wait."""
    refusal = error.refusal
    if refusal is None or refusal.status != 429 or error.after:
        return error
    found = _EXHAUSTED.search(refusal.headers.get("ratelimit", ""))
    return Transient(str(error), after=float(found[1])) if found else error
