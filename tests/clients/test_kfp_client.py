"""Our pipelines go to a server through kfp's own client, and what a server refuses becomes a sentence."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from kfp_trainer.pipelines.remote import Server, submit, wait
from kfp_trainer.runtime_operator.cli.pipelines import pipelines
from kfp_trainer.runtime_operator.errors import JobFailed, KfpTrainerError, Retryable, SetupError, SpecError
from tests.servers.pipelines_api import PipelinesApi

TOKEN = "canary-0b1d4c77"
Command = Callable[..., Result]


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PipelinesApi]:
    monkeypatch.setenv("KFP_CONFIG_DIR", str(tmp_path))
    monkeypatch.setattr("kfp.client.client.LOCAL_KFP_CONTEXT", str(tmp_path / "context.json"), raising=False)
    with PipelinesApi() as server:
        yield server


def command(*arguments: str) -> str:
    """What a command says; its error, if it raises one."""
    result = CliRunner().invoke(pipelines, arguments, catch_exceptions=True)
    if result.exception:
        raise result.exception
    return result.output


def test_a_pipeline_is_uploaded_once_and_then_by_versions(server: PipelinesApi) -> None:
    said = command("upload", "finetune_llm", "--host", server.url)
    assert "finetune-llm 0.1.0: pipeline 1, version" in said
    for version in ("0.1.0", "0.2.0"):
        command("upload", "finetune_llm", "--host", server.url, "--version", version)
    assert [each["display_name"] for each in server.pipelines] == ["finetune-llm"]
    assert [each["display_name"] for each in server.versions] == ["0.1.0", "0.2.0"]
    sent = next(yaml.safe_load_all(server.versions[0]["document"]))
    assert sent["pipelineInfo"]["name"] == "finetune-llm"


def test_a_run_is_started_with_its_parameters(server: PipelinesApi) -> None:
    said = command(
        "submit", "finetune_llm", "--host", server.url, "-p", "model=hf://org/name@v1",
        "-p", "training={epochs: 2}", "--run", "mine", "--wait",
    )  # fmt: skip
    assert f"mine: {server.url}/#/runs/details/" in said and "succeeded" in said
    run = server.runs[0]
    assert run["runtime_config"]["parameters"] == {"model": "hf://org/name@v1", "training": {"epochs": 2}}
    assert run["experiment_id"] == server.experiments[0]["experiment_id"]
    assert "platform_spec" in run["pipeline_spec"]


def test_a_compiled_file_is_taken_as_well(server: PipelinesApi, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    command("compile", "evaluate_only", "--to", str(file))
    command("submit", str(file), "--host", server.url)
    assert server.runs[0]["display_name"].startswith("evaluate-only ")


def test_a_run_that_ends_badly_fails_the_command(server: PipelinesApi) -> None:
    server.ends = "FAILED"
    with pytest.raises(JobFailed, match="ended as FAILED"):
        command("submit", "evaluate_only", "--host", server.url, "--wait")


def test_a_run_that_takes_longer_goes_on(server: PipelinesApi) -> None:
    server.ends = "RUNNING"
    server.runs.append({"run_id": "7"})
    with pytest.raises(Retryable, match="run 7: has not ended within 0 s; it goes on"):
        wait(Server(server.url), "7", timeout=0.0)


REFUSALS: dict[str, tuple[tuple[str, ...], type[KfpTrainerError], str]] = {
    "a parameter that the pipeline has not": (("-p", "modell=x"), SpecError, "-p modell=x: must be"),
    "a file that is not there": (("none.yaml",), SpecError, r"none.yaml: does not exist"),
}


@pytest.mark.parametrize("sentence", REFUSALS)
def test_refused_before_the_server_is_asked(sentence: str, server: PipelinesApi) -> None:
    arguments, kind, words = REFUSALS[sentence]
    name = () if arguments[0].endswith(".yaml") else ("evaluate_only",)
    with pytest.raises(kind, match=words):
        command("submit", *name, *arguments, "--host", server.url)
    assert server.web.asked == []


def test_what_the_server_refuses_is_said(server: PipelinesApi, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    command("compile", "evaluate_only", "--to", str(file))
    with pytest.raises(SpecError, match=r"answers 400 .*: parameter strange is not known"):
        submit(Server(server.url), file, {"strange": 1}, experiment="e", run="r")


def test_a_server_that_does_not_answer_is_said() -> None:
    with pytest.raises(Retryable, match="does not answer"):
        command("upload", "evaluate_only", "--host", "http://127.0.0.1:9")


def test_a_token_is_asked_for_sent_and_never_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    with PipelinesApi(token=TOKEN) as server:
        with pytest.raises(SetupError, match=r"answers 401 .*; give a token in KFP_TOKEN"):
            command("upload", "evaluate_only", "--host", server.url)
        monkeypatch.setenv("KFP_TOKEN", TOKEN)
        assert TOKEN not in command("upload", "evaluate_only", "--host", server.url)
        assert TOKEN not in str([each["document"] for each in server.versions])
