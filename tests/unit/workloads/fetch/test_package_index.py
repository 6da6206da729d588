"""Which index is asked for a wheel, and pages of indexes that are none."""

import sys
from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.fetch.hidden import Secrets
from kfp_trainer.runtime_operator.workloads.fetch.http_client import Document
from kfp_trainer.runtime_operator.workloads.fetch.sources import package_index
from kfp_trainer.runtime_operator.workloads.fetch.sources.package_index import Wheel, index_url, wheels_of
from kfp_trainer.runtime_operator.workloads.fetch.troubles import FetchError

OWN = "pip._internal.models.index"


@pytest.fixture(autouse=True)
def nothing_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No file of this machine has a say."""
    monkeypatch.setattr(package_index, "_CONFIGURATIONS", (str(tmp_path / "pip.conf"),))
    monkeypatch.delenv("PIP_CONFIG_FILE", raising=False)


GIVEN = {
    "uv's own before all": ({"UV_DEFAULT_INDEX": "http://a/s/", "PIP_INDEX_URL": "http://b/s"}, "http://a/s"),
    "uv's older name": ({"UV_INDEX_URL": "http://a/s", "PIP_INDEX_URL": "http://b/s"}, "http://a/s"),
    "pip's": ({"PIP_INDEX_URL": "http://b/s//"}, "http://b/s"),
}


@pytest.mark.parametrize("sentence", GIVEN)
def test_a_variable_names_the_index(sentence: str) -> None:
    environ, want = GIVEN[sentence]
    assert index_url(Secrets(environ)) == want


def test_a_file_of_pips_names_the_index(tmp_path: Path) -> None:
    (tmp_path / "pip.conf").write_text("[global]\nindex-url = http://c/simple\n")
    assert index_url(Secrets({})) == "http://c/simple"


def test_a_file_that_is_no_configuration_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pip.conf").write_bytes(b"\xff\xfe no section")
    monkeypatch.setitem(sys.modules, OWN, None)
    with pytest.raises(FetchError, match="no index is configured"):
        index_url(Secrets({}))


def test_without_one_it_is_pips_own(monkeypatch: pytest.MonkeyPatch) -> None:
    class Module:
        class PyPI:
            simple_url = "http://of-pips/simple/"

    monkeypatch.setitem(sys.modules, OWN, Module)
    assert index_url(Secrets({})) == "http://of-pips/simple"


ABSENT = {"pip is not here": None, "pip keeps it elsewhere by now": object()}


@pytest.mark.parametrize("sentence", ABSENT)
def test_without_pip_one_is_told_what_to_set(sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, OWN, ABSENT[sentence])
    with pytest.raises(FetchError) as caught:
        index_url(Secrets({}))
    assert str(caught.value) == "package://: no index is configured, set PIP_INDEX_URL to the one to ask"


SUM = "0" * 64
PAGES: dict[str, tuple[str, bytes]] = {
    "JSON that is none": ("application/vnd.pypi.simple.v1+json", b"<html>log in</html>"),
    "JSON that is no page": ("application/json", b"[1, 2]"),
    "files that are no list": ("application/json", b'{"files": {"a": 1}}'),
    "files without names": ("application/json", b'{"files": [{"url": "x"}, "y", null]}'),
    "sums that are none": (
        "application/json",
        b'{"files": [{"filename": "a-1-py3-none-any.whl", "url": "a.whl", "hashes": {"sha256": "short"}}]}',
    ),
    "HTML with wheels that have no sum": ("text/html", b'<a href="/a-1-py3-none-any.whl">a</a>'),
    "HTML with a sum that is none": ("text/html", b'<a href="/a-1-py3-none-any.whl#sha256=xyz">a</a>'),
    "an address that is none": (
        "text/html",
        f'<a href="http://[x/a-1-py3-none-any.whl#sha256={"0" * 64}">a</a>'.encode(),
    ),
    "no text at all": ("text/html", b"\xff\xfe\x00"),
}


@pytest.mark.parametrize("sentence", PAGES)
def test_a_page_that_is_no_index_lists_no_wheel(sentence: str) -> None:
    kind, body = PAGES[sentence]
    assert wheels_of(Document(200, {"content-type": kind}, body, "http://i/simple/a/")) == []


def test_a_page_lists_wheels_by_full_address() -> None:
    page = f'<a href="../../f/a%2B1-1-py3-none-any.whl#sha256={SUM}" data-x="1">a</a>'.encode()
    found = wheels_of(Document(200, {"content-type": "text/html"}, page, "http://i/simple/a/"))
    assert found == [Wheel("a+1-1-py3-none-any.whl", "http://i/f/a%2B1-1-py3-none-any.whl", SUM)]
