"""A disk that is too small, or full, or read-only: one sentence, and the next run goes on from there.

The small disk is a tmpfs in a mount namespace of the test's own, which needs root or user namespaces.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.servers.site import Meter, Site
from tests.servers.web import sha256

MODULE = "kfp_trainer.runtime_operator.workloads.fetch"
FILES = {"a.safetensors": os.urandom(6_000_000), "b.safetensors": os.urandom(6_000_000), "config.json": b"{}"}
UNSHARE = ["unshare", "--mount", *([] if os.getuid() == 0 else ["--user", "--map-root-user"])]


@cache
def why_not() -> str:
    try:
        tried = subprocess.run(
            [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, text=True
        )
    except OSError as error:
        return f"unshare: {error}"
    return "" if tried.returncode == 0 else f"no mount namespace here: {tried.stderr.strip()}"


pytestmark = pytest.mark.skipif(bool(why_not()), reason=why_not())


@pytest.fixture
def site() -> Iterator[Site]:
    with Site(FILES) as site:
        yield site


def on_small_disk(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in which $DISK is a tmpfs of 10 MB and $FETCH the command."""
    folder.mkdir(exist_ok=True)
    environ = {**os.environ, "DISK": str(folder), "FETCH": f"{sys.executable} -m {MODULE}"}
    prepared = f'mount -t tmpfs -o size=10m none "$DISK"\n{script}'
    return subprocess.run(
        [*UNSHARE, "sh", "-c", prepared], env=environ, capture_output=True, text=True, timeout=300
    )


def test_what_does_not_fit_is_not_begun(site: Site, tmp_path: Path) -> None:
    done = on_small_disk(tmp_path / "disk", f'$FETCH model {site.url} "$DISK/d"')
    assert done.returncode == 3
    assert "12.0 MB are still to be fetched and 10.5 MB are free, make room for" in done.stderr
    assert not site.web.asked_for("safetensors", method="GET")


def test_a_disk_that_fills_up_on_the_way_keeps_what_is_there(site: Site, tmp_path: Path) -> None:
    """The file turns out to be larger than the disk only while it comes: nobody said its size before."""
    fetch = f'$FETCH dataset {site.url} "$DISK/d" --ignore config.json'
    with Meter(int(site.web.host.rpartition(":")[2]), rate=6_000_000) as meter:
        slow = fetch.replace(site.url, f"http://127.0.0.1:{meter.port}/")
        script = f"""
            {slow} --include a.safetensors 2>&1 > /dev/null & pid=$!
            while ! [ -s "$DISK/.d.fetch/journal" ]; do sleep 0.1; done
            head -c 20000000 /dev/zero > "$DISK/other" 2> /dev/null
            wait $pid; echo "full $?"
            ls "$DISK/.d.fetch/parts"
            {slow} --include a.safetensors > /dev/null; echo "still full $?"
            rm "$DISK/other"
            {slow} --include a.safetensors > /dev/null; echo "mended $?"
            sha256sum < "$DISK/d/a.safetensors"
        """
        done = on_small_disk(tmp_path / "disk", script)
        passed = meter.count
    said = done.stdout + done.stderr
    assert "the disk is full (No space left on device); what was fetched is kept" in done.stdout, said
    assert "full 3" in done.stdout, said
    assert "still full 3" in done.stdout, said
    assert "mended 0" in done.stdout, said
    assert sha256(FILES["a.safetensors"]) in done.stdout, said
    assert passed < len(FILES["a.safetensors"]) * 1.2, "what was fetched before was kept"
    assert "Traceback" not in said


def test_a_read_only_disk_is_told_in_one_sentence(site: Site, tmp_path: Path) -> None:
    script = f'mount -o remount,ro "$DISK"\n$FETCH model {site.url} "$DISK/d"'
    done = on_small_disk(tmp_path / "disk", script)
    assert (done.returncode, done.stdout) == (3, "")
    assert "cannot be written (Read-only file system)" in done.stderr


def test_a_real_mount_point_is_filled_from_inside(site: Site, tmp_path: Path) -> None:
    fetch = f'$FETCH dataset {site.url} "$DISK" --include a.safetensors'
    done = on_small_disk(tmp_path / "disk", f'{fetch} && {fetch} && ls -A "$DISK"')
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-2:] == ["MANIFEST.json", "a.safetensors"]
    assert '"fetched": 0' in done.stdout
