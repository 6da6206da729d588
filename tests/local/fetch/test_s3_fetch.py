"""s3:// against MinIO, a real S3 server: Trainer's variables, roles, objects in parts, and faults."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from kfp_trainer.runtime_operator.errors import KfpTrainerError
from kfp_trainer.runtime_operator.workloads.fetch.selection import Selection
from tests.servers import go_program
from tests.servers.fetching import fetched, tree
from tests.servers.minio import PASSWORD, USER, Minio
from tests.servers.web import OTHER_NAME, Answer, WebServer, forwarded

pytestmark = pytest.mark.skipif(bool(go_program.why_not()), reason=go_program.why_not())

BIG = os.urandom(18_000_000)
FILES = {
    "config.json": b"{}",
    "model.safetensors": BIG,
    "sub/ünï code +&=.txt": b"u",
    "sub/empty": b"",
}


@pytest.fixture(scope="module")
def minio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Minio]:
    with Minio(tmp_path_factory.mktemp("minio")) as minio:
        client = minio.client()
        client.create_bucket(Bucket="bucket")
        for path, body in FILES.items():
            client.put_object(Bucket="bucket", Key=f"models/a/{path}", Body=body)
        client.put_object(Bucket="bucket", Key="models/a/", Body=b"")
        client.put_object(Bucket="bucket", Key="models/ab/other.txt", Body=b"other")
        put_in_parts(client, "parts/model.safetensors", BIG)
        yield minio
        client.close()


def put_in_parts(client: Any, key: str, body: bytes) -> None:
    made = client.create_multipart_upload(Bucket="bucket", Key=key)["UploadId"]
    parts = []
    for number, start in enumerate(range(0, len(body), 5 << 20), 1):
        piece = body[start : start + (5 << 20)]
        put = client.upload_part(Bucket="bucket", Key=key, UploadId=made, PartNumber=number, Body=piece)
        parts.append({"PartNumber": number, "ETag": put["ETag"]})
    client.complete_multipart_upload(
        Bucket="bucket", Key=key, UploadId=made, MultipartUpload={"Parts": parts}
    )


PREFIXES = {
    "a prefix": ("s3://bucket/models/a", FILES),
    "a prefix with a slash": ("s3://bucket/models/a/", FILES),
    "one object": ("s3://bucket/models/a/config.json", {"config.json": b"{}"}),
    "an object in parts": ("s3://bucket/parts", {"model.safetensors": BIG}),
}


@pytest.mark.parametrize("sentence", PREFIXES)
def test_what_is_below_a_prefix_arrives(minio: Minio, tmp_path: Path, sentence: str) -> None:
    uri, want = PREFIXES[sentence]
    done = fetched(uri, tmp_path / "d", minio.environ)
    assert tree(tmp_path / "d") == want
    again = fetched(uri, tmp_path / "d", minio.environ)
    assert (again.fetched, again.manifest.revision) == (0, done.manifest.revision)


WAYS = {
    "by Trainer's names": {},
    "by AWS's names": {
        "ENDPOINT": "",
        "ACCESS_KEY_ID": "",
        "SECRET_ACCESS_KEY": "",
        "AWS_ACCESS_KEY_ID": USER,
        "AWS_SECRET_ACCESS_KEY": PASSWORD,
        "AWS_ENDPOINT_URL": "URL",
    },
    "with a region": {"REGION": "us-east-1"},
    "with a role that is assumed": {"ROLE_ARN": "arn:aws:iam::123456789012:role/reader"},
}


@pytest.mark.parametrize("sentence", WAYS)
def test_credentials_come(minio: Minio, tmp_path: Path, sentence: str) -> None:
    more = {name: minio.url if value == "URL" else value for name, value in WAYS[sentence].items()}
    fetched("s3://bucket/models/a", tmp_path / "d", {**minio.environ, **more})
    assert tree(tmp_path / "d") == FILES


def test_a_bucket_may_be_a_host_of_its_own(minio: Minio, tmp_path: Path) -> None:
    asked: list[str] = []

    def answer(request: Any) -> Answer:
        asked.append(request.headers["host"])
        return Answer(403)

    with WebServer(answer, name=OTHER_NAME) as web, pytest.raises(KfpTrainerError):
        fetched(
            "s3://bucket/a", tmp_path / "d", {**minio.environ, "ENDPOINT": web.url, "PATH_STYLE": "false"}
        )
    assert not asked or asked[0].startswith(f"bucket.{OTHER_NAME}")


@pytest.fixture(scope="module")
def public(minio: Minio) -> str:
    """A bucket that anybody may read."""
    client = minio.client()
    policy = (
        '{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Principal":"*",'
        '"Action":["s3:GetObject","s3:ListBucket"],"Resource":["arn:aws:s3:::public/*","arn:aws:s3:::public"]}]}'
    )
    client.create_bucket(Bucket="public")
    client.put_bucket_policy(Bucket="public", Policy=policy)
    for path, body in FILES.items():
        client.put_object(Bucket="public", Key=f"models/{path}", Body=body)
    client.close()
    return minio.url


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_a_public_bucket_needs_no_credentials(public: str, tmp_path: Path, scheme: str) -> None:
    """Google's store lists and serves in the same XML, so that MinIO can stand in for its public buckets."""
    fetched(f"{scheme}://public/models", tmp_path / "d", {"ENDPOINT": public})
    assert tree(tmp_path / "d") == FILES
    assert fetched(f"{scheme}://public/models", tmp_path / "d", {"ENDPOINT": public}).fetched == 0


