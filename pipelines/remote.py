"""Pipelines on a server: uploaded for a person to start in the UI, or started at once, through kfp's client.

Asking again does not pile up copies: a pipeline that is there gets a new version, and a version that is there
is left as it is.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from kfp_trainer.runtime_operator.errors import JobFailed, Retryable, SetupError, SpecError

from .compiling import AS_IT_IS, Workspace, compile_pipeline

TOKEN_VARIABLE = "KFP_TOKEN"
BEYOND = 500
KNOCK = 30.0
GOOD = "SUCCEEDED"


@dataclass(frozen=True, slots=True)
class Server:
    """Where Kubeflow Pipelines answers; without a host it is found as kfp finds it."""

    host: str | None = None
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Uploaded:
    """A version of a pipeline on a server."""

    pipeline_id: str
    version_id: str
    name: str
    version: str


@dataclass(frozen=True, slots=True)
class Submitted:
    """A run that a server has taken."""

    run_id: str
    name: str
    url: str


@contextmanager
def document_of(name: str, workspace: Workspace = AS_IT_IS) -> Iterator[Path]:
    """The document of a pipeline: one of ours, compiled now, or a file that was compiled before."""
    if name.endswith((".yaml", ".yml")):
        if workspace != AS_IT_IS:
            raise SpecError(f"{name}: is compiled already, compile it anew for another workspace")
        if not Path(name).is_file():
            raise SpecError(f"{name}: does not exist, give a compiled pipeline or the name of one of ours")
        yield Path(name)
        return
    with TemporaryDirectory(prefix="kfp-trainer-") as folder:
        compile_pipeline(name, Path(folder) / f"{name}.yaml", workspace)
        yield Path(folder) / f"{name}.yaml"


def pipeline_name(document: Path) -> str:
    """What a compiled pipeline calls itself."""
    name: str = _read(document)["pipelineInfo"]["name"]
    return name


def parameters_of(document: Path) -> set[str]:
    """The names of a compiled pipeline's parameters."""
    return set(_read(document)["root"].get("inputDefinitions", {}).get("parameters", ()))


def _read(document: Path) -> Any:
    import yaml

    try:
        pipeline = next(yaml.safe_load_all(document.read_text(encoding="utf-8")), None)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise SpecError(f"{document}: is not YAML: {' '.join(str(error).split())[:200]}") from error
    if not isinstance(pipeline, dict) or not {"pipelineInfo", "root"} <= set(pipeline):
        raise SpecError(f"{document}: is no compiled pipeline; `kfp-trainer pipelines compile` writes one")
    return pipeline


def upload(server: Server, document: Path, *, name: str, version: str) -> Uploaded:
    """Upload a pipeline, or a further version of it."""
    with talking_to(server) as client:
        pipeline = client.get_pipeline_id(name)
        if pipeline is None:
            made = client.upload_pipeline(str(document), pipeline_name=name, namespace=server.namespace)
            pipeline = made.pipeline_id
        found = _version(client, pipeline, version)
        if found is None:
            made = client.upload_pipeline_version(
                str(document), pipeline_version_name=version, pipeline_id=pipeline
            )
            found = made.pipeline_version_id
        return Uploaded(pipeline, found, name, version)


def submit(
    server: Server, document: Path, arguments: Mapping[str, Any], *, experiment: str, run: str
) -> Submitted:
    """Start a run of a compiled pipeline."""
    with talking_to(server) as client:
        taken = client.create_run_from_pipeline_package(
            str(document),
            arguments=dict(arguments),
            run_name=run,
            experiment_name=experiment,
            namespace=server.namespace,
        )
        page = f"#/runs/details/{taken.run_id}"
        return Submitted(taken.run_id, run, f"{server.host.rstrip('/')}/{page}" if server.host else page)


def wait(server: Server, run_id: str, *, timeout: float) -> None:
    """Wait for a run to end; JobFailed if it ends badly."""
    with talking_to(server) as client:
        try:
            ended = client.wait_for_run_completion(run_id, timeout=timeout, sleep_duration=5)
        except TimeoutError as error:
            raise Retryable(
                f"run {run_id}: has not ended within {timeout:.0f} s; it goes on", after=0
            ) from error
    if ended.state != GOOD:
        raise JobFailed(f"run {run_id}: ended as {ended.state}; the log of the step that failed tells why")


@contextmanager
def talking_to(server: Server) -> Iterator[Any]:
    """Give kfp's client; what goes wrong with it becomes a sentence."""
    import kfp
    from kfp_server_api.exceptions import ApiException
    from urllib3.exceptions import HTTPError as Unreachable

    where = server.host or "the server that kfp finds"
    knock(server)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # kfp's words to its developers
            token, namespace = read_token() or None, server.namespace or "kubeflow"
            yield kfp.Client(host=server.host, namespace=namespace, existing_token=token)
    except ApiException as error:
        raise _refusal(where, error.status, error.reason, error.body) from error
    except Unreachable as error:
        raise Retryable(f"{where}: does not answer, {_reason(error)}", after=10) from error


def knock(server: Server) -> None:
    """Ask whether somebody is there; kfp's client would ask five times over, with a traceback each."""
    if not server.host:
        return
    request = Request(f"{server.host.rstrip('/')}/apis/v2beta1/healthz", headers=_authorization())
    try:
        with urlopen(request, timeout=KNOCK):
            return
    except HTTPError as error:
        with error:
            raise _refusal(server.host, error.code, error.reason, error.read()) from error
    except (URLError, TimeoutError, ValueError) as error:
        text = f"does not answer, {_reason(error)}; is --host right?"
        raise Retryable(f"{server.host}: {text}", after=10) from error


def _authorization() -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"} if (token := read_token()) else {}


def read_token() -> str:
    """The token of the environment, if there is one."""
    return os.environ.get(TOKEN_VARIABLE, "").strip()


def _version(client: Any, pipeline: str, version: str) -> str | None:
    """The id of a version that is there."""
    wanted = {"operation": "EQUALS", "key": "display_name", "stringValue": version}
    found = client.list_pipeline_versions(pipeline, filter=json.dumps({"predicates": [wanted]}))
    return next(
        (each.pipeline_version_id for each in found.pipeline_versions or () if each.display_name == version),
        None,
    )


def _refusal(where: str, status: int, reason: str, body: object) -> SpecError | SetupError | Retryable:
    said = f"{where}: answers {status} {reason}: {_message(body)}"
    if status in (401, 403):
        return SetupError(f"{said}; give a token in {TOKEN_VARIABLE}")
    return Retryable(said, after=10) if status >= BEYOND else SpecError(said)


def _message(body: object) -> str:
    text = body.decode(errors="replace") if isinstance(body, bytes) else str(body)
    try:
        document = json.loads(text)
    except ValueError:
        return " ".join(text.split())[:200]
    return str(document.get("error") or document.get("message") or text)[:300]


def _reason(error: Exception) -> str:
    return " ".join(str(getattr(error, "reason", error)).split())[:200]
