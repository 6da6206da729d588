"""How to reach a bucket: Trainer's variables first, then those of the cloud's own tools.

    s3    ENDPOINT, REGION, ACCESS_KEY_ID, SECRET_ACCESS_KEY, SESSION_TOKEN, ROLE_ARN, PATH_STYLE;
          else the AWS_ ones, a web identity (AWS_WEB_IDENTITY_TOKEN_FILE), the pod's or the node's role;
          with none of them, as nobody: public buckets
    gs    ACCESS_TOKEN or GOOGLE_APPLICATION_CREDENTIALS, else the node's account
    az    AZURE_STORAGE_ACCOUNT_NAME with _KEY, _SAS_KEY or a token, or a federated token

ROLE_ARN with keys is assumed by one call to STS, again when it runs out. Path style is the rule with an
endpoint of one's own, the bucket's own host without.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from ....errors import SpecError
from ..hidden import Secrets
from ..http_client import Http
from ..source import STALL_SECONDS, Request
from ..troubles import FetchError, Transient
from .sts import assume_role

_AMBIENT = (
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_AUTO = "auto"


def make_store(request: Request) -> tuple[Any, bool]:
    """The store of an address, and whether it has credentials that can sign."""
    from obstore.exceptions import BaseError

    make = {"s3": _s3, "gs": _gs, "az": _az}[request.uri.scheme]
    try:
        return make(request.uri.host, request.secrets)
    except (BaseError, ValueError) as error:
        why = str(error).partition("\n")[0]
        raise SpecError(
            f"{request.uri.text}: its settings are of no use ({why}), mend the variables"
        ) from None


def _s3(bucket: str, secrets: Secrets) -> tuple[Any, bool]:
    from obstore.store import S3Store

    endpoint = first(secrets, "ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    if endpoint is not None and "://" not in endpoint:
        endpoint = f"https://{endpoint}"
    region = first(secrets, "REGION", "AWS_REGION", "AWS_DEFAULT_REGION")
    if region in (None, _AUTO) and endpoint is None:
        region = _region_of(bucket, secrets)
    path_style = _path_style(secrets, default=endpoint is not None)
    config: dict[str, Any] = {"region": region or _AUTO, "virtual_hosted_style_request": not path_style}
    if endpoint is not None:
        config["endpoint"] = endpoint.rstrip("/") if path_style else _with_bucket(endpoint, bucket)
    known = _s3_credentials(secrets, config, endpoint, region or _AUTO)
    config |= {} if known else {"skip_signature": True}
    return S3Store(bucket, **config, **_client(endpoint)), known


def _s3_credentials(secrets: Secrets, config: dict[str, Any], endpoint: str | None, region: str) -> bool:
    """Put the credentials into `config`; whether there are any."""
    key = first(secrets, "ACCESS_KEY_ID", "AWS_ACCESS_KEY_ID")
    secret = first(secrets, "SECRET_ACCESS_KEY", "AWS_SECRET_ACCESS_KEY")
    role = first(secrets, "ROLE_ARN", "AWS_ROLE_ARN")
    if bool(key) != bool(secret):
        raise SpecError("s3://: one of ACCESS_KEY_ID and SECRET_ACCESS_KEY is missing, set both or none")
    if key and secret:
        token = first(secrets, "SESSION_TOKEN", "AWS_SESSION_TOKEN")
        if secrets.get("ROLE_ARN"):
            sts = first(secrets, "STS_ENDPOINT", "AWS_ENDPOINT_URL_STS") or endpoint
            config["credential_provider"] = assume_role(
                key, secret, token, role=str(role), region=region, endpoint=sts, secrets=secrets
            )
        else:
            config |= {"access_key_id": key, "secret_access_key": secret}
            config |= {"session_token": token} if token else {}
        return True
    identity = secrets.get("AWS_WEB_IDENTITY_TOKEN_FILE")
    if identity and role:
        config |= {"web_identity_token_file": identity, "role_arn": role}
        sts = first(secrets, "STS_ENDPOINT", "AWS_ENDPOINT_URL_STS")
        config |= {"sts_endpoint": sts} if sts else {}
        return True
    return any(secrets.get(name) for name in _AMBIENT) or (endpoint is None and _has_node_role())


def _gs(bucket: str, secrets: Secrets) -> tuple[Any, bool]:
    from obstore.store import GCSStore

    config: dict[str, Any] = {}
    endpoint = first(secrets, "ENDPOINT", "STORAGE_EMULATOR_HOST")
    token = secrets.get("ACCESS_TOKEN")
    if endpoint:
        config["base_url"] = endpoint if "://" in endpoint else f"http://{endpoint}"
    if token:
        config["credential_provider"] = lambda: {"token": token, "expires_at": None}
    elif credentials := secrets.get("GOOGLE_APPLICATION_CREDENTIALS"):
        config["application_credentials"] = credentials
    elif endpoint:
        config["skip_signature"] = True
    return GCSStore(bucket, **config, **_client(config.get("base_url"))), not (token or endpoint)


def _az(container: str, secrets: Secrets) -> tuple[Any, bool]:
    from obstore.store import AzureStore

    account = first(secrets, "AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT", "ACCESS_KEY_ID")
    if not account:
        raise SpecError("az://: the account is not known, set AZURE_STORAGE_ACCOUNT_NAME")
    config: dict[str, Any] = {"account_name": account}
    key = first(secrets, "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_KEY", "SECRET_ACCESS_KEY")
    sas = first(secrets, "AZURE_STORAGE_SAS_KEY", "AZURE_STORAGE_SAS_TOKEN")
    token = secrets.get("ACCESS_TOKEN")
    if key:
        config["account_key"] = key
    elif sas:
        config["sas_key"] = sas
    elif token:
        config["token"] = token
    if endpoint := secrets.get("ENDPOINT"):
        config["endpoint"] = endpoint
    return AzureStore(container, **config, **_client(secrets.get("ENDPOINT"))), bool(key)


def first(secrets: Secrets, *names: str) -> str | None:
    """The value of the first of these variables that has one."""
    return next((value for name in names if (value := secrets.get(name))), None)


def _client(endpoint: str | None) -> dict[str, Any]:
    """No retries below ours, and no limit to a transfer but silence."""
    options: dict[str, Any] = {
        "timeout": "24h",
        "read_timeout": f"{STALL_SECONDS:.0f}s",
        "connect_timeout": "20s",
        "allow_http": bool(endpoint and endpoint.startswith("http://")),
    }
    return {"client_options": options, "retry_config": {"max_retries": 0}}


def _path_style(secrets: Secrets, *, default: bool) -> bool:
    given = (secrets.get("PATH_STYLE") or "").lower()
    if given not in ("", "true", "false"):
        raise SpecError(f"PATH_STYLE: must be true or false, got {given!r}")
    return given == "true" if given else default


def _with_bucket(endpoint: str, bucket: str) -> str:
    parts = urlsplit(endpoint)
    return parts._replace(netloc=f"{bucket}.{parts.netloc}").geturl().rstrip("/")


def _region_of(bucket: str, secrets: Secrets) -> str:
    """Where AWS keeps a bucket: it tells anybody who asks, even when it refuses."""
    http = Http(secrets)
    try:
        found = http.request("HEAD", f"https://{bucket}.s3.amazonaws.com/").headers
    except (FetchError, Transient) as error:
        found = error.refusal.headers if error.refusal else {}
    finally:
        http.close()
    return found.get("x-amz-bucket-region", "us-east-1")


def _has_node_role() -> bool:
    """Whether this is a machine of AWS, whose role may serve; asking elsewhere takes long."""
    try:
        with open("/sys/devices/virtual/dmi/id/sys_vendor", encoding="ascii", errors="replace") as file:
            vendor = file.read()
    except OSError:
        return False
    return "Amazon" in vendor and os.environ.get("AWS_EC2_METADATA_DISABLED", "").lower() != "true"
