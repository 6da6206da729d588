"""What a git+https:// address means.

    git+https://host/org/repo.git                          the default branch
    git+https://host/org/repo.git@rev                      a branch, a tag, refs/… or a whole commit
    git+https://host/org/repo.git@rev#subdirectory=a/b     a folder of it, which is put at the top

The revision is what follows the last `@` of the path and may hold a `/`; so a folder cannot follow it by
`/`, and stands behind `#subdirectory=`, as pip writes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qs, unquote

from ....errors import SpecError
from ..uri import Uri

_BAD_REVISION = re.compile(r"[\s\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|^[-/.]|[/.]$|//|\.lock$")
_FORM = "git+https://HOST/PATH.git@REVISION#subdirectory=FOLDER"


@dataclass(frozen=True, slots=True)
class GitAddress:
    """A folder of a repository at a revision."""

    url: str
    """for git: without credentials"""
    revision: str
    """empty for the default branch"""
    under: str = ""
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def is_commit(self) -> bool:
        """Whether the revision is a whole commit."""
        return re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", self.revision) is not None


def parse_git_address(uri: Uri) -> GitAddress:
    """Read a git+https:// address; SpecError with what it should look like."""
    path, _, revision = uri.path.rpartition("@") if "@" in uri.path else (uri.path, "", "")
    if not uri.host or not path.strip("/") or uri.host.startswith("-") or ("@" in uri.path and not revision):
        raise SpecError(f"{uri.text}: names no repository, give {_FORM}")
    revision = unquote(revision)
    if revision and _BAD_REVISION.search(revision):
        raise SpecError(f"{uri.text}: {revision!r} is no revision, give a branch, a tag or a whole commit")
    if uri.query:
        raise SpecError(f"{uri.text}: a query is not served, give {_FORM} and credentials apart from it")
    scheme = uri.scheme.removeprefix("git+")
    return GitAddress(f"{scheme}://{uri.host}/{path}", revision, _folder(uri), uri.user, uri.password)


def _folder(uri: Uri) -> str:
    fragment = uri.raw.partition("#")[2]
    if not fragment:
        return ""
    found = parse_qs(fragment, keep_blank_values=True)
    folder = "".join(found.get("subdirectory", [])).strip("/")
    if set(found) != {"subdirectory"} or not folder or ".." in folder.split("/"):
        raise SpecError(f"{uri.text}: behind the # only a folder may stand, as in #subdirectory=a/b")
    return folder
