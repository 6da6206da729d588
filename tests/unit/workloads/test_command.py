"""A workload's command: the file, flags over it, one sentence an error, an exit code."""

from pathlib import Path

import pytest

from kfp_trainer.runtime_operator.workloads.command import main, settings_command
from kfp_trainer.runtime_operator.workloads.finetune import FinetuneSettings
from kfp_trainer.runtime_operator.workloads.finetune.command import finetune_command

NEEDED = ["--model", "base", "--dataset", "data", "--output", "run"]


def run(arguments: list[str]) -> tuple[int, list[FinetuneSettings]]:
    got: list[FinetuneSettings] = []
    command = settings_command("finetune", FinetuneSettings, run=got.append, help="")
    return main(command, arguments), got


def test_flags_override_the_file(tmp_path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("model: other\nseed: 3\nmax_steps: 5\n")
    code, (settings,) = run(["--settings", str(file), *NEEDED, "--max-steps", "9"])
    assert code == 0
    assert (settings.model, settings.seed, settings.max_steps) == (Path("base"), 3, 9)


WRONG = {
    "an unknown flag": ([*NEEDED, "--lora-ranks", "3"], 2, "--lora-rank"),
    "a wrong value": ([*NEEDED, "--seed", "x"], 2, "error: seed: should be a valid integer"),
    "nothing at all": ([], 2, "error: model: is missing, give the folder"),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_wrong_commands(sentence: str, capsys) -> None:
    arguments, code, words = WRONG[sentence]
    assert run(arguments)[0] == code
    assert words in capsys.readouterr().err


def test_only_the_first_process_of_a_machine_speaks(capsys, monkeypatch) -> None:
    monkeypatch.setenv("LOCAL_RANK", "1")
    assert run([])[0] == 2
    assert capsys.readouterr().err == ""


def test_a_missing_model_is_one_sentence(capsys) -> None:
    assert main(finetune_command(), NEEDED) == 2
    expected = "error: model: base does not exist, give a folder with a Hugging Face model\n"
    assert capsys.readouterr().err == expected


def test_help_names_every_setting(capsys) -> None:
    assert main(finetune_command(), ["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"--{name.replace('_', '-')}" in text for name in FinetuneSettings.model_fields)


HELP = {
    "a description that begins with a value keeps its case": "sft learns answers, dpo learns",
    "another begins with a capital": "The folder of the base model",
    "values of a list keep their case": "tensorboard (events in output/tensorboard)",
    "yes and no as they are given": "[default: false]",
    "a list as it is given": "[default: all-linear]",
    "a number without a tail": "[default: 1]",
}


@pytest.mark.parametrize("sentence", HELP)
def test_help_reads_as_flags_are_given(sentence: str, capsys) -> None:
    assert main(finetune_command(), ["--help"]) == 0
    assert HELP[sentence] in " ".join(capsys.readouterr().out.split())
