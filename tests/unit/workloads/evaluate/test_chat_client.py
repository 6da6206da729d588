"""A served chat model is asked again where that helps, and what does not help is said in one sentence."""

import json
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError, Retryable, SetupError, SpecError
from kfp_trainer.runtime_operator.workloads.evaluate import EvaluateSettings
from kfp_trainer.runtime_operator.workloads.evaluate.chat_client import ChatClient
from kfp_trainer.runtime_operator.workloads.settings import parse_settings
from tests.servers.chat import refused, said
from tests.servers.ports import free_port
from tests.servers.web import Answer, WebServer

HELLO = [{"role": "user", "content": "hello"}]


def client(url: str, waits: list[float], *, patience: float = 30.0) -> ChatClient:
    return ChatClient(f"{url}/v1", "m", patience=patience, seed=7, sleep=waits.append)


def test_a_question_is_asked_greedily_and_with_the_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    with WebServer(lambda asked: said("hi")) as server:
        assert client(server.url, []).ask(HELLO, longest=9, ends=["<end>", *"abcdef"]) == "hi"
    (asked,) = server.asked
    assert (asked.method, asked.path) == ("POST", "/v1/chat/completions")
    assert asked.headers["authorization"] == "Bearer secret"
    assert json.loads(asked.body) == {
        "model": "m", "messages": HELLO, "max_tokens": 9, "temperature": 0, "seed": 7,
        "stop": ["<end>", "a", "b", "c"],
    }  # fmt: skip


def test_nothing_said_is_an_answer() -> None:
    with WebServer(lambda asked: said(None)) as server:
        assert client(server.url, []).ask(HELLO, longest=9) == ""


# what is wrong at first, and what is waited before it goes right
MENDED: dict[str, tuple[list[dict[str, object]], list[float]]] = {
    "busy twice": ([{"answer": refused(429, "slow down"), "times": 2}], [1, 2]),
    "busy, and says for how long": ([{"answer": refused(429, "slow down", Retry_After="3")}], [3]),
    "busy for an hour, it says": ([{"answer": refused(503, "", Retry_After="3600")}], [60]),
    "says a date, which is not read": ([{"answer": refused(503, "", Retry_After="tomorrow")}], [1]),
    "breaks off": ([{"cut_after": 5}, {"reset": True, "cut_after": 0}], [1, 2]),
}


@pytest.mark.parametrize("sentence", MENDED)
def test_it_is_asked_again(sentence: str) -> None:
    faults, expected = MENDED[sentence]
    waits: list[float] = []
    with WebServer(lambda asked: said("hi")) as server:
        for fault in faults:
            server.spoil(**fault)  # type: ignore[arg-type]
        assert client(server.url, waits).ask(HELLO, longest=9) == "hi"
    assert waits == expected


FAILED: dict[str, tuple[Answer, type[KfpTrainerError], str, int]] = {
    "busy for good": (refused(429, "slow down"), Retryable, "broken (429 Too Many Requests: slow", 5),
    "broken": (Answer(500, body=b"<html>oh</html>"), Retryable, "(500 Internal Server Error: <html>", 5),
    "the key is missing": (refused(401, "no key"), SetupError, "no key), put its key into OPENAI_API_KEY", 1),
    "another path": (refused(404, "no such path"), SpecError, "check the URL up to /v1 and the name m", 1),
    "a question too long": (refused(400, "at most 256 tokens"), SpecError, "Request: at most 256 tokens", 1),
    "another kind of server": (Answer(body=b"It works!"), SetupError, "it says 'It works!'; give its URL", 1),
    "no choices": (Answer(body=b'{"choices": []}'), SetupError, "answers as no chat model does", 1),
}  # fmt: skip


@pytest.mark.parametrize("sentence", FAILED)
def test_what_is_said_in_the_end(sentence: str) -> None:
    answer, kind, words, times = FAILED[sentence]
    with WebServer(lambda asked: answer) as server, pytest.raises(kind) as failed:
        client(server.url, []).ask(HELLO, longest=9)
    assert words in str(failed.value)
    assert "\n" not in str(failed.value)
    assert len(server.asked) == times


def test_nobody_is_there() -> None:
    waits: list[float] = []
    with pytest.raises(SetupError, match=r"cannot be reached, .*refused; start it or correct the URL"):
        client(f"http://127.0.0.1:{free_port()}", waits).ask(HELLO, longest=9)
    assert waits == [1, 2, 4, 8]


def test_a_server_that_hangs_is_waited_for_once() -> None:
    with WebServer(lambda asked: said("never")) as server:
        server.spoil(cut_after=0, hang=True, times=9)
        with pytest.raises(Retryable, match=r"did not answer within 0\.2 s, raise patience"):
            client(server.url, [], patience=0.2).ask(HELLO, longest=9)
    assert len(server.asked) == 1


URLS = {
    "no name of the model": ("http://h/v1", "does not say which model, add its name: http://h/v1#NAME"),
    "a password": ("http://me:secret@h/v1#m", "put the key into OPENAI_API_KEY instead"),
}


@pytest.mark.parametrize("sentence", URLS)
def test_urls_that_are_refused(sentence: str) -> None:
    url, words = URLS[sentence]
    with pytest.raises(SpecError) as failed:
        parse_settings(EvaluateSettings, {"model": url, "dataset": Path("d"), "output": Path("o")})
    assert words in str(failed.value)
    assert "secret" not in str(failed.value)
