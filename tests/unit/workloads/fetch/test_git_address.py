"""Which repository, revision and folder a git+https:// address means."""

from __future__ import annotations

import pytest

from kfp_trainer.runtime_operator.errors import SpecError
from kfp_trainer.runtime_operator.workloads.fetch.hidden import Secrets
from kfp_trainer.runtime_operator.workloads.fetch.sources.git import with_credentials
from kfp_trainer.runtime_operator.workloads.fetch.sources.git_address import GitAddress, parse_git_address
from kfp_trainer.runtime_operator.workloads.fetch.uri import parse_uri

URL = "https://h.io/org/repo.git"
MEANT = {
    "the default branch": ("git+https://h.io/org/repo.git", GitAddress(URL, "")),
    "a tag": ("git+https://h.io/org/repo.git@v1.0", GitAddress(URL, "v1.0")),
    "a branch with slashes": ("git+https://h.io/org/repo.git@feature/x", GitAddress(URL, "feature/x")),
    "a full name": ("git+https://h.io/org/repo.git@refs/tags/v1", GitAddress(URL, "refs/tags/v1")),
    "a folder": ("git+https://h.io/org/repo.git@v1#subdirectory=a/b", GitAddress(URL, "v1", "a/b")),
    "a folder of the default branch": (
        "git+https://h.io/org/repo.git#subdirectory=a/",
        GitAddress(URL, "", "a"),
    ),
    "a folder with a blank": ("git+https://h.io/org/repo.git#subdirectory=a%20b", GitAddress(URL, "", "a b")),
    "a user in the path": (
        "git+https://h.io/~me@x/repo.git@v1",
        GitAddress("https://h.io/~me@x/repo.git", "v1"),
    ),
    "no .git at the end": ("git+https://h.io/org/repo@v1", GitAddress("https://h.io/org/repo", "v1")),
    "a password": (
        "git+https://me:canary12@h.io/org/repo.git",
        GitAddress(URL, "", user="me", password="canary12"),
    ),
}
REFUSED = {
    "no repository": ("git+https://h.io/", "names no repository"),
    "no host": ("git+https:///org/repo.git", "names no repository"),
    "an empty revision": ("git+https://h.io/r.git@", "names no repository"),
    "a revision that looks like an option": ("git+https://h.io/r.git@--upload-pack=x", "is no revision"),
    "a range": ("git+https://h.io/r.git@a..b", "is no revision"),
    "a refspec": ("git+https://h.io/r.git@a:b", "is no revision"),
    "a line break": ("git+https://h.io/r.git@a%0Ab", "is no revision"),
    "a parent of a commit": ("git+https://h.io/r.git@main~1", "is no revision"),
    "another word behind the #": ("git+https://h.io/r.git#egg=x", "only a folder may stand"),
    "a folder that leads out": ("git+https://h.io/r.git#subdirectory=../x", "only a folder may stand"),
    "a query": ("git+https://h.io/r.git?token=canary12", "a query is not served"),
}


@pytest.mark.parametrize("sentence", MEANT)
def test_an_address_means(sentence: str) -> None:
    text, want = MEANT[sentence]
    assert parse_git_address(parse_uri(text, Secrets({}))) == want


@pytest.mark.parametrize("sentence", REFUSED)
def test_an_address_is_refused(sentence: str) -> None:
    text, want = REFUSED[sentence]
    with pytest.raises(SpecError, match=want) as caught:
        parse_git_address(parse_uri(text, Secrets({})))
    assert "canary12" not in str(caught.value)


SHOWN = {
    "by name and password": (
        GitAddress(URL, ""),
        {"GIT_USERNAME": "me", "GIT_PASSWORD": "pw1234"},
        ("me", "pw1234"),
    ),
    "a token alone": (GitAddress(URL, ""), {"GIT_PASSWORD": "pw1234"}, ("git", "pw1234")),
    "Trainer's token": (GitAddress(URL, ""), {"ACCESS_TOKEN": "tok123"}, ("git", "tok123")),
    "in the address": (
        GitAddress(URL, "", user="me", password="pw1234"),
        {"GIT_PASSWORD": "no"},
        ("me", "pw1234"),
    ),
    "a token in the address": (GitAddress(URL, "", user="tok123"), {}, ("git", "tok123")),
    "a name in the address": (GitAddress(URL, "", user="me"), {"GIT_PASSWORD": "pw1234"}, ("me", "pw1234")),
    "nothing": (GitAddress(URL, ""), {}, ("", "")),
    "to this machine, unencrypted": (
        GitAddress("http://127.0.0.1:1/r.git", ""),
        {"GIT_PASSWORD": "pw1234"},
        ("git", "pw1234"),
    ),
}


@pytest.mark.parametrize("sentence", SHOWN)
def test_what_is_shown_to_be_let_in(sentence: str) -> None:
    address, environ, want = SHOWN[sentence]
    found = with_credentials(address, Secrets(environ))
    assert (found.user, found.password) == want


def test_a_password_is_not_sent_unencrypted() -> None:
    with pytest.raises(SpecError, match="is not sent unencrypted"):
        with_credentials(GitAddress("http://h.io/r.git", ""), Secrets({"GIT_PASSWORD": "pw1234"}))


def test_a_password_with_a_line_break_is_refused() -> None:
    with pytest.raises(SpecError, match="holds a line break"):
        with_credentials(GitAddress(URL, "", user="me", password="a\nhost=evil"), Secrets({}))


def test_a_password_is_not_shown() -> None:
    assert "canary" not in repr(GitAddress(URL, "", user="me", password="canary"))
