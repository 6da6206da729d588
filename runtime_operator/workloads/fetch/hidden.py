"""Secrets: where they come from, and how they are kept out of everything a person can read.

Credentials come from the environment, under the names of Trainer's initializers, since a secret is mounted
there by reference. Whatever is secret is known here, and `clean` takes it out of a text; `shown` takes
user, password, query and fragment out of an address without knowing any.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from urllib.parse import quote, quote_plus, unquote

STARS = "***"
_SECRET_NAMES = re.compile(r"(TOKEN|SECRET|PASSWORD|PASSWD|ACCESS_KEY|ACCOUNT_KEY|CREDENTIAL|SAS|_KEY$|AUTH)")
_NAMED_OPENLY = re.compile(r"(_FILE|_PATH|_URI|_URL|_ENDPOINT|APPLICATION_CREDENTIALS|SERVER_TOKEN)$")
_SHORTEST = 6
"""a shorter text may be an ordinary word, and taking it out would make messages unreadable"""
_ADDRESS = re.compile(r"\b([a-zA-Z][a-zA-Z0-9+.-]*://)([^\s'\"<>]*)")
_HEADER = re.compile(r"(?i)\b(bearer|basic|token)\s+[A-Za-z0-9._~+/=-]{6,}")


class Secrets:
    """The environment as a source may read it, and a memory of what must not be shown."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = dict(environ)
        self._hidden: set[str] = set()
        self._lock = threading.Lock()
        for name, value in environ.items():
            if _SECRET_NAMES.search(name.upper()) and not _NAMED_OPENLY.search(name.upper()):
                self.hide(value)

    def __repr__(self) -> str:
        return f"Secrets({STARS})"

    def get(self, name: str) -> str | None:
        """The value of a variable; None where it is empty, as Trainer's initializers read it."""
        return self._environ.get(name, "").strip() or None

    def hide(self, text: str | None) -> None:
        """Remember a secret, in the forms in which it can appear."""
        text = (text or "").strip()
        if len(text) < _SHORTEST:
            return
        with self._lock:
            self._hidden |= {text, quote(text), quote(text, safe=""), quote_plus(text), unquote(text)}

    def clean(self, text: str) -> str:
        """The text without anything that is secret."""
        with self._lock:
            known = sorted(self._hidden, key=len, reverse=True)
        for secret in known:
            text = text.replace(secret, STARS)
        text = _ADDRESS.sub(lambda found: shown(found.group(0)), text)
        return _HEADER.sub(lambda found: f"{found.group(1)} {STARS}", text)


def shown(address: str) -> str:
    """An address without user, password, query and fragment."""
    scheme, found, rest = address.partition("://")
    if not found:
        return address
    place = rest.split("?", 1)[0].split("#", 1)[0]
    host, slash, path = place.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
