"""The tests' hub, written to: enough for the unmodified huggingface_hub to make repositories and commit.

Who may write is said by `users`: a token, the name it belongs to, its organisations and what it may do.
Large files come by LFS: the batch says where to, and a commit names only what has arrived and is whole.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from .hub import Blob, Hub, _blob, _commit, _json, _refused, _split
from .web import Answer, Asked, sha256

INITIAL = {".gitattributes": b"*.safetensors filter=lfs diff=lfs merge=lfs -text\n"}


@dataclass
class User:
    """Somebody with a token."""

    name: str
    orgs: tuple[str, ...] = ()
    role: str = "write"


class WritableHub(Hub):
    """A hub that takes commits."""

    def __init__(self, users: dict[str, User]) -> None:
        super().__init__()
        self.users = users
        self.arrived: dict[str, bytes] = {}
        self.taken = 0

    def _answer(self, asked: Asked) -> Answer:
        parts = [unquote(part) for part in asked.target.partition("?")[0].strip("/").split("/")]
        user = self.users.get(asked.headers.get("authorization", "").removeprefix("Bearer "))
        if parts[:2] == ["api", "whoami-v2"]:
            return self._who(user)
        if parts[0] == "lfs-upload":
            return self._take(parts[1], asked.body)
        if asked.method in ("POST", "PUT", "DELETE"):
            if user is None:
                return _refused(401, "", "Invalid credentials in Authorization header")
            return self._write(asked, parts, user)
        return super()._answer(asked)

    def _who(self, user: User | None) -> Answer:
        if user is None:
            return _refused(401, "", "Invalid credentials in Authorization header")
        told: dict[str, Any] = {"type": "user", "name": user.name, "orgs": [{"name": x} for x in user.orgs]}
        return _json(told | {"auth": {"accessToken": {"role": user.role}}})

    def _write(self, asked: Asked, parts: list[str], user: User) -> Answer:
        if parts[:3] == ["api", "repos", "create"]:
            return self._create(json.loads(asked.body), user, asked)
        if parts[-3:] == ["lfs", "objects", "batch"]:
            return self._batch(json.loads(asked.body))
        name, verb, rest = _split(parts[2:], "preupload", "commit", "branch")
        if user.role == "read" or name.partition("/")[0] not in (user.name, *user.orgs):
            return _refused(403, "", "you are not allowed to write here")
        match verb:
            case "preupload":
                return self._modes(json.loads(asked.body))
            case "branch":
                repo = self.repos["model", name]
                if rest[0] in repo.refs:
                    return _refused(409, "", "the branch exists")
                repo.refs[rest[0]] = repo.refs["main"]
                return _json({})
            case "commit":
                return self._take_commit(name, rest[0], asked.body)
        return _refused(404, "EntryNotFound", "no such route")

    def _create(self, wanted: dict[str, Any], user: User, asked: Asked) -> Answer:
        name = f"{wanted.get('organization') or user.name}/{wanted['name'].rpartition('/')[2]}"
        if name.partition("/")[0] not in (user.name, *user.orgs):
            return _refused(403, "", "you are not allowed to make a repository here")
        if ("model", name) in self.repos:
            body = json.dumps({"error": "You already created this model repo", "url": f"{self.url}/{name}"})
            return Answer(409, {"Content-Type": "application/json"}, body.encode())
        token = asked.headers["authorization"].removeprefix("Bearer ") if wanted.get("private") else None
        self.add(name, INITIAL, token=token)
        return _json({"url": f"{self.url}/{name}", "name": name})

    def _modes(self, wanted: dict[str, Any]) -> Answer:
        files = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if _blob(file["path"], bytes(file["size"])).lfs else "regular",
                "shouldIgnore": False,
            }
            for file in wanted["files"]
        ]
        return _json({"files": files})

    def _batch(self, wanted: dict[str, Any]) -> Answer:
        objects = []
        for each in wanted["objects"]:
            known = each["oid"] in self._blobs
            upload = {"upload": {"href": f"{self.url}/lfs-upload/{each['oid']}"}}
            objects.append({**each, **({} if known else {"actions": upload})})
        return _json({"transfer": "basic", "objects": objects})

    def _take(self, oid: str, body: bytes) -> Answer:
        if sha256(body) != oid:
            return _refused(400, "", "the content is not what its name says")
        self.arrived[oid] = body
        return Answer(200)

    def _take_commit(self, name: str, branch: str, body: bytes) -> Answer:
        repo = self.repos["model", name]
        before = _commit(repo, branch)
        assert before is not None
        tree: dict[str, Any] = {path: blob.body for path, blob in repo.commits[before].items()}
        for line in body.decode().splitlines():
            step = json.loads(line)
            value = step["value"]
            match step["key"]:
                case "file":
                    tree[value["path"]] = base64.b64decode(value["content"])
                case "lfsFile":
                    found: Blob | None = self._blobs.get(value["oid"])
                    content = found.body if found else self.arrived.get(value["oid"])
                    if content is None:
                        return _refused(400, "", f"{value['path']} has not been sent")
                    tree[value["path"]] = content
                case "deletedFile":
                    tree.pop(value["path"])
        self.taken += 1
        commit = self.add(name, tree, ref=branch, token=repo.token)
        return _json({"commitUrl": f"{self.url}/{name}/commit/{commit}", "commitOid": commit})
