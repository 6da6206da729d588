"""Index pages of web servers, and signatures of AWS."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.http_client import Document
from kfp_trainer.runtime_operator.workloads.fetch.sources.http_index import links
from kfp_trainer.runtime_operator.workloads.fetch.sources.sts import sign
from kfp_trainer.runtime_operator.workloads.fetch.troubles import FetchError

URL = "http://h/data/"
HTML = "text/html; charset=utf-8"
PAGES = {
    "Python's": (
        HTML,
        '<li><a href="a.txt">a.txt</a></li><li><a href="sub/">sub/</a></li>',
        ["a.txt", "sub/"],
    ),
    "Apache's sorting links and parent": (
        HTML,
        '<a href="?C=N;O=D">Name</a><a href="/">Parent</a><a href="/data/">.</a><a href="a">a</a>',
        ["a"],
    ),
    "nginx in HTML": (HTML, '<a href="../">../</a>\n<a href="b%20c">b c</a>  20-Nov 12', ["b%20c"]),
    "nginx in JSON": (
        "application/json",
        '[{"name": "x y", "type": "file", "size": 3}, {"name": "d", "type": "directory"}]',
        ["x%20y", "d/"],
    ),
    "absolute links below it": (HTML, '<a href="/data/a">a</a><a href="http://h/data/b">b</a>', ["a", "b"]),
    "links that lead elsewhere": (
        HTML,
        '<a href="http://evil/data/a">a</a><a href="/other">b</a><a href="https://h/data/c">c</a><a>d</a>',
        [],
    ),
    "a link twice": (HTML, '<a href="a"><img></a><a href="a#top">a</a>', ["a"]),
    "a link with a query": (HTML, '<a href="a?download">a</a>', []),
    "a link that is no address": (HTML, '<a href="http://[x">a</a><a href="b">b</a>', ["b"]),
    "nothing": (HTML, "<html></html>", []),
}


@pytest.mark.parametrize("sentence", PAGES)
def test_links_below(sentence: str) -> None:
    kind, body, want = PAGES[sentence]
    page = Document(200, {"content-type": kind}, body.encode(), URL)
    assert [link.removeprefix(URL) for link in links(page, URL, URL)] == want


def test_a_signed_query_stays_with_its_links() -> None:
    page = Document(200, {"content-type": HTML}, b'<a href="a">a</a>', URL)
    assert list(links(page, f"{URL}?sig=1", URL)) == [f"{URL}a?sig=1"]


WRONG = {
    "a file": (
        "application/octet-stream",
        b"x",
        "is application/octet-stream and not an index, leave out the last /",
    ),
    "no type": ("", b"", "is of no known type and not an index"),
    "other JSON": ("application/json", b'{"a": 1}', "not a list of objects with a name"),
    "JSON nested without end": ("application/json", b"[" * 200_000, "not a list of objects with a name"),
    "broken JSON": ("application/json", b"[{", "not a list of objects with a name"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_no_index(sentence: str) -> None:
    kind, body, want = WRONG[sentence]
    with pytest.raises(FetchError, match=want):
        list(links(Document(200, {"content-type": kind}, body, URL), URL, URL))


def test_a_signature_is_the_one_that_botocore_makes() -> None:
    auth = pytest.importorskip("botocore.auth")
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials

    body = b"Action=AssumeRole"
    now = datetime.now(UTC)
    ours = sign(
        "https://sts.eu-west-1.amazonaws.com",
        body,
        key="AKID",
        secret="se/cret",
        token="tok",
        region="eu-west-1",
        now=now,
    )
    request = AWSRequest(
        "POST",
        "https://sts.eu-west-1.amazonaws.com/",
        data=body,
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    signer = auth.SigV4Auth(Credentials("AKID", "se/cret", "tok"), "sts", "eu-west-1")
    request.context["timestamp"] = now.strftime("%Y%m%dT%H%M%SZ")
    request.headers["X-Amz-Date"] = request.context["timestamp"]
    request.headers["X-Amz-Security-Token"] = "tok"
    theirs = signer.signature(signer.string_to_sign(request, signer.canonical_request(request)), request)
    assert ours["authorization"].endswith(f"Signature={theirs}")
