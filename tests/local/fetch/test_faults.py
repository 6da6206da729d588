"""Whatever goes wrong on the way: the right bytes, or a sentence and no folder; never a wrong file.

Each case draws some faults of these kinds for some requests, fetches, and fetches again with the faults
gone. 60 cases here, 500 in `make soak`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from tests.counts import count
from tests.servers.fetching import fetched, tree
from tests.servers.site import Site
from tests.servers.web import Answer, sha256

BODY = os.urandom(6_000_000)
Fault = Callable[[random.Random], dict[str, Any]]
FAULTS: dict[str, Fault] = {
    "the body ends early": lambda dice: {"cut_after": dice.randrange(100_000)},
    "the connection is reset": lambda dice: {"cut_after": dice.randrange(100_000), "reset": True},
    "it is reset before an answer": lambda dice: {"cut_after": 0, "reset": True},
    "it hangs": lambda dice: {"cut_after": dice.randrange(50_000), "hang": True},
    "too many requests": lambda dice: {"answer": Answer(429, {"Retry-After": str(dice.randrange(2))})},
    "the server is broken": lambda dice: {"answer": Answer(dice.choice([500, 502, 503, 504]))},
    "the token has expired": lambda dice: {"answer": Answer(dice.choice([401, 403]))},
    "it is gone": lambda dice: {"answer": Answer(dice.choice([404, 410]))},
    "it redirects in a circle": lambda dice: {"answer": Answer(302, {"Location": "?again"})},
    "it redirects to nowhere": lambda dice: {"answer": Answer(302, {"Location": "http://127.0.0.1:1/"})},
    "other bytes come": lambda dice: {"body": BODY[::-1] + BODY, "headers": {}},
    "other bytes come under the same name": lambda dice: {"body": BODY[1:] + BODY},
    "a page of HTML comes": lambda dice: {"answer": Answer(200, {"Content-Type": "text/html"}, b"<html>")},
    "nothing comes": lambda dice: {"answer": Answer(200)},
    "the range is another one": lambda dice: {"headers": {"Content-Range": "bytes 7-8/9"}},
    "the range is nonsense": lambda dice: {"headers": {"Content-Range": "bytes */*"}},
    "it changed": lambda dice: {"answer": Answer(412)},
    "the range is refused": lambda dice: {"answer": Answer(416)},
}
FILES = {
    "config.json": b"{}",
    "model-1.safetensors": BODY,
    "model-2.safetensors": BODY[: 1 << 20],
    "sub/empty.json": b"",
    **{f"sub/{number}.json": os.urandom(number * 1000) for number in range(1, 12)},
}
SUMS = "".join(f"{sha256(body)}  {path}\n" for path, body in FILES.items()).encode()
SITE = {**FILES, "SHA256SUMS": SUMS}


@pytest.mark.parametrize("seed", range(count(500, sampled=60)))
def test_right_bytes_or_a_refusal(tmp_path: Path, seed: int, short_stall: float) -> None:
    dice = random.Random(seed)
    with Site(SITE) as site:
        told = [spoil(site, dice) for _ in range(dice.randint(1, 4))]
        try:
            fetched(site.url, tmp_path / "d")
        except KfpTrainerError as error:
            assert not (tmp_path / "d").exists(), f"{told}: a folder beside {error}"
            assert "\n" not in str(error)
        else:
            assert tree(tmp_path / "d") == SITE, told
        site.web.faults.clear()
        fetched(site.url, tmp_path / "d")
        assert tree(tmp_path / "d") == SITE, told
    assert [path.name for path in tmp_path.iterdir()] == ["d"], "nothing else is left"


def spoil(site: Site, dice: random.Random) -> str:
    """Set one fault for some requests and name it."""
    name = dice.choice(list(FAULTS))
    path = dice.choice(["model-1", "model-2", "config.json", r"sub/\d", "SHA256SUMS", "json", "^/"])
    times = dice.choice([1, 1, 2, 4, 100])
    method = dice.choice(["GET", "GET", "GET", "HEAD", ""])
    site.web.spoil(**FAULTS[name](dice), path=path, method=method, times=times)
    return f"{name} for {times} {method or 'any'} of {path}"
