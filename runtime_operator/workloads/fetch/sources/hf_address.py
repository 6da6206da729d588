"""Which repository of a hub an address means, which revision, and which part of it.

hf://org/name            the branch main, everything
hf://org/name@v1.0       a branch, a tag or a commit; a `/` in it is written %2F, but refs/pr/1 may stand
hf://org/name/sub/path   a folder or a file of it, which then stands at the top of the target
hf://name                an old repository without an org
hf://datasets/org/name   the kind said in the address, as huggingface_hub's file system writes it
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from ....errors import SpecError
from ..source import Kind
from ..uri import Uri

DEFAULT_REVISION = "main"
_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_-])?"
_REVISION = r"refs/(?:convert|pr)/[^/@]+|[^/@]+"
_FORM = re.compile(rf"(?P<repo>{_NAME}(?:/{_NAME})?)(?:@(?P<revision>{_REVISION}))?(?:/(?P<under>.+?))?/*")
_KINDS: dict[str, Kind] = {"datasets": "dataset", "models": "model"}


@dataclass(frozen=True, slots=True)
class HubAddress:
    """A part of a repository at a revision."""

    kind: Kind
    repo: str
    revision: str = DEFAULT_REVISION
    under: str = ""

    def place_of(self, path: str) -> str | None:
        """Where a file of the repository goes; None for one outside of the part that is meant."""
        if not self.under or path == self.under:
            return path if not self.under else path.rpartition("/")[2]
        inside = path.removeprefix(f"{self.under}/")
        return inside if inside != path else None


def parse_hub_address(uri: Uri, kind: Kind) -> HubAddress:
    """Read an hf:// address for a fetch of that kind."""
    # a name before `@` is the repository here and no user, so the generic parts do not serve
    rest = re.split(r"[?#]", uri.raw.strip().partition("://")[2], maxsplit=1)[0].strip("/")
    first, _, behind = rest.partition("/")
    if first == "spaces":
        raise SpecError(f"{uri.text}: is a space, which holds neither a dataset nor a model")
    said = _KINDS.get(first)
    if said and said != kind:
        raise SpecError(f"{uri.text}: is a {said}, fetch it as one: kfp-trainer fetch {said}")
    form = _FORM.fullmatch(behind if said else rest)
    if form is None:
        raise SpecError(f"{uri.text}: is no repository of a hub, give hf://org/name[@revision][/sub/path]")
    revision = unquote(form["revision"] or DEFAULT_REVISION)
    if revision.startswith("-") or re.search(r"[\s\x00-\x1f~^:?*\[\\]|\.\.", revision):
        raise SpecError(f"{uri.text}: {revision!r} is no revision, give a branch, a tag or a commit")
    return HubAddress(kind, form["repo"], revision, unquote(form["under"] or ""))
