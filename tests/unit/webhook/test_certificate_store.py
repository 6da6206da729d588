"""Where the pair comes from, and what happens when two replicas want to renew it."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kfp_trainer.runtime_operator.errors import SetupError
from kfp_trainer.runtime_operator.kube.resource import SECRETS
from kfp_trainer.runtime_operator.webhook.certificate_store import FolderStore, SecretStore
from kfp_trainer.runtime_operator.webhook.certificates import issue, names_of

NOW = datetime(2026, 1, 2, tzinfo=UTC)
NAMES = names_of("hook", "system")
PLACE = ("system", "pair")


def store(server: Any, now: datetime = NOW) -> SecretStore:
    return SecretStore(server, *PLACE, NAMES, now=lambda: now)


def empty(server: Any) -> None:
    server.put(SECRETS, "system", {"metadata": {"name": "pair", "namespace": "system"}})


async def test_an_empty_secret_is_filled_once(server: Any) -> None:
    empty(server)
    first = await store(server).pair()
    second = await store(server).pair()
    assert first == second
    assert [call[0] for call in server.calls] == ["get", "patch", "get"]
    data = server.find(SECRETS, *PLACE)["data"]
    assert base64.b64decode(data["tls.crt"]) == first.certificate
    assert set(data) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}


async def test_a_secret_that_is_not_there_is_made(server: Any) -> None:
    made = await store(server).pair()
    assert await store(server).pair() == made
    assert [call[0] for call in server.calls] == ["get", "create", "get"]


async def test_what_is_no_certificate_is_replaced(server: Any) -> None:
    server.put(SECRETS, "system", {"metadata": {"name": "pair"}, "data": {"tls.crt": "?", "ca.crt": "eA=="}})
    made = await store(server).pair()
    assert await store(server).pair() == made


async def test_an_old_pair_is_renewed_under_its_authority(server: Any) -> None:
    first = await store(server).pair()
    renewed = await store(server, NOW + timedelta(days=300)).pair()
    assert renewed.certificate != first.certificate
    assert renewed.authority == first.authority


async def test_of_two_that_renew_at_once_both_serve_the_same(server: Any) -> None:
    empty(server)
    theirs: list[Any] = []

    def another_is_faster() -> None:
        made = issue(NAMES, now=NOW)
        theirs.append(made)
        files = {
            "ca.crt": made.authority, "ca.key": made.authority_key,
            "tls.crt": made.certificate, "tls.key": made.key,
        }  # fmt: skip
        data = {name: base64.b64encode(content).decode() for name, content in files.items()}
        server.put(SECRETS, "system", {"metadata": {"name": "pair"}, "data": data})

    server.before_write = another_is_faster
    assert [await store(server).pair()] == theirs


async def test_a_secret_that_somebody_keeps_writing_is_told(server: Any) -> None:
    empty(server)

    def again() -> None:
        empty(server)
        server.before_write = again

    server.before_write = again
    with pytest.raises(SetupError, match="secret system/pair: somebody writes it all the time"):
        await store(server).pair()


async def test_files_of_somebody_else_are_read_as_they_are(tmp_path: Path) -> None:
    made = issue(NAMES, now=NOW)
    (tmp_path / "tls.crt").write_bytes(made.certificate)
    (tmp_path / "tls.key").write_bytes(made.key)
    found = await FolderStore(tmp_path).pair()
    assert (found.certificate, found.key, found.authority) == (made.certificate, made.key, b"")
    (tmp_path / "ca.crt").write_bytes(made.authority)
    assert (await FolderStore(tmp_path).pair()).authority == made.authority


async def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"tls\.crt: no such file or directory; put tls\.crt and tls\.key"):
        await FolderStore(tmp_path).pair()
