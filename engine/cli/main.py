"""Entry point of the command line: runs a command and maps errors to exit statuses."""

import errno
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import typer

from engine.cli.commands import application
from engine.cli.output import interrupted_by_signals, stop_status, was_interrupted
from engine.config import CacheFolders
from engine.errors import Cancelled, InputError, ProtoleafError, StorageError, UsageError
from engine.full_disk import as_full_disk
from engine.new_folder import clear_abandoned

FAILED = 1
MISUSED = 2
STOPPED = 130
BROKEN_PIPE = 141  # as shells report SIGPIPE
LONGEST_SHOWN = 200  # characters of a name that are shown
AS_JSON = "--json"
STOPPED_MESSAGE = "stopped; what was finished is kept"

_log = logging.getLogger(__name__)


def main(arguments: Sequence[str], speak: Callable[[], None] = lambda: None) -> int:
    """Run one command.

    Args:
        arguments: without the program's name.
        speak: sets the user's language. It is called only before an error is printed, so that
            results and files do not depend on it; never with `--json`.

    Returns:
        Exit status: 0 success, 1 error, 2 invalid usage, 130 SIGINT, 143 SIGTERM, 141 broken pipe.
    """
    try:
        with interrupted_by_signals():
            return _guarded(arguments, speak)
    except KeyboardInterrupt:  # a second one during cleanup
        return stop_status()


def _guarded(arguments: Sequence[str], speak: Callable[[], None]) -> int:
    try:
        return _run(arguments)
    except typer.TyperException as error:  # invalid usage
        return _complain(error.format_message(), error.exit_code)
    except (typer.Abort, KeyboardInterrupt, Cancelled) as stopped:
        remedy = f"; {stopped.remedy}" if isinstance(stopped, Cancelled) else ""
        return _complain(STOPPED_MESSAGE + remedy, stop_status())
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):  # Typer exits on a broken pipe
            raise
        return BROKEN_PIPE
    except Exception as error:
        status = _answer(error, arguments, speak)
        if status is None:
            raise
        return status


def _answer(error: Exception, arguments: Sequence[str], speak: Callable[[], None]) -> int | None:
    """Print an error and return the exit status; None for an unexpected exception."""
    if was_interrupted():  # an import may have replaced it by another error
        return _complain(STOPPED_MESSAGE, stop_status())
    plain = _in_one_line(as_full_disk(error, *_places(arguments)))
    if plain is None:
        return None
    _drop_unwritten_output()
    if isinstance(plain, BrokenPipeError):
        return BROKEN_PIPE
    if AS_JSON not in arguments:
        speak()
    return _complain(plain.translated(), MISUSED if isinstance(plain, UsageError) else FAILED)


def _in_one_line(error: Exception) -> ProtoleafError | BrokenPipeError | None:
    """The error to print: errors of the system and invalid input are expected."""
    if isinstance(error, ProtoleafError | BrokenPipeError):
        return error
    refusal = _refusal(error)
    if refusal is not None:
        _log.info("a command was refused by the system", exc_info=error)
    return refusal


def _refusal(error: Exception) -> ProtoleafError | None:
    match error:
        case OSError(errno=errno.EBADF):
            return StorageError(
                "the result cannot be printed", found=str(error.strerror), remedy="redirect it"
            )
        case OSError():
            return StorageError(error.strerror or str(error), found=_named(error))
        case UnicodeEncodeError():
            return InputError(
                "a name contains characters that cannot be written", found=ascii(error.object)
            )
        case OverflowError():
            return InputError("a number is too large", found=str(error))
        case MemoryError():
            return StorageError("there is not enough memory", remedy="close other programs")
    return None


def _named(error: OSError) -> str:
    name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else ""
    return name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}…"


def _drop_unwritten_output() -> None:
    """Discard buffered output after a full disk: the interpreter would retry at exit."""
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
    sys.stdout.flush()  # report a full disk here, not at exit
    if status == STOPPED:  # Typer maps Ctrl+C to this status
        return _complain(STOPPED_MESSAGE, stop_status())
    return status if isinstance(status, int) else 0


def _places(arguments: Sequence[str]) -> list[Path]:
    """Paths among the arguments, to check for a full disk."""
    named = [word for word in arguments if not word.startswith("-") and _has_existing_folder(word)]
    return [*map(Path, named), CacheFolders.default().root]


def _has_existing_folder(word: str) -> bool:
    folder = os.path.dirname(os.path.abspath(word))  # noqa: PTH100, PTH120 (never raises)
    return os.path.isdir(folder)  # noqa: PTH112


def _complain(message: str, status: int) -> int:
    with suppress(OSError):  # stderr may be closed
        sys.stderr.write(f"protoleaf: {' '.join(message.split())}\n")
        sys.stderr.flush()
    return status
