"""The heads and bodies that servers send, well or badly, over a socket of the test's own."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.chunks import Chunks
from kfp_trainer.runtime_operator.workloads.fetch.http_address import place_and_target
from kfp_trainer.runtime_operator.workloads.fetch.wire import Answer, BadRequest, Wire

PATIENCE = 30.0


@contextmanager
def wire_that_hears(said: bytes, *, patience: float = PATIENCE) -> Iterator[tuple[Wire, socket.socket]]:
    """A connection whose other side has said something and then ended."""
    ours, theirs = socket.socketpair()
    ours.settimeout(PATIENCE)
    theirs.sendall(said)
    theirs.shutdown(socket.SHUT_WR)
    wire = Wire(ours, patience=patience)
    try:
        yield wire, theirs
    finally:
        wire.close()
        theirs.close()


def heard(said: bytes, method: str = "GET") -> Answer:
    with wire_that_hears(said) as (wire, _):
        return wire.ask(method, "/", {})


def test_a_request_is_what_the_rules_ask_for() -> None:
    with wire_that_hears(b"HTTP/1.1 204 No Content\r\n\r\n") as (wire, theirs):
        wire.ask("POST", "/a?b=c", {"host": "h", "X-Some": "é"}, b"body")
        wire.sock.shutdown(socket.SHUT_WR)
        sent = theirs.makefile("rb").read()
    assert sent == (b"POST /a?b=c HTTP/1.1\r\nhost: h\r\nX-Some: \xe9\r\nContent-Length: 4\r\n\r\nbody")


ANSWERS: dict[str, tuple[bytes, tuple[int, str, int | None, bool, bool]]] = {
    "a length": (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", (200, "OK", 5, False, False)),
    "no reason": (b"HTTP/1.1 206\r\ncontent-length:5\r\n\r\n", (206, "", 5, False, False)),
    "line feeds alone": (b"HTTP/1.1 200 Fine so\nContent-Length: 5\n\n", (200, "Fine so", 5, False, False)),
    "the same length twice": (
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
        (200, "OK", 5, False, False),
    ),
    "chunks, and a length beside them": (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nContent-Length: 5\r\n\r\n",
        (200, "OK", None, True, False),
    ),
    "no length": (b"HTTP/1.1 200 OK\r\n\r\n", (200, "OK", None, False, True)),
    "it will close": (
        b"HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n",
        (200, "OK", 0, False, True),
    ),
    "the old version": (b"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\n", (200, "OK", 1, False, True)),
    "the old version, kept alive": (
        b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\n",
        (200, "OK", 1, False, False),
    ),
    "promises first": (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n",
        (200, "OK", 1, False, False),
    ),
    "nothing to say": (
        b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
        (304, "Not Modified", 0, False, False),
    ),
}


@pytest.mark.parametrize("sentence", ANSWERS)
def test_a_head_is_read(sentence: str) -> None:
    said, (status, reason, length, chunked, will_close) = ANSWERS[sentence]
    answer = heard(said)
    assert (answer.status, answer.reason, answer.length) == (status, reason, length)
    assert (answer.chunked, answer.will_close) == (chunked, will_close)


def test_an_answer_to_head_has_no_body() -> None:
    answer = heard(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "HEAD")
    assert answer.length == 0 and answer.headers["content-length"] == "5"


def test_headers_are_found_by_lower_case_name() -> None:
    answer = heard(
        b'HTTP/1.1 200 OK\r\nETag: "a:b" \r\nVia:x\r\nVIA: y\r\nEmpty:\r\nContent-Length: 0\r\n\r\n'
    )
    assert answer.headers == {"etag": '"a:b"', "via": "x, y", "empty": "", "content-length": "0"}


BAD: dict[str, bytes] = {
    "no HTTP": b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
    "another HTTP": b"HTTP/2 200 OK\r\n\r\n",
    "no status": b"HTTP/1.1 abc\r\n\r\n",
    "an end in the head": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n",
    "an end in a line": b"HTTP/1.1 200 OK\r\nContent-Le",
    "a line that is no header": b"HTTP/1.1 200 OK\r\nhello\r\n\r\n",
    "a space before the colon": b"HTTP/1.1 200 OK\r\nContent-Length : 5\r\n\r\n",
    "a folded line": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 5\r\n\r\n",
    "a bare carriage return": b"HTTP/1.1 200 OK\r\nX: a\rContent-Length: 9\r\nContent-Length: 5\r\n\r\n",
    "two lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
    "a length below zero": b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
    "a length that is none": b"HTTP/1.1 200 OK\r\nContent-Length: 0x5\r\n\r\n",
    "a coding nobody asked for": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
    "very many headers": b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 300 + b"\r\n",
    "promises without end": b"HTTP/1.1 100 Continue\r\n\r\n" * 40,
    "a line without end": b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000,
}


@pytest.mark.parametrize("sentence", BAD)
def test_a_head_that_may_mean_two_things_is_none(sentence: str) -> None:
    with pytest.raises(HTTPException):
        heard(BAD[sentence])


def test_a_connection_that_was_closed_is_told_from_a_bad_answer() -> None:
    with pytest.raises(ConnectionError):
        heard(b"")


def test_a_head_that_trickles_is_silence() -> None:
    with wire_that_hears(b"HTTP/1.1 200 OK\r\n\r\n", patience=-1) as (wire, _), pytest.raises(TimeoutError):
        wire.ask("GET", "/", {})


REQUESTS: dict[str, tuple[str, dict[str, str]]] = {
    "a header with a second request in it": ("/", {"Authorization": "Bearer planted-token\r\n\r\nGET /"}),
    "a token with a line feed": ("/", {"Authorization": "Bearer planted-token\nx"}),
    "an address with one": ("/a\r\nX: y", {}),
    "a token that no header can hold": ("/", {"Authorization": "Bearer planted-token\u2019"}),
}


@pytest.mark.parametrize("sentence", REQUESTS)
def test_nothing_is_sent_that_others_would_read_as_more(sentence: str) -> None:
    target, headers = REQUESTS[sentence]
    with wire_that_hears(b"HTTP/1.1 200 OK\r\n\r\n") as (wire, theirs):
        with pytest.raises(BadRequest) as caught:
            wire.ask("GET", target, headers)
        wire.sock.shutdown(socket.SHUT_WR)
        assert theirs.makefile("rb").read() == b""
    assert "planted" not in str(caught.value)


BODIES: dict[str, tuple[bytes, bytes]] = {
    "two chunks": (b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", b"abcde"),
    "sizes in both cases, with remarks": (b"A;name=value\r\n0123456789\r\n0\r\n\r\n", b"0123456789"),
    "trailers": (b"1\r\nx\r\n0\r\nDigest: abc\r\n\r\n", b"x"),
    "nothing": (b"0\r\n\r\n", b""),
}


def body_of(said: bytes) -> bytes:
    with wire_that_hears(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + said) as (wire, _):
        chunks, buffer, found = Chunks(wire.ask("GET", "/", {}).file), memoryview(bytearray(4)), b""
        while count := chunks.readinto1(buffer):
            found += bytes(buffer[:count])
        assert chunks.readinto1(buffer) == 0
        return found


@pytest.mark.parametrize("sentence", BODIES)
def test_chunks_are_one_body(sentence: str) -> None:
    said, body = BODIES[sentence]
    assert body_of(said) == body


BROKEN: dict[str, bytes] = {
    "an end in a chunk": b"5\r\nabc",
    "an end between chunks": b"3\r\nabc\r\n",
    "an end before the last line": b"3\r\nabc\r\n0\r\n",
    "a size that is none": b"x\r\nabc\r\n0\r\n\r\n",
    "a size below zero": b"-3\r\nabc\r\n0\r\n\r\n",
    "a chunk longer than its size": b"2\r\nabc\r\n0\r\n\r\n",
    "a size beyond all measure": b"f" * 20 + b"\r\nabc\r\n0\r\n\r\n",
    "trailers without end": b"0\r\n" + b"X: y\r\n" * 100,
}


@pytest.mark.parametrize("sentence", BROKEN)
def test_a_body_that_is_not_whole_is_never_taken_for_one(sentence: str) -> None:
    with pytest.raises(ValueError):
        body_of(BROKEN[sentence])


def test_two_answers_come_over_one_connection() -> None:
    one = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab"
    with wire_that_hears(one + one.replace(b"ab", b"cd")) as (wire, _):
        assert wire.ask("GET", "/1", {}).file.read(2) == b"ab"
        assert wire.ask("GET", "/2", {}).file.read(2) == b"cd"


ADDRESSES = {
    "http://h:80/a%20b?x=1": (("http", "h:80"), "/a%20b?x=1", False),
    "http://h": (("http", "h"), "/", False),
    "https://u:p@h/a#frag": (("https", "h"), "/a", True),
    "https://h/ä b?q=ö": (("https", "h"), "/%C3%A4%20b?q=%C3%B6", False),
    "http://[::1]:5/x": (("http", "[::1]:5"), "/x", False),
    "http://h?q=1": (("http", "h"), "/?q=1", False),
}


@pytest.mark.parametrize("url", ADDRESSES)
def test_an_address_names_a_place_and_a_target(url: str) -> None:
    place, target, pair = place_and_target(url)
    assert (place, target, bool(pair)) == ADDRESSES[url]


def test_a_slow_head_is_waited_for() -> None:
    ours, theirs = socket.socketpair()
    ours.settimeout(PATIENCE)
    wire = Wire(ours, patience=PATIENCE)

    def answer() -> None:
        theirs.recv(100)
        for piece in (b"HTTP/1.1 2", b"00 OK\r\nContent-", b"Length: 0\r\n\r", b"\n"):
            theirs.sendall(piece)

    teller = threading.Thread(target=answer)
    teller.start()
    try:
        assert wire.ask("GET", "/", {}).length == 0
    finally:
        teller.join()
        wire.close()
        theirs.close()
