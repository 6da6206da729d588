"""A hub that speaks Hugging Face's HTTP API: enough for the unmodified huggingface_hub to fetch from it.

Repositories are folders in memory, a commit an immutable tree of them. Big or binary files are LFS files: the
hub answers their address with a redirect to a CDN on another host, by a signed address that expires and that
refuses an Authorization header, as object stores do. What a client asks stands in `asked` of both servers.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote

from .web import OTHER_NAME, Answer, Asked, WebServer, ranged, sha256

LFS_SUFFIXES = frozenset({".safetensors", ".bin", ".parquet", ".gguf", ".pt", ".arrow"})
LFS_SIZE = 10_000_000
SECRET = b"key of the signed addresses"

Body = bytes | Path


@dataclass(frozen=True)
class Blob:
    """A file of a commit, with the digests that the hub states for it."""

    body: Body
    lfs: bool
    size: int
    sha256: str
    git_id: str

    @property
    def etag(self) -> str:
        return f'"{self.sha256 if self.lfs else self.git_id}"'


@dataclass
class Repo:
    """A repository: who may read it, its commits, and what its branches and tags point to."""

    token: str | None = None
    gated: bool = False
    commits: dict[str, dict[str, Blob]] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)


class Hub:
    """The hub and its CDN, for the length of a `with` block."""

    def __init__(self, *, page: int = 1000, signed_for: float = 3600) -> None:
        self.repos: dict[tuple[str, str], Repo] = {}
        self.page = page
        self.signed_for = signed_for
        self.xet: XetStore | None = None
        self.web = WebServer(self._answer)
        self.cdn = WebServer(self._answer_of_cdn, name=OTHER_NAME)
        self._blobs: dict[str, Blob] = {}

    @property
    def url(self) -> str:
        return self.web.url

    def __enter__(self) -> Hub:
        self.web.__enter__()
        self.cdn.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.cdn.__exit__(*error)
        self.web.__exit__(*error)

    def add(
        self,
        name: str,
        files: Mapping[str, Body],
        *,
        kind: str = "model",
        ref: str = "main",
        token: str | None = None,
        gated: bool = False,
    ) -> str:
        """Commit a tree to a branch or tag, and return the commit; `token` is what a reader must show."""
        repo = self.repos.setdefault((kind, name), Repo())
        repo.token, repo.gated = token, gated
        tree = {path: _blob(path, body) for path, body in files.items()}
        told = "".join(f"{path} {blob.sha256}\n" for path, blob in sorted(tree.items()))
        commit = hashlib.sha1(f"{kind} {name}\n{told}".encode()).hexdigest()
        repo.commits[commit] = tree
        repo.refs[ref] = commit
        self._blobs |= {blob.sha256: blob for blob in tree.values()}
        return commit

    def _answer(self, asked: Asked) -> Answer:
        # a revision may hold a slash, and comes with it escaped
        parts = [unquote(part) for part in asked.target.partition("?")[0].strip("/").split("/")]
        if parts[0] == "api":
            return self._answer_of_api(asked, parts[1:])
        kind = "dataset" if parts[0] == "datasets" else "model"
        name, _, rest = _split(parts[1:] if kind == "dataset" else parts, "resolve")
        repo, refusal = self._repo(asked, kind, name)
        return refusal or self._resolved(asked, repo, rest)

    def _answer_of_api(self, asked: Asked, parts: list[str]) -> Answer:
        kind = parts[0].removesuffix("s")
        name, verb, rest = _split(parts[1:], "revision", "tree", "xet-read-token")
        repo, refusal = self._repo(asked, kind, name, info=verb in ("revision", "tree"))
        if refusal:
            return refusal
        revision = rest[0] if rest else "main"
        commit = _commit(repo, revision)
        if commit is None:
            return _refused(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        match verb:
            case "tree":
                return self._tree(asked, repo.commits[commit], "/".join(rest[1:]))
            case "xet-read-token" if self.xet:
                return self.xet.token()
            case "revision" | "":
                return _json(_info(name, repo, commit))
        return _refused(404, "EntryNotFound", "no such route")

    def _repo(self, asked: Asked, kind: str, name: str, *, info: bool = False) -> tuple[Repo, Answer | None]:
        repo = self.repos.get((kind, name))
        given = asked.headers.get("authorization", "")
        if repo is None:
            status = 404 if given else 401
            return Repo(), _refused(status, "RepoNotFound", "Repository not found")
        if repo.token is None or given == f"Bearer {repo.token}" or (repo.gated and info):
            return repo, None
        if repo.gated:
            status = 403 if given else 401
            return repo, _refused(status, "GatedRepo", "Access to this repo is restricted")
        if given:
            return repo, _refused(401, "", "Invalid credentials in Authorization header")
        return repo, _refused(401, "RepoNotFound", "Repository not found")

    def _tree(self, asked: Asked, tree: Mapping[str, Blob], under: str) -> Answer:
        entries = [self._entry(path, tree[path]) for path in sorted(tree) if _is_under(path, under)]
        if under and not entries:
            return _refused(404, "EntryNotFound", f"{under} does not exist")
        start = int(asked.query.get("cursor", 0))
        headers = {}
        if start + self.page < len(entries):
            path = asked.target.partition("?")[0]
            more = f"{self.url}{path}?recursive=True&expand=False&cursor={start + self.page}"
            headers["Link"] = f'<{more}>; rel="next"'
        return _json(entries[start : start + self.page], headers)

    def _entry(self, path: str, blob: Blob) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "file", "path": path, "size": blob.size, "oid": blob.git_id}
        if blob.lfs:
            entry["lfs"] = {"oid": blob.sha256, "size": blob.size, "pointerSize": 134}
            if self.xet:
                entry["xetHash"] = self.xet.hash_of(blob.body)
        return entry

    def _resolved(self, asked: Asked, repo: Repo, rest: list[str]) -> Answer:
        revision, path = rest[0], "/".join(rest[1:])
        commit = _commit(repo, revision)
        if commit is None:
            return _refused(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        blob = repo.commits[commit].get(path)
        if blob is None:
            return _refused(404, "EntryNotFound", "Entry not found", {"X-Repo-Commit": commit})
        headers = {"X-Repo-Commit": commit, "ETag": blob.etag}
        if not blob.lfs:
            return ranged(asked, blob.body, headers)
        headers |= {"X-Linked-ETag": blob.etag, "X-Linked-Size": str(blob.size), "ETag": f'"{blob.git_id}"'}
        return Answer(302, {**headers, "Location": self._signed(blob)}, b"Found. Redirecting")

    def _signed(self, blob: Blob) -> str:
        expires = f"{time.time() + self.signed_for:.3f}"
        signature = _signature(blob.sha256, expires)
        return f"{self.cdn.url}/{blob.sha256}?Expires={expires}&Signature={signature}"

    def _answer_of_cdn(self, asked: Asked) -> Answer:
        if "authorization" in asked.headers:
            return Answer(400, {}, b"Only one auth mechanism allowed")
        digest = asked.path.strip("/")
        expires = asked.query.get("Expires", "0")
        right = hmac.compare_digest(asked.query.get("Signature", ""), _signature(digest, expires))
        if not right or float(expires) < time.time():
            return Answer(403, {}, b"Request has expired")
        blob = self._blobs[digest]
        return ranged(asked, blob.body, {"ETag": f'"{blob.sha256[:32]}"'})


class XetStore:
    """What the hub says of files in xet's own storage; the storage itself is a folder of xet's."""

    def __init__(self, address: str, hashes: Mapping[bytes, str]) -> None:
        self.address = address
        self.hashes = hashes

    def hash_of(self, body: Body) -> str | None:
        return self.hashes.get(body if isinstance(body, bytes) else body.read_bytes())

    def token(self) -> Answer:
        expires = int(time.time()) + 3600
        values = {"casUrl": self.address, "accessToken": "xet-token", "exp": expires}
        headers = {
            "X-Xet-Cas-Url": self.address,
            "X-Xet-Access-Token": "xet-token",
            "X-Xet-Token-Expiration": str(expires),
        }
        return _json(values, headers)


def _blob(path: str, body: Body) -> Blob:
    size = len(body) if isinstance(body, bytes) else body.stat().st_size
    lfs = PurePosixPath(path).suffix in LFS_SUFFIXES or size >= LFS_SIZE
    digest = sha256(body)
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {size}\n".encode()
    stored = pointer if lfs else body if isinstance(body, bytes) else body.read_bytes()
    git_id = hashlib.sha1(b"blob %d\0" % len(stored) + stored).hexdigest()
    return Blob(body, lfs, size, digest, git_id)


def _split(parts: list[str], *verbs: str) -> tuple[str, str, list[str]]:
    """The repository's name, the verb behind it and the rest; a name has one part or two."""
    at = next((index for index, part in enumerate(parts) if part in verbs and index > 0), len(parts))
    return "/".join(parts[:at]), "".join(parts[at : at + 1]), parts[at + 1 :]


def _commit(repo: Repo, revision: str) -> str | None:
    return revision if revision in repo.commits else repo.refs.get(revision)


def _is_under(path: str, under: str) -> bool:
    return not under or path.startswith(f"{under}/")


def _info(name: str, repo: Repo, commit: str) -> dict[str, Any]:
    tree = repo.commits[commit]
    return {
        "_id": "0" * 24,
        "id": name,
        "sha": commit,
        "private": repo.token is not None and not repo.gated,
        "gated": "auto" if repo.gated else False,
        "siblings": [{"rfilename": path} for path in sorted(tree)],
        "tags": [],
        "downloads": 0,
        "likes": 0,
    }


def _json(value: Any, headers: Mapping[str, str] | None = None) -> Answer:
    body = json.dumps(value).encode()
    return Answer(200, {"Content-Type": "application/json", **(headers or {})}, body)


def _refused(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    said = {"X-Error-Message": message, **(headers or {})}
    if code:
        said["X-Error-Code"] = code
    return Answer(status, said, json.dumps({"error": message}).encode())


def _signature(digest: str, expires: str) -> str:
    return quote(hmac.new(SECRET, f"{digest} {expires}".encode(), "sha256").hexdigest())
