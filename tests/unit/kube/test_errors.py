"""What refusals mean."""

import json

import pytest

from kfp_trainer.runtime_operator.kube import errors

STATUS = {"kind": "Status", "message": "no", "reason": "Because", "details": {"name": "a"}}

CASES = {
    "a missing object": (404, "NotFound", errors.NotFound, False),
    "a name that is taken": (409, "AlreadyExists", errors.AlreadyExists, False),
    "another version": (409, "Conflict", errors.Conflict, False),
    "a version that is too old": (410, "Expired", errors.Gone, False),
    "quota or RBAC": (403, "Forbidden", errors.Forbidden, False),
    "a webhook's no": (400, "BadRequest", errors.BadRequest, False),
    "a rule of the kind": (422, "Invalid", errors.Invalid, False),
    "an unknown token": (401, "Unauthorized", errors.Unauthorized, False),
    "too many requests": (429, "TooManyRequests", errors.TooMany, True),
    "a webhook that is away": (500, "InternalError", errors.ServerTrouble, True),
    "an API server that stops": (503, "ServiceUnavailable", errors.ServerTrouble, True),
    "what can never be": (501, "NotImplemented", errors.ServerTrouble, False),
}


@pytest.mark.parametrize("sentence", CASES)
def test_class_and_whether_to_try_again(sentence: str) -> None:
    code, reason, meaning, is_retryable = CASES[sentence]
    error = errors.error_of_answer(code, json.dumps({**STATUS, "reason": reason}).encode())
    assert type(error) is meaning
    assert (error.is_retryable, error.status, error.reason) == (is_retryable, code, reason)
    assert (str(error), error.details) == ("no", {"name": "a"})


def test_silence_is_worth_another_try() -> None:
    assert errors.Unreachable("cut").is_retryable


ANSWERS = {
    "the header counts": (b"{}", "7", 7.0),
    "the Status counts where there is no header": (
        json.dumps({**STATUS, "details": {"retryAfterSeconds": 3}}).encode(),
        None,
        3.0,
    ),
    "a date is not understood, and not obeyed": (b"{}", "Fri, 31 Dec 1999 23:59:59 GMT", None),
}


@pytest.mark.parametrize("sentence", ANSWERS)
def test_how_long_to_wait(sentence: str) -> None:
    body, header, seconds = ANSWERS[sentence]
    assert errors.error_of_answer(429, body, retry_after=header).retry_after == seconds


def test_a_server_that_starts_is_asked_sooner_than_it_says() -> None:
    error = errors.error_of_answer(503, b"{}", retry_after="5")
    assert error.retry_after == errors.PATIENCE_WITH_TROUBLE


def test_an_answer_of_something_else_is_quoted_and_cut() -> None:
    error = errors.error_of_answer(502, b"<html>" + b"x" * 1000)
    assert error.message.startswith("<html>xxx")
    assert len(error.message) == 300
    assert str(errors.error_of_answer(502, b"")) == "answered 502 without a word"
    assert str(errors.error_of_answer(502, b"[1]")) == "[1]"
