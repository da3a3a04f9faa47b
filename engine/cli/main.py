"""The command line: the same engine, no window."""

import errno
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Final

import typer

from engine import __version__
from engine.cli import (
    audit_command,
    backbone_commands,
    backup_commands,
    check_labels_command,
    collection_commands,
    copy_commands,
    detect_command,
    doctor_command,
    field_commands,
    graph_commands,
    image_commands,
    import_command,
    label_commands,
    map_command,
    merge_command,
    policy_command,
    project_commands,
    replaced_command,
    report_command,
    sample_command,
    similarity_commands,
    training_commands,
)
from engine.cli.output import interrupted_by_signals, stop_status, was_interrupted
from engine.config import CacheFolders
from engine.errors import Cancelled, InputError, ProtoleafError, StorageError, UsageError
from engine.full_disk import as_full_disk
from engine.new_folder import clear_abandoned

GROUP: Final = "protoleaf.commands"
LABORATORY: Final = ("benchmark", "experiment")  # commands that `research` adds by an entry point of the group
FAILED: Final = 1
MISUSED: Final = 2
STOPPED: Final = 130
NOBODY_READS: Final = 141  # as shells report a command whose output a pipe no longer takes
LONGEST_SHOWN: Final = 200  # letters of an overlong name that are shown
AS_JSON: Final = "--json"
STOPPED_MESSAGE: Final = "stopped; what was finished is kept"

_log = logging.getLogger(__name__)

COMMANDS: Final[Mapping[str, Callable[..., None]]] = {
    "new": project_commands.new,
    "check": project_commands.check,
    "import-graph": graph_commands.import_graph,
    "doctor": doctor_command.doctor,
    "import-images": import_command.import_images,
    "embed": collection_commands.embed,
    "classify": collection_commands.classify,
    "evaluate": collection_commands.evaluate,
    "report": report_command.report,
    "export": label_commands.export,
    "export-graph": graph_commands.export_graph,
    "import-labels": label_commands.import_labels,
    "merge": merge_command.merge,
    "unpack": copy_commands.unpack,
    "train": training_commands.train,
    "versions": training_commands.versions,
    "relink": project_commands.relink,
    "menu-entry": project_commands.menu_entry,
    "suggest": image_commands.suggest,
    "sample": sample_command.sample,
    "replaced": replaced_command.replaced,
    "audit": audit_command.audit,
    "check-labels": check_labels_command.check_labels,
    "images": image_commands.images,
    "fields": field_commands.fields,
    "clock": field_commands.clock,
    "similar": similarity_commands.similar,
    "duplicates": similarity_commands.duplicates,
    "detect": detect_command.detect,
    "map": map_command.make_map,
    "what-if": graph_commands.what_if,
    "policy": policy_command.policy,
    "backup": backup_commands.backup,
    "restore": backup_commands.restore,
}
"""In the order of the help."""


def add_laboratory(application: typer.Typer) -> None:
    """Add the laboratory's commands that are installed; in place of the others one that says how to get them."""
    found = {point.name: point for point in metadata.entry_points(group=GROUP)}
    for name in LABORATORY:
        try:
            application.add_typer(found[name].load(), name=name)
        except (KeyError, ModuleNotFoundError):  # an installer carries the program's metadata without the laboratory
            _add_missing(application, name)


