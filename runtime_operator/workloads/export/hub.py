"""hf://ORG/NAME[@BRANCH]: a repository of a hub, by one commit, which is there whole or not at all.

huggingface_hub sends the files. What the repository holds already, by the digests that the hub itself
states, is not sent again, and afterwards those digests prove the commit. Weights of an earlier export that
this one does not have are removed in the same commit, so that two models never mix in one folder; other
files, such as a card that people wrote, stay.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any

from ...errors import Retryable, SetupError, SpecError
from ..fetch.sources.hf import ENDPOINT, hub_token
from ..fetch.sources.hf_address import parse_hub_address
from .bundle import Bundle, File
from .place import ExportError, Put, Target

OURS = ("*.safetensors", "*.safetensors.index.json", "adapter_config.json", "config.json")
NO_TOKEN = "give HF_TOKEN (or ACCESS_TOKEN) of somebody who may write there, in the environment"
MESSAGE = "Export by kfp-trainer"


def open_place(target: Target) -> Hub:
    """The repository of an address."""
    return Hub(target)


class Hub:
    """One repository, at one branch."""

    def __init__(self, target: Target) -> None:
        address = parse_hub_address(target.uri, "model")
        self._text = target.text
        self._repo, self._branch = address.repo, address.revision
        self._private = target.private
        if address.under or "/" not in self._repo:
            raise SpecError(f"{self._text}: names no repository to write to, give hf://ORG/NAME[@BRANCH]")
        self._secrets = target.secrets
        self._endpoint = (self._secrets.get("HF_ENDPOINT") or ENDPOINT).rstrip("/")

    def check(self) -> None:
        """Whether the token is one that may write to the namespace."""
        if (self._secrets.get("HF_HUB_OFFLINE") or "0").lower() in ("1", "true", "yes", "on"):
            raise SetupError(f"{self._text}: HF_HUB_OFFLINE keeps us off the hub, unset it")
        token = hub_token(self._secrets)
        if token is None:
            raise SetupError(f"{self._text}: there is no token, {NO_TOKEN}")
        with self._asking() as api:
            who = api.whoami()
        role = who.get("auth", {}).get("accessToken", {}).get("role", "")
        if role == "read":
            raise SpecError(f"{self._text}: the token may only read, {NO_TOKEN}")
        spaces = [str(who.get("name")), *(str(each.get("name")) for each in who.get("orgs", []))]
        owner = self._repo.partition("/")[0]
        if owner not in spaces:
            raise SpecError(
                f"{self._text}: the token is of {spaces[0]}, who may write to {', '.join(spaces)} "
                f"and not to {owner}"
            )

    def put(self, bundle: Bundle) -> Put:
        """Commit what is not there."""
        with self._asking() as api:
            api.create_repo(self._repo, private=self._private, exist_ok=True)
            if self._branch != "main":
                api.create_branch(self._repo, branch=self._branch, exist_ok=True)
            there = self._tree(api, self._branch)
            new = [file for file in bundle.files if there.get(file.path) not in _names(file)]
            paths = {file.path for file in bundle.files}
            stale = [path for path in there if path not in paths and _is_ours(path)]
            commit = self._commit(api, new, stale) if new or stale else None
            if commit is None:
                commit = api.repo_info(self._repo, revision=self._branch).sha
            self._prove(bundle, self._tree(api, commit))
        return Put(f"hf://{self._repo}@{commit}", len(new))

    def close(self) -> None:
        """Nothing is held."""

    def _commit(self, api: Any, new: list[File], stale: list[str]) -> str:
        from huggingface_hub import CommitOperationAdd, CommitOperationDelete

        steps: list[Any] = [CommitOperationAdd(file.path, str(file.source)) for file in new]
        steps += [CommitOperationDelete(path) for path in stale]
        done = api.create_commit(self._repo, steps, commit_message=MESSAGE, revision=self._branch)
        return str(done.oid)

    def _tree(self, api: Any, revision: str) -> dict[str, str]:
        """What the hub holds: the digest it states for each file."""
        found = {}
        for entry in api.list_repo_tree(self._repo, recursive=True, revision=revision):
            lfs, blob = getattr(entry, "lfs", None), getattr(entry, "blob_id", None)
            if blob is not None:
                found[entry.path] = str(lfs["sha256"] if lfs else blob)
        return found

    def _prove(self, bundle: Bundle, there: dict[str, str]) -> None:
        for file in bundle.files:
            if there.get(file.path) not in _names(file):
                raise ExportError(
                    f"{self._text}: {file.path} arrived as something else than was sent, export it again"
                )

    @contextmanager
    def _asking(self) -> Iterator[Any]:
        """The hub's own client, with what it raises in our words."""
        from huggingface_hub import HfApi
        from huggingface_hub.errors import HfHubHTTPError

        try:
            with _online(self._endpoint):
                yield HfApi(endpoint=self._endpoint, token=hub_token(self._secrets))
        except HfHubHTTPError as error:
            raise self._told(error) from None
        except (_broken_transport(), OSError, ValueError, RuntimeError) as error:
            why = self._secrets.clean(" ".join(str(error.__cause__ or error).split())[:200])
            raise Retryable(f"{self._text}: the hub was not reached ({why})", after=0) from None

    def _told(self, error: Any) -> Exception:
        status = getattr(error.response, "status_code", 0)
        why = self._secrets.clean(str(getattr(error, "server_message", None) or f"it answers {status}"))
        if status == 429 or status >= 500:
            return Retryable(f"{self._text}: the hub cannot serve now ({why})", after=0)
        if status in (401, 403):
            return ExportError(f"{self._text}: the hub refuses the token ({why}), {NO_TOKEN}")
        return ExportError(f"{self._text}: the hub refuses ({why})")


def _broken_transport() -> type[Exception]:
    """What the library's own client raises where there is no answer; its name changes with its versions."""
    from huggingface_hub.errors import HfHubHTTPError

    module = next(kind.__module__ for kind in HfHubHTTPError.__mro__ if kind.__module__.startswith("httpx"))
    error: type[Exception] = import_module(module.partition(".")[0]).HTTPError
    return error


@contextmanager
def _online(endpoint: str) -> Iterator[None]:
    """Training keeps the libraries off the network, by a constant read long ago; here the network is wanted.

    xet's storage is Hugging Face's own; other hubs take files by LFS.
    """
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE, constants.HF_HUB_DISABLE_XET
    constants.HF_HUB_OFFLINE = False
    constants.HF_HUB_DISABLE_XET = before[1] or endpoint != ENDPOINT
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE, constants.HF_HUB_DISABLE_XET = before


def _names(file: File) -> tuple[str, str]:
    """What a hub calls this content: its SHA-256 as a large file, git's name as a small one."""
    total = hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
    with file.source.open("rb") as source:
        while piece := source.read(1 << 20):
            total.update(piece)
    return file.sha256, total.hexdigest()


def _is_ours(path: str) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in OURS)
