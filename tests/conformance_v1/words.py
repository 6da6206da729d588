"""Refusals in the words of an API server and its webhooks, to be compared with recorded ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kfp_trainer.runtime_operator.errors import FieldError
from kfp_trainer.runtime_operator.webhook.wording import refusal as by_webhook

Json = Mapping[str, Any]


def refusal(document: Json, errors: Sequence[FieldError], *, by_schema: bool) -> str:
    """The message of a refusal."""
    told = by_webhook(document, errors)
    if not by_schema:
        return told
    return f'{document["kind"]}.kubeflow.org "{document["metadata"]["name"]}" is invalid: {told}'
