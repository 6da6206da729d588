"""HTTP as sources use it: small documents whole, files by the range; one answer, no retries.

    request()     a document (an index, a token), redirects followed, at most `most` bytes
    head()        what a file is: size, validator, whether ranges are served
    open_range()  a part of a file as a stream, checked against the validator it was listed with

An answer becomes bytes or one of `troubles.py`: 401 and 403 Expired; 408, 425, 429 and 5xx Transient with
their Retry-After; 412 and 416 Changed; any other refusal FetchError. Authorization is sent to the host it
was meant for and not to where that host redirects; a redirect from https to http is refused.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPException, InvalidURL
from urllib.parse import urljoin, urlsplit

from .bodies import Body
from .chunks import Chunks
from .connections import Connections, Limits, Place, proxy_headers
from .hidden import Secrets, shown
from .http_address import host_of, origin, place_and_target, without_authorization
from .http_answers import MODIFIED, check_answer, conditions, number, retry_after
from .troubles import Changed, Expired, FetchError, Refusal, Transient
from .wire import Answer, BadRequest, Wire

MOST_REDIRECTS = 10
MOST_BYTES = 64 << 20
AGENT = "kfp-trainer-fetch"
_REDIRECTS = (301, 302, 303, 307, 308)
_TRANSIENT = (408, 425, 429)
_DENIED = (401, 403)
_WORTH_ASKING = 1 << 20
"""a file of this size is worth a request to find out whether ranges of it are served"""
_HEAD_REFUSED = (400, 403, 405, 501)
"""what servers say that know no HEAD, and signed addresses that are good for GET alone"""
_CODE = re.compile(rb"<Code>([A-Za-z0-9]+)</Code>|\"(?:code|error|message)\"\s*:\s*\"([^\"]{1,200})\"")
_MOST_SAID = 4096
_EXPIRED_CODES = ("ExpiredToken", "RequestTimeTooSkewed", "TokenRefreshRequired", "InvalidToken")


@dataclass(frozen=True, slots=True)
class Document:
    """A small answer, read to its end."""

    status: int
    headers: Mapping[str, str]
    """by lower-case name"""
    body: bytes
    url: str
    """where it came from in the end; may hold a signed query"""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the headers say about a file."""

    size: int | None
    etag: str
    """ETag as it stands, or `modified:DATE` where there is none, or nothing"""
    ranges: bool
    content_type: str
    url: str


