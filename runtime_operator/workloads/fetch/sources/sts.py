"""A role of AWS, assumed with keys: one signed call to STS, and again shortly before it runs out.

obstore does web identities itself but not this call, which Trainer's ROLE_ARN asks for. The signature is
AWS's version 4, for one POST with a form.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from ..hidden import Secrets
from ..http_client import Http
from ..troubles import FetchError

_FIELDS = {
    "access_key_id": "AccessKeyId",
    "secret_access_key": "SecretAccessKey",
    "token": "SessionToken",
    "expires_at": "Expiration",
}


def assume_role(
    key: str,
    secret: str,
    token: str | None,
    *,
    role: str,
    region: str,
    endpoint: str | None,
    secrets: Secrets,
) -> Callable[[], dict[str, Any]]:
    """What obstore calls for credentials."""
    place = "us-east-1" if region == "auto" else region
    url = endpoint or f"https://sts.{place}.amazonaws.com"

    def credentials() -> dict[str, Any]:
        form = {
            "Action": "AssumeRole",
            "Version": "2011-06-15",
            "RoleArn": role,
            "RoleSessionName": "kfp-trainer-fetch",
        }
        body = urlencode(form).encode()
        headers = sign(url, body, key=key, secret=secret, token=token, region=place, now=datetime.now(UTC))
        http = Http(secrets)
        try:
            answer = http.request("POST", f"{url.rstrip('/')}/", headers=headers, body=body).body.decode()
        finally:
            http.close()
        return _read(answer, role, secrets)

    return credentials


def sign(
    url: str, body: bytes, *, key: str, secret: str, token: str | None, region: str, now: datetime
) -> dict[str, str]:
    """The headers of a signed POST to the root of `url`."""
    stamp = now.strftime("%Y%m%dT%H%M%SZ")
    headers = {
        "content-type": "application/x-www-form-urlencoded",
        "host": urlsplit(url).netloc,
        "x-amz-date": stamp,
    }
    headers |= {"x-amz-security-token": token} if token else {}
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    request = f"POST\n/\n\n{lines}\n{names}\n{hashlib.sha256(body).hexdigest()}"
    scope = f"{stamp[:8]}/{region}/sts/aws4_request"
    text = f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    signing = f"AWS4{secret}".encode()
    for part in (stamp[:8], region, "sts", "aws4_request", text):
        signing = hmac.digest(signing, part.encode(), "sha256")
    headers["authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={key}/{scope}, SignedHeaders={names}, Signature={signing.hex()}"
    )
    return headers


def _read(answer: str, role: str, secrets: Secrets) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, tag in _FIELDS.items():
        match = re.search(f"<{tag}>([^<]+)</{tag}>", answer)
        if match is None:
            raise FetchError(f"s3://: the role {role} cannot be assumed, STS gave no {tag}")
        found[name] = match.group(1)
    for name in ("secret_access_key", "token"):
        secrets.hide(found[name])
    found["expires_at"] = datetime.fromisoformat(found["expires_at"].replace("Z", "+00:00"))
    return found
