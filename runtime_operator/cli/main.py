"""The frame of the command line: which commands there are, and what becomes of an error.

Commands are named here and imported only when they run, so that `--help` stays quick and loads nothing
heavy. This is the one place that turns an error into a sentence on stderr and an exit code; the codes
stand beside the errors in `errors.py`.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

import click

from ..errors import KfpTrainerError

PROGRAM = "kfp-trainer"
TRACEBACK_VARIABLE = "KFP_TRAINER_TRACEBACK"
INTERRUPTED = 130  # what a shell reports for a process that Ctrl-C ended
BUG = 70  # EX_SOFTWARE

# Heading -> command -> (module beside this one, one line of help). The function has the command's name.
COMMANDS: dict[str, dict[str, tuple[str, str]]] = {
    "Start here": {
        "demo": ("demo", "Fine-tune and evaluate a small model on this machine."),
    },
    "Write a job": {
        "validate": ("offline", "Say whether a job is right, and what to mend."),
        "render": ("offline", "Print the objects a job becomes."),
        "explain": ("offline", "Draw a job: who waits for whom, how many processes, and why."),
        "convert": ("convert", "Turn a job of an older kind into a TrainJob and its runtime."),
        "crds": ("crds", "Print the custom resource definitions."),
    },
    "Run a job": {
        "run": ("run", "Run a job, on this machine or in a cluster."),
        "get": ("jobs", "List the jobs, or show one."),
        "describe": ("jobs", "Tell everything about a job, and why it is where it is."),
        "logs": ("run", "Print what a job has printed."),
        "events": ("jobs", "Print what has happened to a job."),
        "wait": ("jobs", "Wait for a job to end, and exit as it does."),
        "cancel": ("jobs", "End a job; its logs and its status stay."),
        "delete": ("jobs", "End jobs and remove all that is left of them."),
    },
    "Models and data": {
        "fetch": ("workloads", "Fetch a dataset or a model: whole, verified, pinned, and once."),
        "dataset": ("workloads", "Check, look at and slice a dataset before a GPU is held."),
        "finetune": ("workloads", "Fine-tune a language model on a folder of data."),
        "evaluate": ("workloads", "Compare a tuned model with its base on held-out data."),
        "gate": ("workloads", "Let a tuned model pass or stop it, by rules on its evaluation."),
        "export": ("workloads", "Bring a model to where it lasts, and prove that it arrived."),
    },
    "Pipelines": {
        "pipelines": ("pipelines", "List, compile and run the pipelines of this project."),
    },
    "Serve a cluster": {
        "operator": ("operator", "Turn the TrainJobs of a cluster into JobSets, and report on them."),
    },
    "This command": {
        "completion": ("completion", "Print the shell completion for bash, zsh or fish."),
    },
}


class LazyCommands(click.Group):
    """A group whose commands are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name every command, in the order of the table."""
        return [name for commands in COMMANDS.values() for name in commands]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the command of that name."""
        for commands in COMMANDS.values():
            if name in commands:
                module = import_module(f".{commands[name][0]}", __package__)
                command: click.Command = getattr(module, name)
                return command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands under their headings, without importing them."""
        width = max(len(name) for commands in COMMANDS.values() for name in commands)
        for heading, commands in COMMANDS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, (_, text) in commands.items()])


CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}


@click.group(cls=LazyCommands, context_settings=CONTEXT)
@click.version_option(package_name="kfp-trainer", message="kfp-trainer %(version)s")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """From a dataset and a base model to a fine-tuned, evaluated model: on this machine or on a cluster.

    `kfp-trainer demo` shows it in some minutes; `kfp-trainer COMMAND --help` explains a command.
    """
    if "NO_COLOR" in os.environ:
        ctx.color = False


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and end the process with the exit code of what happened."""
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit code."""
    try:
        result = cli.main(arguments, prog_name=PROGRAM, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except KfpTrainerError as error:
        say_error(str(error))
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        say_error("interrupted")
        return INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe has had enough; what is still buffered has no place to go
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:  # noqa: BLE001 - the last resort: a bug is told, never shown as a wall of text
        return tell_bug(error)
    return result if isinstance(result, int) else 0


def say_error(message: str) -> None:
    """Print each line of an error on stderr, behind the name of the command."""
    for line in message.splitlines():
        click.echo(f"{click.style(f'{PROGRAM}:', fg='red')} {line}", err=True)


def tell_bug(error: Exception) -> int:
    """Say that this is our mistake, and how to see where it is."""
    if os.environ.get(TRACEBACK_VARIABLE):
        traceback.print_exception(error)
    say_error(
        f"this is a bug of ours: {type(error).__name__}: {error}\n"
        f"please report it, with what {TRACEBACK_VARIABLE}=1 adds to the output"
    )
    return BUG