@pytest.mark.parametrize("scheme", ["s3", "gs"])
def test_what_obstore_reads_itself_is_gone_on_from_too(public: str, tmp_path: Path, scheme: str) -> None:
    with WebServer(lambda asked: forwarded(asked, public)) as proxy:
        proxy.spoil(path="safetensors", method="GET", cut_after=3_000_000, times=2)
        proxy.spoil(Answer(503), path="config", method="GET", times=2)
        fetched(f"{scheme}://public/models", tmp_path / "d", {"ENDPOINT": proxy.url})
        assert all(fault.times <= 0 for fault in proxy.faults)
    assert tree(tmp_path / "d") == FILES


AZURE = {
    "no account": ({}, "the account is not known, set AZURE_STORAGE_ACCOUNT_NAME"),
    "a key that is none": (
        {"AZURE_STORAGE_ACCOUNT_NAME": "a", "AZURE_STORAGE_ACCOUNT_KEY": "not base64 canary"},
        "az://container/prefix: ",
    ),
    "nobody there": (
        {
            "AZURE_STORAGE_ACCOUNT_NAME": "a",
            "AZURE_STORAGE_SAS_KEY": "sv=1&sig=canary-0123456",
            "ENDPOINT": "http://127.0.0.1:1",
        },
        "az://container/prefix: ",
    ),
}


@pytest.mark.parametrize("sentence", AZURE)
def test_azure_says_what_is_wrong(tmp_path: Path, sentence: str) -> None:
    environ, want = AZURE[sentence]
    with pytest.raises(KfpTrainerError, match=want) as caught:
        fetched("az://container/prefix", tmp_path / "d", environ)
    assert "\n" not in str(caught.value)
    assert "canary" not in str(caught.value)


