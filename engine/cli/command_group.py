"""Groups of commands, such as `protoleaf backbone ...`: without a command they all explain themselves alike."""

from typing import Final

import typer

_MISUSED: Final = 2


def command_group(about: str) -> typer.Typer:
    """Make a group that has no commands yet.

    Args:
        about: its help. Called without a command, the group prints it on standard error, with exit status 2.
    """
    group = typer.Typer(help=about)
    group.callback(invoke_without_command=True)(_explain)
    return group


def _explain(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(_MISUSED)
