"""Git over smart HTTP, by git's own http-backend, with the batch API of Git LFS beside it.

A repository is made from commits of files; a file of a certain suffix is committed as an LFS pointer and its
bytes go to the object store, another server, whose addresses carry a header that expires.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from .web import LOOPBACK, OTHER_NAME, Answer, Asked, WebServer, ranged, sha256

LFS_SUFFIX = ".safetensors"
LFS_TYPE = "application/vnd.git-lfs+json"
QUIET = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_COUNT": "2",  # what is made for a test need not be small
    "GIT_CONFIG_KEY_0": "core.compression",
    "GIT_CONFIG_VALUE_0": "0",
    "GIT_CONFIG_KEY_1": "gc.auto",
    "GIT_CONFIG_VALUE_1": "0",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.invalid",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.invalid",
}


class GitServer:
    """Repositories in a folder, for the length of a `with` block."""

    def __init__(
        self,
        folder: Path,
        *,
        user: str = "",
        password: str = "",
        signed_for: float = 3600,
        name: str = LOOPBACK,
    ) -> None:
        self.user, self.password, self.signed_for = user, password, signed_for
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._lfs: dict[str, bytes] = {}
        self._signatures: dict[str, float] = {}
        self.web = WebServer(self._answer, name=name)
        self.store = WebServer(self._answer_of_store, name=OTHER_NAME)

    @property
    def url(self) -> str:
        return self.web.url

    def __enter__(self) -> GitServer:
        self.web.__enter__()
        self.store.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self.store.__exit__(*error)
        self.web.__exit__(*error)

    def commit(self, name: str, files: Mapping[str, bytes], *, tag: str = "") -> str:
        """Put these files, and no others, on the branch main of `<name>.git`; return the commit."""
        work, bare = self._folder / f"{name}.work", self._folder / f"{name}.git"
        if bare.exists():
            _git(work, "rm", "-rqf", "--ignore-unmatch", ".")
        else:
            work.mkdir(parents=True)
            _git(work, "init", "-q", "-b", "main", "--template=")
            _git(self._folder, "init", "-q", "--bare", "-b", "main", "--template=", str(bare))
        for path, body in files.items():
            file = work / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(self._stored(path, body))
        _git(work, "add", "-A", "-f")
        _git(work, "commit", "-q", "--allow-empty", "-m", "files")
        if tag:
            _git(work, "tag", "-a", tag, "-m", tag)
        _git(work, "push", "-q", "-f", "--tags", str(bare), "main")
        return _git(work, "rev-parse", "HEAD").decode().strip()

    def commit_tree(self, name: str, entries: list[tuple[str, str, bytes]]) -> str:
        """Commit entries that no work tree can hold, as (mode, name, bytes); git does not check them."""
        bare = self._folder / f"{name}.git"
        if not bare.exists():
            _git(self._folder, "init", "-q", "--bare", "-b", "main", str(bare))
        tree = b""
        for mode, path, body in sorted(entries, key=lambda entry: entry[1]):
            blob = _git(bare, "hash-object", "-w", "--stdin", given=body).strip()
            tree += mode.encode() + b" " + path.encode() + b"\0" + bytes.fromhex(blob.decode())
        written = _git(bare, "hash-object", "-w", "-t", "tree", "--literally", "--stdin", given=tree)
        commit = _git(bare, "commit-tree", written.decode().strip(), "-m", "entries").decode().strip()
        _git(bare, "update-ref", "refs/heads/main", commit)
        return commit

    def _stored(self, path: str, body: bytes) -> bytes:
        if PurePosixPath(path).suffix != LFS_SUFFIX:
            return body
        digest = sha256(body)
        self._lfs[digest] = body
        text = f"version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize {len(body)}\n"
        return text.encode()

    def _answer(self, asked: Asked) -> Answer:
        basic = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        if self.user and asked.headers.get("authorization") != f"Basic {basic}":
            return Answer(401, {"WWW-Authenticate": 'Basic realm="git"'}, b"who are you?")
        if asked.path.endswith("/info/lfs/objects/batch"):
            return self._batch(json.loads(asked.body))
        return _cgi(asked, self._folder)

    def _batch(self, wanted: Mapping[str, Any]) -> Answer:
        objects = []
        for each in wanted["objects"]:
            entry = {"oid": each["oid"], "size": each["size"]}
            if each["oid"] in self._lfs:
                entry["actions"] = {"download": self._action(each["oid"])}
            else:
                entry["error"] = {"code": 404, "message": "Object does not exist"}
            objects.append(entry)
        body = json.dumps({"transfer": "basic", "objects": objects, "hash_algo": "sha256"}).encode()
        return Answer(200, {"Content-Type": LFS_TYPE}, body)

    def _action(self, digest: str) -> dict[str, Any]:
        signature = f"Signed {secrets.token_hex(8)}"
        self._signatures[signature] = time.time() + self.signed_for
        href = f"{self.store.url}/objects/{digest}"
        return {"href": href, "header": {"Authorization": signature}, "expires_in": int(self.signed_for) or 1}

    def _answer_of_store(self, asked: Asked) -> Answer:
        if self._signatures.get(asked.headers.get("authorization", ""), 0) < time.time():
            return Answer(403, {}, b"signature is wrong or expired")
        digest = asked.path.rpartition("/")[2]
        return ranged(asked, self._lfs[digest], {"ETag": f'"{digest}"'})


def _cgi(asked: Asked, root: Path) -> Answer:
    environment = {
        **os.environ,
        **QUIET,
        "GIT_PROJECT_ROOT": str(root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": asked.path,
        "QUERY_STRING": asked.target.partition("?")[2],
        "REQUEST_METHOD": asked.method,
        "CONTENT_TYPE": asked.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(asked.body)),
        "HTTP_CONTENT_ENCODING": asked.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": asked.headers.get("git-protocol", ""),
    }
    ran = subprocess.run(["git", "http-backend"], input=asked.body, capture_output=True, env=environment)
    head, _, body = ran.stdout.partition(b"\r\n\r\n")
    headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
    status = int(headers.pop("Status", "200").split()[0])
    return Answer(status, headers, body)


def _git(folder: Path, *arguments: str, given: bytes | None = None) -> bytes:
    ran = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        input=given,
        env={**os.environ, **QUIET},
        capture_output=True,
    )
    if ran.returncode:
        raise RuntimeError(f"git {' '.join(arguments)}: {ran.stderr.decode()}")
    return ran.stdout
