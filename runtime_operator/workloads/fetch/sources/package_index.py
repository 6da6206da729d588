"""Where the wheel of a package is: a folder of wheels, or an index that speaks the simple repository API."""

from __future__ import annotations

import configparser
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urljoin, urlsplit

from ..hidden import Secrets, shown
from ..http_client import Document, Http
from ..troubles import FetchError

ACCEPT = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_CONFIGURATIONS = ("/etc/pip.conf", "~/.config/pip/pip.conf", "~/.pip/pip.conf")
_SHA256 = re.compile(r"[0-9a-fA-F]{64}")
_ANCHOR = re.compile(r"<a\b[^>]*?href=[\"']([^\"']+)[\"'][^>]*>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Wheel:
    """A wheel as an index lists it."""

    file: str
    url: str
    sha256: str


def find_wheel(name: str, version: str, *, http: Http, secrets: Secrets, text: str) -> Wheel | Path:
    """The wheel of a version: one that fits any machine rather than another."""
    for folder in (secrets.get("PIP_FIND_LINKS") or secrets.get("UV_FIND_LINKS") or "").split():
        if os.path.isdir(folder):
            local = {path.name: path for path in Path(folder).glob("*.whl")}
            if best := _best(list(local), name, version):
                return local[best]
    index = index_url(secrets)
    page = http.request("GET", f"{index}/{_normal(name)}/", headers={"Accept": ACCEPT})
    wheels = {wheel.file: wheel for wheel in wheels_of(page)}
    best = _best(list(wheels), name, version)
    if best is None:
        raise FetchError(f"{text}: {shown(index)} has no wheel of {name} {version} with a SHA-256")
    return _with_password(wheels[best], index)


def index_url(secrets: Secrets) -> str:
    """The index that pip or uv would ask."""
    names = ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
    given = next((value for name in names if (value := secrets.get(name))), None) or _configured()
    index = (given or _pips_own()).rstrip("/")
    secrets.hide(urlsplit(index).password)
    return index


def wheels_of(page: Document) -> list[Wheel]:
    """The wheels that a page lists with a SHA-256; none where it is no such page."""
    is_json = "json" in page.headers.get("content-type", "")
    found = _from_json(page.body) if is_json else _from_html(page.body)
    wheels = []
    for file, href, sha256 in found:
        with suppress(ValueError):  # an address that is none
            if file.endswith(".whl") and _SHA256.fullmatch(sha256):
                wheels.append(Wheel(file, urljoin(page.url, href), sha256))
    return wheels


def _pips_own() -> str:
    """The index that pip asks where nobody configured one."""
    try:
        from pip._internal.models.index import PyPI
    except ImportError:
        raise FetchError("package://: no index is configured, set PIP_INDEX_URL to the one to ask") from None
    return str(PyPI.simple_url)


def _configured() -> str | None:
    for name in (os.environ.get("PIP_CONFIG_FILE", ""), *_CONFIGURATIONS):
        parser = configparser.RawConfigParser()
        try:
            parser.read(Path(name).expanduser(), encoding="utf-8")
        except (OSError, configparser.Error, UnicodeDecodeError):
            continue
        if value := parser.get("global", "index-url", fallback=None):
            return value
    return None


def _from_json(body: bytes) -> Iterator[tuple[str, str, str]]:
    """File, address and SHA-256 of each entry that has all three."""
    try:
        page = json.loads(body)
    except (ValueError, RecursionError):
        return
    files = page.get("files") if isinstance(page, dict) else None
    for file in files if isinstance(files, list) else ():
        if isinstance(file, dict) and isinstance(hashes := file.get("hashes"), dict):
            found = file.get("filename"), file.get("url"), hashes.get("sha256")
            if all(isinstance(each, str) for each in found):
                yield cast(tuple[str, str, str], found)


def _from_html(body: bytes) -> Iterator[tuple[str, str, str]]:
    for found in _ANCHOR.findall(body.decode("utf-8", "replace")):
        href, _, fragment = unescape(found).partition("#")
        file = unquote(href.partition("?")[0].rpartition("/")[2])
        if fragment.startswith("sha256="):
            yield file, href, fragment.removeprefix("sha256=")


def _best(files: list[str], name: str, version: str) -> str | None:
    fitting = []
    for file in sorted(files):
        parts = file.removesuffix(".whl").split("-")
        if len(parts) >= 5 and _normal(parts[0]) == _normal(name) and unquote(parts[1]) == version:
            fitting.append(file)
    anywhere = [file for file in fitting if file.endswith("-none-any.whl")]
    return next(iter(anywhere or fitting), None)


def _with_password(wheel: Wheel, index: str) -> Wheel:
    """An index with a password in its address serves its files to the same password."""
    given, own = urlsplit(index), urlsplit(wheel.url)
    if given.username and not own.username and given.hostname == own.hostname:
        user = given.netloc.rpartition("@")[0]
        return Wheel(wheel.file, own._replace(netloc=f"{user}@{own.netloc}").geturl(), wheel.sha256)
    return wheel


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
