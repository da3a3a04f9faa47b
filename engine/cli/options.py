"""Options that commands share, and groups of commands that explain themselves alike."""

from pathlib import Path
from typing import Annotated, Final

import typer

_MISUSED: Final = 2


def _known(device: str) -> str:
    """Refuse a device that nobody knows, before the command looks at anything else."""
    from engine.runtime.devices.names import check_device

    check_device(device)
    return device


ProjectPath = Annotated[Path, typer.Argument(metavar="PROJECT", help="The project file.")]
DeviceName = Annotated[
    str, typer.Option("--device", help="auto, cpu, cuda, tensorrt, coreml or directml.", callback=_known)
]
SettingName = Annotated[str, typer.Option("--setting", help="ppn+, ppn, prototypes or regression.")]


def command_group(about: str) -> typer.Typer:
    """A group without commands yet; called without one, it prints its help on standard error, with exit status 2."""
    group = typer.Typer(help=about)
    group.callback(invoke_without_command=True)(_explain)
    return group


def _explain(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(_MISUSED)
