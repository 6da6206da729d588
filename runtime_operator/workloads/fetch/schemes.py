"""Which module serves which scheme; imported only when the scheme is asked for."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

from ...errors import SpecError
from .source import Request, Source

SCHEMES = {
    "az": "object_store",
    "file": "file",
    "git+https": "git",
    "git+http": "git",
    "gs": "object_store",
    "hf": "hf",
    "http": "http",
    "https": "http",
    "oci": "oci",
    "package": "package",
    "pvc": "file",
    "s3": "object_store",
}
"""scheme -> the module of `sources/` whose `open_source(request)` makes the source"""

NO_CACHE = (
    "cache:// is not served: it is Trainer's copy of an Iceberg table in memory, which needs a cluster of "
    "its own beside each job. Give the files of the table, as in s3://bucket/table/data, and keep them on a "
    "claim: a second fetch onto the same claim fetches nothing"
)


def open_source(request: Request) -> Source:
    """Make the source that a URI names."""
    scheme = request.uri.scheme
    check_scheme(scheme)
    module = import_module(f".sources.{SCHEMES[scheme]}", __package__)
    source: Source = module.open_source(request)
    return source


def check_scheme(scheme: str) -> None:
    """Refuse a scheme that nobody serves."""
    if scheme == "cache":
        raise SpecError(NO_CACHE)
    if scheme in SCHEMES:
        return
    near = get_close_matches(scheme, SCHEMES, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}://" if near else "give a complete address such as hf://org/name"
    known = ", ".join(f"{name}://" for name in SCHEMES)
    raise SpecError(f"{scheme}://: is not a scheme that can be fetched from, {hint}; served are {known}")
