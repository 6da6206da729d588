"""Files of a git repository: git+https://host/repo.git[@rev][#subdirectory=a/b].

Git fetches the one commit that is meant, without its history, into a repository of our own; the tree of the
commit is the index, with git's own digest of each file. Pointers of Git LFS in it stand for the objects they
name, which come over HTTP like any file. A link to a file of the same tree counts as that file; any other
link, and a submodule, is named to the engine, which refuses it if it is wanted.
"""

from __future__ import annotations

import posixpath
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ....errors import SpecError
from ..hidden import Secrets, shown
from ..http_client import Http
from ..source import Digest, Entry, Listing, Reader, Request
from ..troubles import FetchError
from .addresses import is_private
from .git_address import GitAddress, parse_git_address
from .git_blobs import Blobs
from .git_lfs import MOST_POINTER, LfsStore, Pointer, is_trusted_store, read_pointer
from .git_program import Git, no_revision

DEFAULT_USER = "git"
_EVERYTHING = ("+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*")
_FILES, _LINK, _SUBMODULE = ("100644", "100755", "100664"), "120000", "160000"
_MOST_LINKS = 8
_SHA1 = 40
"""the length of a name by SHA-1; newer repositories name by SHA-256"""


@dataclass(frozen=True, slots=True)
class _Node:
    """A line of `git ls-tree`."""

    mode: str
    name: str
    size: int
    path: str


def open_source(request: Request) -> GitSource:
    """The source of a git+https:// address."""
    return GitSource(request)


class GitSource:
    """A folder of a repository, at one commit."""

    def __init__(self, request: Request) -> None:
        self._address = with_credentials(parse_git_address(request.uri), request.secrets)
        self._text = request.uri.text
        self._secrets = request.secrets
        self._http = Http(request.secrets, limits=request.limits)
        self._folder = request.scratch / "repository.git"
        self._git = Git(
            self._address, self._folder, request.secrets, text=self._text, stall=request.limits.stall
        )
        self._blobs = Blobs(self._git, self._text)
        self._lfs: LfsStore | None = None

    def resolve(self) -> Listing:
        """Fetch the commit, and list its tree."""
        self._blobs.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._git.init()
        commit = self._fetched_commit()
        nodes = {node.path: node for node in self._tree(commit)}
        pointers = self._pointers(nodes.values())
        self._lfs = self._store(commit, list(pointers.values())) if pointers else None
        entries = (self._entry(node, nodes, pointers) for node in nodes.values())
        return Listing(commit, tuple(entries))

    def open(self, entry: Entry, start: int, stop: int | None) -> Reader:
        """The bytes of a blob, or of the LFS object that it points to."""
        if not isinstance(entry.handle, Pointer):
            assert isinstance(entry.handle, str)
            return self._blobs.open(entry.handle, entry.size or 0)
        assert self._lfs is not None
        url, headers = self._lfs.where(entry.handle)
        return self._http.open_range(url, start, stop, headers=headers, size=entry.size)

    def renew(self) -> None:
        """Ask the LFS server for addresses that are good."""
        self._http.forget()
        if self._lfs is not None:
            self._lfs.forget()

    def close(self) -> None:
        """End the git that reads blobs, and close connections."""
        self._blobs.close()
        self._http.close()

    def _fetched_commit(self) -> str:
        """Fetch what is meant and no more; where a server gives no single commit, everything."""
        revision = self._address.revision
        try:
            self._git.fetch(revision or "HEAD", depth=1)
            found = "FETCH_HEAD"
        except FetchError:
            if not self._address.is_commit:
                raise
            self._git.fetch(*_EVERYTHING, depth=None)
            found = revision
        commit = self._git.ask("rev-parse", "--verify", "--quiet", "--end-of-options", f"{found}^{{commit}}")
        if commit is None:
            raise no_revision(self._address, self._text)
        return commit.decode().strip()

    def _tree(self, commit: str) -> Iterator[_Node]:
        under = self._address.under
        listed = self._git.ask("ls-tree", "-r", "-z", "-l", "--full-tree", f"{commit}:{under}")
        if listed is None:
            raise FetchError(f"{self._text}: has no folder {under!r} at {commit}, mind the spelling")
        for line in listed.split(b"\0"):
            if line:
                facts, _, path = line.partition(b"\t")
                mode, _, name, size = facts.decode().split()
                number = int(size) if size.isdigit() else 0
                yield _Node(mode, name, number, path.decode("utf-8", "surrogateescape"))

    def _pointers(self, nodes: Iterable[_Node]) -> dict[str, Pointer]:
        """The LFS pointers of the tree, by the name of the blob that each is."""
        small = {node.name for node in nodes if node.mode in _FILES and 0 < node.size <= MOST_POINTER}
        read = ((name, read_pointer(content)) for name, content in self._blobs.read(sorted(small)))
        return {name: pointer for name, pointer in read if pointer is not None}

    def _store(self, commit: str, pointers: list[Pointer]) -> LfsStore:
        named = self._git.ask("config", "--blob", f"{commit}:.lfsconfig", "--get", "lfs.url") or b""
        url = named.decode("utf-8", "replace").strip().rstrip("/")
        if url and not is_trusted_store(url, self._address):
            raise FetchError(
                f"{self._text}: .lfsconfig names {shown(url)} for its LFS objects, which is not encrypted"
            )
        ref = "" if self._address.is_commit else self._address.revision
        return LfsStore(self._address, pointers, self._http, self._secrets, ref=ref, url=url, text=self._text)

    def _entry(self, node: _Node, nodes: Mapping[str, _Node], pointers: Mapping[str, Pointer]) -> Entry:
        if node.mode == _SUBMODULE:
            return Entry(node.path, None, what="submodule", seekable=False)
        target = self._followed(node, nodes) if node.mode == _LINK else node
        if target is None:
            return Entry(node.path, None, what="symlink", seekable=False)
        pointer = pointers.get(target.name)
        if pointer is not None:
            return Entry(node.path, pointer.size, Digest("sha256", pointer.oid), handle=pointer)
        digest = Digest("git-sha1", target.name) if len(target.name) == _SHA1 else None
        return Entry(node.path, target.size, digest, etag=target.name, seekable=False, handle=target.name)

    def _followed(self, node: _Node, nodes: Mapping[str, _Node]) -> _Node | None:
        """The file of the tree that a link leads to; None where it leads anywhere else."""
        for _ in range(_MOST_LINKS):
            ((_, content),) = self._blobs.read([node.name])
            target = content.decode("utf-8", "surrogateescape")
            path = posixpath.normpath(posixpath.join(posixpath.dirname(node.path), target))
            found = None if target.startswith("/") else nodes.get(path)
            if found is None or found.mode in _FILES:
                return found
            if found.mode != _LINK:
                return None
            node = found
        return None


def with_credentials(address: GitAddress, secrets: Secrets) -> GitAddress:
    """The address with the name and password to show, if we have any."""
    password = address.password or secrets.get("GIT_PASSWORD") or secrets.get("ACCESS_TOKEN") or ""
    user = address.user
    if user and not password:
        user, password = DEFAULT_USER, user  # https://TOKEN@host/
    elif password:
        user = user or secrets.get("GIT_USERNAME") or DEFAULT_USER
    if any(sign in user + password for sign in "\n\r\0"):
        raise SpecError("GIT_PASSWORD: holds a line break, give it without")
    if password and not is_private(address.url):
        raise SpecError(f"{shown(address.url)}: a password is not sent unencrypted, use git+https://")
    secrets.hide(password)
    return replace(address, user=user, password=password)