REFUSALS = {
    "a wrong key": ("s3://bucket/models/a", {"SECRET_ACCESS_KEY": "wrong-canary"}, "SignatureDoesNotMatch"),
    "half a key": ("s3://bucket/models/a", {"SECRET_ACCESS_KEY": ""}, "one of ACCESS_KEY_ID and SECRET"),
    "no bucket": ("s3://nowhere/models", {}, "is not there, mind the spelling, the bucket"),
    "no object": ("s3://bucket/nothing", {}, "is not there, mind the spelling"),
    "no such setting": ("s3://bucket/models", {"PATH_STYLE": "maybe"}, "must be true or false, got 'maybe'"),
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_a_refusal_is_one_sentence(minio: Minio, tmp_path: Path, sentence: str) -> None:
    uri, more, want = REFUSALS[sentence]
    with pytest.raises(KfpTrainerError, match=want) as caught:
        fetched(uri, tmp_path / "d", {**minio.environ, **more})
    assert "\n" not in str(caught.value)
    assert not any(secret in str(caught.value) for secret in (PASSWORD, "wrong-canary"))
    assert not (tmp_path / "d").exists()


MENDED = {
    "the body ends early": {"cut_after": 100_000, "times": 3},
    "the connection is reset": {"cut_after": 1000, "reset": True, "times": 2},
    "it asks to slow down": {"answer": Answer(503, {}, b"<Error><Code>SlowDown</Code></Error>"), "times": 3},
    "the signature has run out": {
        "answer": Answer(
            403, {}, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"
        )
    },
    "the token has run out": {"answer": Answer(400, {}, b"<Error><Code>ExpiredToken</Code></Error>")},
    "other bytes come once": {"body": BIG[::-1]},
}


@pytest.mark.parametrize("sentence", MENDED)
def test_a_passing_fault_is_got_over(minio: Minio, tmp_path: Path, sentence: str) -> None:
    with signing_proxy(minio) as proxy:
        proxy.spoil(**MENDED[sentence], path="model.safetensors", method="GET")  # type: ignore[arg-type]
        fetched("s3://bucket/models/a", tmp_path / "d", {**minio.environ, "ENDPOINT": proxy.url})
        assert proxy.faults[0].times <= 0, "the fault was met"
    assert tree(tmp_path / "d") == FILES


def signing_proxy(minio: Minio) -> WebServer:
    """A server that passes on to MinIO; the signatures are for its own name, which it passes on too."""

    def answer(asked: Any) -> Answer:
        return forwarded(asked, minio.url)

    return WebServer(answer)


def test_other_bytes_than_the_etag_says_are_refused(minio: Minio, tmp_path: Path) -> None:
    with signing_proxy(minio) as proxy:
        proxy.spoil(body=BIG[::-1], path="model.safetensors", method="GET", times=100)
        with pytest.raises(KfpTrainerError, match=r"do not hash to what the source promises .md5:"):
            fetched("s3://bucket/models/a", tmp_path / "d", {**minio.environ, "ENDPOINT": proxy.url})
    assert not (tmp_path / "d").exists()


def test_an_object_that_is_replaced_on_the_way_is_fetched_anew(minio: Minio, tmp_path: Path) -> None:
    client = minio.client()
    client.put_object(Bucket="bucket", Key="moving/a.safetensors", Body=BIG)
    replaced = False

    def answer(asked: Any) -> Answer:
        nonlocal replaced
        got = forwarded(asked, minio.url)
        if not replaced and "a.safetensors" in asked.target and asked.method == "GET":
            replaced = True
            client.put_object(Bucket="bucket", Key="moving/a.safetensors", Body=BIG[::-1])
        return got

    with WebServer(answer) as proxy:
        fetched("s3://bucket/moving", tmp_path / "d", {**minio.environ, "ENDPOINT": proxy.url})
    client.close()
    assert replaced
    assert tree(tmp_path / "d") == {"a.safetensors": BIG[::-1]}


def test_the_ignore_patterns_apply(minio: Minio, tmp_path: Path) -> None:
    done = fetched(
        "s3://bucket/models/a", tmp_path / "d", minio.environ, selection=Selection("model", ignore=("sub/*",))
    )
    assert set(tree(tmp_path / "d")) == {"config.json", "model.safetensors"}
    assert urlsplit(done.manifest.source).scheme == "s3"
