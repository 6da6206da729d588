"""Which login of a docker config.json is for a repository."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.sources.oci_auth import Credentials, read_login
from kfp_trainer.runtime_operator.workloads.fetch.troubles import FetchError


def _auth(user: str, password: str = "p4ssword") -> dict[str, str]:
    return {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}


LOGINS: dict[str, tuple[dict[str, Any], Credentials | None]] = {
    "by host": ({"reg.io": _auth("host")}, Credentials("host", "p4ssword")),
    "by address": ({"https://reg.io/v1/": _auth("old")}, Credentials("old", "p4ssword")),
    "the longest name wins": (
        {"reg.io": _auth("host"), "reg.io/org": _auth("org"), "reg.io/org/car": _auth("car")},
        Credentials("car", "p4ssword"),
    ),
    "a longer host is another one": ({"reg.io.evil.example": _auth("evil"), "reg": _auth("evil")}, None),
    "a password with a colon": ({"reg.io": _auth("u", "a:b")}, Credentials("u", "a:b")),
    "name and password apart": (
        {"reg.io": {"username": "u", "password": "p"}},
        Credentials("u", "p"),
    ),
    "an identity token": ({"reg.io": {"identitytoken": "t"}}, Credentials(identity_token="t")),
    "an empty entry, as credential helpers leave it": ({"reg.io": {}}, None),
    "an entry that is no base64": ({"reg.io": {"auth": "%%%"}}, None),
    "nothing": ({}, None),
}


@pytest.mark.parametrize("sentence", LOGINS)
def test_a_login_is_found(tmp_path: Path, sentence: str) -> None:
    auths, want = LOGINS[sentence]
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"auths": auths}), encoding="utf-8")
    assert read_login(file, "reg.io", "org/car") == want


def test_docker_hub_has_its_old_key(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"auths": {"https://index.docker.io/v1/": _auth("me")}}), encoding="utf-8")
    found = read_login(file, "docker.io", "org/car")
    assert found == Credentials("me", "p4ssword")


def test_a_file_that_is_none_is_said(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text("{", encoding="utf-8")
    with pytest.raises(FetchError, match="is no docker config"):
        read_login(file, "reg.io", "org/car")


def test_no_file_is_no_login(tmp_path: Path) -> None:
    assert read_login(tmp_path / "none", "reg.io", "org/car") is None


def test_a_password_is_not_shown() -> None:
    assert "canary" not in repr(Credentials("me", "canary", "canary"))
