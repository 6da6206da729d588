"""Asks a served chat model over HTTP, as OpenAI's are asked, and says in one sentence why it does not answer.

A server that is busy, that is just starting or that broke off is asked again, later each time or when it says
so itself. What asking again cannot mend is told at once; a server that hangs is waited for once.
"""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any

from ...errors import KfpTrainerError, Retryable, SetupError, SpecError

TOKEN_VARIABLE = "OPENAI_API_KEY"
WAITS = (1.0, 2.0, 4.0, 8.0)
LONGEST_WAIT = 60.0
BUSY = 429
REFUSES_KEY = (401, 403)
SHOWN = 200


class _Later(Exception):
    """It may answer when it is asked again."""

    def __init__(self, error: KfpTrainerError, after: float | None = None) -> None:
        self.error, self.after = error, after
        super().__init__(str(error))


@dataclass(frozen=True, slots=True)
class ChatClient:
    """One served model."""

    url: str
    name: str
    patience: float
    """seconds for one answer"""
    seed: int
    sleep: Callable[[float], None] = time.sleep

    def ask(self, turns: Sequence[Mapping[str, Any]], *, longest: int, ends: Sequence[str] = ()) -> str:
        """What the model says next, greedily."""
        asked: dict[str, Any] = {"model": self.name, "messages": list(turns), "max_tokens": longest}
        asked |= {"temperature": 0, "seed": self.seed}
        if ends:
            asked["stop"] = list(ends)[:4]  # more are refused
        for wait in WAITS:
            try:
                return self._post(asked)
            except _Later as later:
                self.sleep(min(LONGEST_WAIT, wait if later.after is None else later.after))
        try:
            return self._post(asked)
        except _Later as later:
            raise later.error from later

    def _post(self, asked: Mapping[str, Any]) -> str:
        headers = {"Content-Type": "application/json"}
        if key := os.environ.get(TOKEN_VARIABLE):
            headers["Authorization"] = f"Bearer {key}"
        request = urllib.request.Request(
            f"{self.url}/chat/completions", json.dumps(asked).encode(), headers, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=self.patience) as answer:
                return self._said(answer.read())
        except urllib.error.HTTPError as error:
            raise self._refused(error) from error
        except (OSError, HTTPException) as error:
            raise self._unreached(error) from error

    def _said(self, body: bytes) -> str:
        try:
            content = json.loads(body)["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError):
            raise SetupError(
                f"{self.url}: answers as no chat model does, it says {_short(body)!r}; give its URL up to /v1"
            ) from None
        return str(content or "")

    def _refused(self, error: urllib.error.HTTPError) -> Exception:
        said = _short(error.read())
        words = f"{error.code} {error.reason}: {said}" if said else f"{error.code} {error.reason}"
        if error.code == BUSY or error.code >= 500:
            text = f"{self.url}: is too busy or broken ({words}), lower batch_size or ask it later"
            return _Later(Retryable(text, after=LONGEST_WAIT), _seconds(error.headers.get("Retry-After")))
        if error.code in REFUSES_KEY:
            return SetupError(f"{self.url}: refuses to answer ({words}), put its key into {TOKEN_VARIABLE}")
        return SpecError(
            f"{self.url}: refuses the question ({words}), check the URL up to /v1 and the name {self.name}"
        )

    def _unreached(self, error: OSError | HTTPException) -> Exception:
        reason = getattr(error, "reason", error)
        if isinstance(reason, TimeoutError):
            return Retryable(
                f"{self.url}: did not answer within {self.patience:g} s, raise patience or ask it later",
                after=0,
            )
        words = " ".join(str(reason).split()) or type(reason).__name__
        return _Later(SetupError(f"{self.url}: cannot be reached, {words}; start it or correct the URL"))


def _short(body: bytes) -> str:
    """A server's own words, from the document in which most say them."""
    text = body.decode("utf-8", "replace")
    try:
        told = json.loads(text)["error"]
        text = str(told["message"] if isinstance(told, dict) else told)
    except (ValueError, LookupError, TypeError):
        pass
    return " ".join(text.split())[:SHOWN]


def _seconds(text: str | None) -> float | None:
    """What Retry-After says, where it says a number."""
    try:
        return max(0.0, float(text)) if text else None
    except ValueError:
        return None