def _add_missing(application: typer.Typer, name: str) -> None:
    @application.command(name, hidden=True, context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
    def missing() -> None:
        raise UsageError(
            "`protoleaf {name}` is not installed",
            expected="Protoleaf with its laboratory",
            found="the program alone",
            remedy="install it in a Python environment: pip install 'protoleaf[experiments]'",
            name=name,
        )


application = typer.Typer(
    name="protoleaf",
    help="Turns a taxonomy and a handful of images per class into a classified collection. "
    "Without a command, `protoleaf [PROJECT]` opens the window.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _name, _command in COMMANDS.items():
    application.command(_name)(_command)
application.add_typer(backbone_commands.application, name="backbone")
application.add_typer(backup_commands.application, name="backups")
add_laboratory(application)


@application.callback(invoke_without_command=True)
def _about(
    context: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version."),
    language: str = typer.Option(
        "", "--language", metavar="CODE", help="Language of window and messages; comes first."
    ),
) -> None:
    if language:  # the program takes it where it stands before all other words
        raise UsageError("--language comes first", found=language)
    if version:
        typer.echo(f"protoleaf {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


COMMAND_NAMES: Final = frozenset(typer.main.get_command(application).commands)  # type: ignore[attr-defined]
"""First words that are commands; a word that ends in .protoleaf is a project to open in the window."""


def main(arguments: Sequence[str], speak: Callable[[], None] = lambda: None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name.
        speak: sets the person's language. It is called only before an error is printed, so that results and files are
            the same in every language; with `--json` never, since programs read errors then, too.

    Returns:
        Exit status: 0 done, 1 refused with one line on standard error, 2 misused, 130 stopped by Ctrl+C, 143 by a
        polite kill, 141 where nobody reads the output any more.
    """
    try:
        with interrupted_by_signals():
            return _guarded(arguments, speak)
    except KeyboardInterrupt:  # once more, while the first was dealt with
        return stop_status()


def _guarded(arguments: Sequence[str], speak: Callable[[], None]) -> int:
    try:
        return _run(arguments)
    except typer.TyperException as error:  # a wrong option or argument
        return _complain(error.format_message(), error.exit_code)
    except (typer.Abort, KeyboardInterrupt, Cancelled) as stopped:
        remedy = f"; {stopped.remedy}" if isinstance(stopped, Cancelled) else ""
        return _complain(STOPPED_MESSAGE + remedy, stop_status())
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):  # typer ends so where nobody reads
            raise
        return NOBODY_READS
    except Exception as error:
        status = _answer(error, arguments, speak)
        if status is None:
            raise
        return status


def _answer(error: Exception, arguments: Sequence[str], speak: Callable[[], None]) -> int | None:
    """Print why a command ended; None for a bug."""
    if was_interrupted():  # a library that was being loaded gives another error for it
        return _complain(STOPPED_MESSAGE, stop_status())
    plain = _in_one_line(as_full_disk(error, *_places(arguments)))
    if plain is None:
        return None
    _drop_unwritten_output()
    if isinstance(plain, BrokenPipeError):
        return NOBODY_READS
    if AS_JSON not in arguments:
        speak()
    return _complain(plain.translated(), MISUSED if isinstance(plain, UsageError) else FAILED)


def _in_one_line(error: Exception) -> ProtoleafError | BrokenPipeError | None:
    """The error for people: refusals of the system, and names and numbers that cannot be used, are no bugs."""
    if isinstance(error, ProtoleafError | BrokenPipeError):
        return error
    refusal = _refusal(error)
    if refusal is not None:
        _log.info("a command was refused by the system", exc_info=error)
    return refusal


def _refusal(error: Exception) -> ProtoleafError | None:
    match error:
        case OSError(errno=errno.EBADF):
            return StorageError("the result cannot be printed", found=str(error.strerror), remedy="redirect it")
        case OSError():
            return StorageError(error.strerror or str(error), found=_named(error))
        case UnicodeEncodeError():
            return InputError("a name holds characters that cannot be written", found=ascii(error.object))
        case OverflowError():
            return InputError("a number is too large", found=str(error))
        case MemoryError():
            return StorageError("there is not enough memory", remedy="close other programs")
    return None


def _named(error: OSError) -> str:
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    return name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}…"


def _drop_unwritten_output() -> None:
    """Drop output that a full disk refused: the interpreter would try again at its end."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _run(arguments: Sequence[str]) -> int:
    clear_abandoned()
    command = typer.main.get_command(application)
    status = command.main(args=list(arguments), prog_name="protoleaf", standalone_mode=False)
    sys.stdout.flush()  # a full disk under a redirected output is reported here, not at the interpreter's end
    if status == STOPPED:  # typer turns Ctrl+C into this status
        return _complain(STOPPED_MESSAGE, stop_status())
    return status if isinstance(status, int) else 0


def _places(arguments: Sequence[str]) -> list[Path]:
    """Paths among the arguments: where a full disk is looked for."""
    named = [word for word in arguments if not word.startswith("-") and _may_lie_somewhere(word)]
    return [*map(Path, named), CacheFolders.default().root]


def _may_lie_somewhere(word: str) -> bool:
    return os.path.isdir(os.path.dirname(os.path.abspath(word)))  # noqa: PTH100, PTH112, PTH120 (never raises)


def _complain(message: str, status: int) -> int:
    with suppress(OSError):  # standard error may lead nowhere
        sys.stderr.write(f"protoleaf: {' '.join(message.split())}\n")
        sys.stderr.flush()
    return status
