"""Tars as an image has them, and as none should: made entry by entry, so that anything can stand in them."""

from __future__ import annotations

import gzip
import io
import sys
import tarfile
from collections.abc import Mapping
from importlib import import_module

LAYER = "application/vnd.oci.image.layer.v1.tar"


def tar(files: Mapping[str, bytes], *more: tarfile.TarInfo) -> bytes:
    """A tar of files, and of entries without contents."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for path, body in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(body)
            archive.addfile(entry, io.BytesIO(body))
        for entry in more:
            archive.addfile(entry)
    return out.getvalue()


def special(path: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    """An entry that is no file: a link, a device, a folder."""
    entry = tarfile.TarInfo(path)
    entry.type, entry.linkname = kind, target
    return entry


def zstd(body: bytes) -> bytes:
    """Bytes compressed by zstd, with a sum as image builders write it."""
    library = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    packed: bytes = library.compress(body, options={library.CompressionParameter.checksum_flag: 1})
    return packed


def gz(body: bytes) -> bytes:
    """Bytes compressed by gzip, the same each time."""
    return gzip.compress(body, compresslevel=1, mtime=0)
