"""The page on fine-tuning says what the code does: its settings, its job and the sentences it quotes."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from kfp_trainer.runtime_operator.cli.main import run
from kfp_trainer.runtime_operator.errors import JobFailed, Retryable, SetupError, SpecError
from kfp_trainer.runtime_operator.workloads.command import as_flag
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings

PAGE = Path(__file__).resolve().parents[4] / "docs/finetune.md"
SOURCES = Path(__file__).resolve().parents[4] / "runtime_operator/workloads"


def settings_table() -> str:
    """What belongs between the two marks of the page."""
    lines = ["| setting | unset | |", "|---|---|---|"]
    for name, field in FinetuneSettings.model_fields.items():
        default = (
            "" if field.default in (None, (), ...) or field.is_required() else f"`{as_flag(field.default)}`"
        )
        lines.append(f"| `{name}` | {'needed' if field.is_required() else default} | {field.description} |")
    return "\n".join(lines)


def test_the_settings_are_those_of_the_model() -> None:
    page = PAGE.read_text()
    found = re.search(r"<!-- settings: .*?-->\n(.*?)\n?<!-- end of settings -->", page, re.DOTALL)
    assert found is not None
    assert found.group(1) == settings_table(), f"write this into {PAGE.name}:\n{settings_table()}"


def test_the_job_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    job: dict[str, Any] = yaml.safe_load(block)
    flags = {
        flag.partition("=")[0].removeprefix("--").replace("-", "_") for flag in job["spec"]["trainer"]["args"]
    }
    assert flags <= set(FinetuneSettings.model_fields)
    file = tmp_path / "job.yaml"
    file.write_text(block)
    assert run(["validate", "-f", str(file)]) == 0
    assert run(["render", "-f", str(file)]) == 0
    rendered = capsys.readouterr().out
    assert "claimName: data" in rendered and "mountPath: /data" in rendered


def quoted() -> list[str]:
    """The words that the page's table of trouble quotes."""
    table = PAGE.read_text().partition("## Trouble")[2].partition("\n## ")[0]
    firsts = re.findall(r"^\| ([^|]+) \|", table, re.MULTILINE)
    return [words for first in firsts for words in re.findall(r"`([^`…]+)`", first)]


@pytest.mark.parametrize("words", quoted())
def test_what_is_quoted_is_what_the_code_says(words: str) -> None:
    code = "\n".join(file.read_text() for file in sorted(SOURCES.rglob("*.py")))
    assert words in re.sub(r'"\s*\n\s*f?"', "", code)


def test_exit_codes_are_those_of_the_errors() -> None:
    line = next(line for line in PAGE.read_text().splitlines() if line.startswith("Exit codes: "))
    told = {int(number) for number in re.findall(r"\b(\d+) ", line)}
    assert told == {
        0,
        JobFailed.exit_code,
        SpecError.exit_code,
        SetupError.exit_code,
        Retryable("", after=0).exit_code,
    }
