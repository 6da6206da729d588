"""Shell completion: `kfp-trainer completion bash` prints what a shell sources."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ..errors import SetupError

COMPLETE_VARIABLE = "_KFP_TRAINER_COMPLETE"


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    r"""Print the completion for SHELL.

    \b
    bash: eval "$(kfp-trainer completion bash)"    in ~/.bashrc
    zsh:  eval "$(kfp-trainer completion zsh)"     in ~/.zshrc
    fish: kfp-trainer completion fish > ~/.config/fish/completions/kfp-trainer.fish
    """
    completer = get_completion_class(shell)
    if completer is None:  # click may drop a shell; the choice above names those it has today
        raise SetupError(f"this version of click completes no {shell}")
    click.echo(completer(ctx.find_root().command, {}, "kfp-trainer", COMPLETE_VARIABLE).source())