class Http:
    """A client for many threads."""

    def __init__(
        self, secrets: Secrets, *, headers: Mapping[str, str] | None = None, limits: Limits | None = None
    ) -> None:
        self._secrets = secrets
        self._headers = {"User-Agent": AGENT, "Accept-Encoding": "identity", **(headers or {})}
        self._connections = Connections(limits or Limits())
        self._landed: dict[str, str] = {}

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        most: int = MOST_BYTES,
    ) -> Document:
        """Send a request and read the whole answer."""
        answer, place, connection, landed = self._follow(method, url, headers or {}, body)
        reader = self._body(answer, place, connection, url)
        with reader:
            content = reader.read_all(most)
        return Document(answer.status, answer.headers, content, landed)

    def head(self, url: str, *, headers: Mapping[str, str] | None = None) -> Facts:
        """Ask what a file is, by HEAD, or by its first byte where HEAD is not served."""
        try:
            found = self.request("HEAD", url, headers=headers)
        except (FetchError, Transient) as error:
            if error.refusal is None or error.refusal.status not in _HEAD_REFUSED:
                raise
            return self._first_byte(url, headers or {})
        size = number(found.headers.get("content-length"))
        ranges = found.headers.get("accept-ranges", "").strip().lower()
        if not ranges and (size or 0) >= _WORTH_ASKING:  # many servers serve ranges and do not say so
            ranges = "bytes" if self._first_byte(url, headers or {}).ranges else "none"
        return _facts(found.headers, size, ranges == "bytes", found.url)

    def open_range(
        self,
        url: str,
        start: int,
        stop: int | None,
        *,
        headers: Mapping[str, str] | None = None,
        etag: str = "",
        size: int | None = None,
    ) -> Body:
        """Open the bytes from start up to stop; Changed where the file is not the one of `etag` and `size`.

        `etag` is what `head` said. Give none where the host that serves the bytes has another opinion of
        it than the index that was asked.
        """
        whole = start == 0 and (stop is None or stop == size)
        asked = dict(headers or {}) | conditions(etag)
        if not whole:
            asked["Range"] = f"bytes={start}-{'' if stop is None else stop - 1}"
        answer, place, connection, _ = self._follow_again(url, asked)
        try:
            check_answer(answer, url, start, stop, etag, size, whole=whole)
        except BaseException:
            connection.close()
            raise
        return self._body(answer, place, connection, url)

    def forget(self) -> None:
        """Forget where redirects led, for example because their signatures have run out."""
        self._landed.clear()

    def close(self) -> None:
        """Close what is idle."""
        self._connections.close()

    def _first_byte(self, url: str, headers: Mapping[str, str]) -> Facts:
        answer, _, connection, landed = self._follow("GET", url, {**headers, "Range": "bytes=0-0"}, None)
        found = answer.headers
        connection.close()
        if answer.status == 206:
            total = number(found.get("content-range", "").rpartition("/")[2])
            return _facts(found, total, total is not None, landed)
        return _facts(found, number(found.get("content-length")), False, landed)

    def _follow_again(self, url: str, headers: Mapping[str, str]) -> tuple[Answer, Place, Wire, str]:
        """GET, straight from where the last redirect led, or from the start where that is no longer good."""
        landed = self._landed.get(url)
        if landed is not None:
            moved = origin(landed) != origin(url)
            try:
                return self._follow("GET", landed, without_authorization(headers) if moved else headers, None)
            except Changed:
                raise
            except FetchError:
                self._landed.pop(url, None)
        found = self._follow("GET", url, headers, None)
        if found[3] != url:
            self._landed[url] = found[3]
        return found

    def _follow(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[Answer, Place, Wire, str]:
        first, seen = url, {url}
        while True:
            answer, place, connection = self._send(method, url, headers, body)
            if answer.status not in _REDIRECTS:
                if answer.status >= 400:
                    trouble = self._refusal(answer, connection, shown(first))
                    trouble.refusal = Refusal(answer.status, answer.headers, url)
                    raise trouble
                return answer, place, connection, url
            connection.close()
            target = _redirected(url, answer.headers.get("location", ""), first)
            if target in seen or len(seen) > MOST_REDIRECTS:
                raise FetchError(f"{shown(first)}: redirects in a circle, by way of {shown(target)}")
            if origin(target) != origin(url):
                headers = without_authorization(headers)
            seen.add(target)
            url = target

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> tuple[Answer, Place, Wire]:
        place, target, pair = place_and_target(url)
        asked = {"host": "", **self._headers, **pair, **headers}
        proxy = self._connections.proxied(place) if place[0] == "http" else None
        if proxy is not None:
            target, asked = f"http://{place[1]}{target}", {**asked, **proxy_headers(proxy)}
        while True:
            try:
                asked["host"] = asked["host"] or host_of(place)
                connection, used = self._connections.take(place)
            except (InvalidURL, UnicodeError, OverflowError):
                raise FetchError(
                    f"{shown(url)}: {shown(place[1])!a} is not a host that can be asked"
                ) from None
            except (OSError, HTTPException) as error:
                raise self._broken(shown(url), error) from None
            try:
                return connection.ask(method, target, asked, body), place, connection
            except BadRequest as error:
                connection.close()
                raise FetchError(f"{shown(url)}: cannot be asked for, {error}") from None
            except (OSError, HTTPException) as error:
                connection.close()
                if not (used and isinstance(error, ConnectionError)):
                    raise self._broken(shown(url), error) from None

    def _body(self, answer: Answer, place: Place, connection: Wire, url: str) -> Body:
        def finished(*, reusable: bool) -> None:
            if reusable:
                self._connections.give_back(place, connection)
            else:
                connection.close()

        return Body(answer, finished, url)

    def _broken(self, name: str, error: Exception) -> FetchError | Transient:
        if isinstance(error, ssl.SSLCertVerificationError):
            why = self._secrets.clean(error.verify_message)
            return FetchError(
                f"{name}: its certificate is not trusted ({why}), name the authority in SSL_CERT_FILE"
            )
        why = self._secrets.clean(str(error)) or type(error).__name__
        return Transient(f"{name}: no connection ({why})")

    def _refusal(self, answer: Answer, connection: Wire, name: str) -> FetchError | Transient:
        """The trouble that an answer of 400 and above stands for."""
        said = _said(answer)
        connection.close()
        found = _CODE.search(said)
        code = (found.group(1) or found.group(2)).decode("utf-8", "replace") if found else ""
        why = f"{answer.status} {answer.reason}" + (f" ({self._secrets.clean(code)})" if code else "")
        status = answer.status
        if status in _TRANSIENT or status >= 500:
            return Transient(
                f"{name}: {why}", after=retry_after(answer.headers.get("retry-after"), time.time())
            )
        if status in _DENIED or code in _EXPIRED_CODES:
            return Expired(f"{name}: {why}, check the credentials and what they may read")
        if status in (412, 416):
            return Changed(f"{name}: {why}, the file changed while it was fetched")
        if status in (404, 410):
            return FetchError(
                f"{name}: {why}, mind the spelling, the revision and what the credentials may see"
            )
        return FetchError(f"{name}: {why}")


def _said(answer: Answer) -> bytes:
    """The first bytes of what a refusal says, as far as they come."""
    body = Chunks(answer.file) if answer.chunked else answer.file
    room = _MOST_SAID if answer.length is None else min(_MOST_SAID, answer.length)
    said, filled = memoryview(bytearray(room)), 0
    with suppress(OSError, ValueError):
        while filled < room and (count := body.readinto1(said[filled:])):
            filled += count
    return bytes(said[:filled])


def _facts(headers: Mapping[str, str], size: int | None, ranges: bool, url: str) -> Facts:
    modified = headers.get("last-modified", "")
    etag = headers.get("etag", "") or (f"{MODIFIED}{modified}" if modified else "")
    return Facts(size, etag, ranges and size is not None, headers.get("content-type", ""), url)


def _redirected(url: str, location: str, first: str) -> str:
    """Where an answer leads; FetchError where nobody should follow."""
    with suppress(UnicodeError):  # written in UTF-8, as most servers do, and not as the rules have it
        location = location.encode("latin-1").decode("utf-8")
    try:
        target = urljoin(url, location)
        place_and_target(target)
    except ValueError:
        raise FetchError(f"{shown(first)}: redirects to what is no address") from None
    scheme = urlsplit(target).scheme
    if scheme not in ("http", "https"):
        raise FetchError(f"{shown(first)}: redirects to {shown(target)}, which is not HTTP")
    if urlsplit(url).scheme == "https" and scheme == "http":
        raise FetchError(f"{shown(first)}: redirects from https to {shown(target)}, which is not encrypted")
    return target
