"""Commands of the laboratory, which other packages add by an entry point of the group `protoleaf.commands`."""

from importlib import metadata
from typing import Final

import typer

from engine.errors import UsageError

GROUP: Final = "protoleaf.commands"
LABORATORY: Final = {
    "benchmark": "Benchmark the program, each figure beside its limit.",
    "experiment": "Run the paper's experiments and comparisons.",
}


def register(application: typer.Typer) -> None:
    """Add the commands that are installed; in the place of the others one that says how to get them."""
    found = {point.name: point for point in metadata.entry_points(group=GROUP)}
    for name in LABORATORY:
        try:
            application.add_typer(found[name].load(), name=name)
        except (KeyError, ModuleNotFoundError):  # an installer carries the program's metadata without the laboratory
            _register_missing(application, name)


def _register_missing(application: typer.Typer, name: str) -> None:
    @application.command(name, hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
    def missing() -> None:
        raise UsageError(
            "`protoleaf {name}` is not installed",
            expected="Protoleaf with its laboratory",
            found="the program alone",
            remedy="install it in a Python environment: pip install 'protoleaf[experiments]'",
            name=name,
        )
