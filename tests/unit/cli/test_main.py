"""The frame: every command can be learnt from its help, every error is a sentence and an exit code."""

import click
import pytest

from kfp_trainer.runtime_operator import errors
from kfp_trainer.runtime_operator.cli import main

NAMES = [name for commands in main.COMMANDS.values() for name in commands]


def raising(error: BaseException) -> click.Command:
    """A command that ends with this error."""

    @click.command()
    def broken() -> None:
        raise error

    return broken


ENDINGS = {
    "a wrong document exits 2 with a line a mistake": (
        errors.SpecError(
            [errors.FieldError("spec.a", "must be 1"), errors.FieldError("spec.b", "is missing")]
        ),
        2,
        "kfp-trainer: spec.a: must be 1\nkfp-trainer: spec.b: is missing\n",
    ),
    "a missing part of the machine exits 3": (
        errors.SetupError("go is missing"),
        3,
        "kfp-trainer: go is missing\n",
    ),
    "a job that failed exits 1": (errors.JobFailed("node-0 died"), 1, "kfp-trainer: node-0 died\n"),
    "what may work later exits 75": (errors.Retryable("busy", after=5), 75, "kfp-trainer: busy\n"),
    "Ctrl-C exits 130": (KeyboardInterrupt(), 130, "\nkfp-trainer: interrupted\n"),
    "a bug of ours exits 70 and says how to see more": (
        ValueError("x"),
        70,
        "kfp-trainer: this is a bug of ours: ValueError: x\n"
        "kfp-trainer: please report it, with what KFP_TRAINER_TRACEBACK=1 adds to the output\n",
    ),
}


@pytest.mark.parametrize("sentence", ENDINGS)
def test_an_error_becomes_a_sentence_and_a_code(
    sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    error, code, text = ENDINGS[sentence]
    monkeypatch.setattr(main.LazyCommands, "get_command", lambda *_: raising(error))
    monkeypatch.setattr(main.click, "style", lambda text, **_: text)
    assert main.run(["broken"]) == code
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", text)


def test_the_traceback_of_a_bug_is_shown_on_demand(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KFP_TRAINER_TRACEBACK", "1")
    monkeypatch.setattr(main.LazyCommands, "get_command", lambda *_: raising(ValueError("x")))
    assert main.run(["broken"]) == 70
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_the_help_of_a_command_teaches_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run([name, "--help"]) == 0
    help_text = capsys.readouterr().out
    assert help_text.startswith(f"Usage: kfp-trainer {name} ")
    assert len(help_text.splitlines()) > 4


def test_a_misspelt_command_is_told_and_exits_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["demmo"]) == 2
    assert "No such command 'demmo'" in capsys.readouterr().err


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("kfp-trainer 0.")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_names_the_variable_the_command_reads(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.run(["completion", shell]) == 0
    assert "_KFP_TRAINER_COMPLETE" in capsys.readouterr().out


def test_completion_offers_the_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_KFP_TRAINER_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "kfp-trainer re")
    monkeypatch.setenv("COMP_CWORD", "1")
    with pytest.raises(SystemExit, match="0"):  # click ends the process itself
        main.run()
    assert "plain,render" in capsys.readouterr().out.split()
