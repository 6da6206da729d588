"""The authority reaches every hook of our two configurations, and nothing else of them changes."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from kfp_trainer.runtime_operator.kube.resource import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from kfp_trainer.runtime_operator.webhook.trust import CONFIGURATIONS, OLDER_KINDS, publish

NAMES = {
    MUTATING_WEBHOOKS: "defaulter.trainer.kubeflow.org",
    VALIDATING_WEBHOOKS: "validator.trainer.kubeflow.org",
}


def configure(server: Any) -> None:
    for resource, name in NAMES.items():
        hooks = [
            {"name": hook, "clientConfig": {"service": {"name": "hook"}}, "timeoutSeconds": 5}
            for hook in ("a.b.c", "d.e.f")
        ]
        server.put(resource, "", {"metadata": {"name": name}, "webhooks": hooks})


async def test_every_hook_gets_it_once(server: Any) -> None:
    configure(server)
    await publish(server, b"authority")
    for resource, name in NAMES.items():
        for hook in server.find(resource, "", name)["webhooks"]:
            assert base64.b64decode(hook["clientConfig"]["caBundle"]) == b"authority"
            assert hook["clientConfig"]["service"] == {"name": "hook"}
            assert hook["timeoutSeconds"] == 5
    await publish(server, b"authority")
    assert [call[0] for call in server.calls].count("apply") == 2


async def test_a_new_authority_replaces_the_old_one(server: Any) -> None:
    configure(server)
    await publish(server, b"old")
    await publish(server, b"new")
    (hook, _) = server.find(MUTATING_WEBHOOKS, "", NAMES[MUTATING_WEBHOOKS])["webhooks"]
    assert base64.b64decode(hook["clientConfig"]["caBundle"]) == b"new"


async def test_a_configuration_that_was_removed_stays_away(
    server: Any, caplog: pytest.LogCaptureFixture
) -> None:
    await publish(server, b"authority")
    assert server.objects == {}
    assert caplog.text.count("no webhook configuration") == 2


async def test_configurations_of_kinds_that_are_not_served_are_not_asked_for(server: Any) -> None:
    await publish(server, b"authority")
    assert {name for _, _, name in server.calls} == {name for _, name in CONFIGURATIONS}
    server.calls.clear()
    await publish(server, b"authority", CONFIGURATIONS + OLDER_KINDS)
    assert {name for _, _, name in server.calls} == {name for _, name in CONFIGURATIONS + OLDER_KINDS}


def test_kueue_is_asked_before_a_job_is_called_ours() -> None:
    name = next(name for resource, name in OLDER_KINDS if resource == MUTATING_WEBHOOKS)
    assert name > "kueue-mutating-webhook-configuration"
