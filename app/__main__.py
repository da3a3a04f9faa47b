"""Entry point: the window, the command line or a worker, depending on the first argument."""

from __future__ import annotations

# Runs before the imports that take long.
import sys

from app.early_stop import end_command, guard_start, is_start

if is_start(__name__):
    guard_start()
    if getattr(sys, "frozen", False):
        # In a frozen program, Python's resource tracker starts this executable, which lacks `-c`.
        from multiprocessing import freeze_support

        freeze_support()

import logging
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from engine import __version__

if TYPE_CHECKING:
    from app.main_window import MainWindow
    from engine.log import Log

LANGUAGE_OPTION = "--language"
LANGUAGE_VARIABLE = "PROTOLEAF_LANGUAGE"  # as in app.language, which loads Qt
_log = logging.getLogger(__name__)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program, by default with the arguments of the process.

    Returns 2 where the first argument is neither a command nor a project.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0].partition("=")[0] == LANGUAGE_OPTION:
        words, problem = _take_language(words)
        if problem:
            sys.stderr.write(f"protoleaf: {problem}\n")
            return 2
    if words == ["--version"] and _print_version():
        return 0
    first = words[0] if words else ""
    if first == "worker":
        from engine.jobs import main as run_worker

        return run_worker()
    if first and (first.startswith("-") or not _names_a_project(first)):
        from engine.cli.main import main as run_command
        from engine.log import ProcessKind, logging_to_file

        with logging_to_file(ProcessKind.COMMAND):
            status = run_command(words, _speak)
        if is_start(__name__):
            end_command(status)
        return status
    if len(words) > 1:
        sys.stderr.write(
            f"protoleaf: the window opens one project: expected nothing after {first}, "
            f"found {words[1]}\n"
        )
        return 2
    return open_window(Path(first).absolute() if first else None)


def _print_version() -> bool:
    """Print the version; return False on a write error, which the command line then reports."""
    with suppress(OSError):
        sys.stdout.write(f"protoleaf {__version__}\n")
        sys.stdout.flush()
        return True
    return False


def _speak() -> None:
    """Translate errors of the command line; Qt is loaded only where a language is set."""
    if wanted := os.environ.get(LANGUAGE_VARIABLE) or os.environ.get("LC_MESSAGES"):
        from app.language import speak_on_command_line

        speak_on_command_line(wanted)


def _take_language(words: list[str]) -> tuple[list[str], str]:
    """Split off `--language CODE`: the other arguments, or an error message.

    The language is set in the environment, so that child processes use it, too.
    """
    from app.language import language_names

    code, rest = (
        (words[0].partition("=")[2], words[1:])
        if "=" in words[0]
        else ("".join(words[1:2]), words[2:])
    )
    there = sorted(language_names())
    if code not in there:
        return (
            words,
            f"{LANGUAGE_OPTION}: expected one of {', '.join(there)}, found {code or 'none'}",
        )
    os.environ[LANGUAGE_VARIABLE] = code
    return rest, ""


def _names_a_project(word: str) -> bool:
    """Whether it ends with the suffix of a project; does not load the commands."""
    from engine.config import ARCHIVE_SUFFIX, PROJECT_SUFFIX

    return word.endswith((PROJECT_SUFFIX, ARCHIVE_SUFFIX))


def open_window(
    project: Path | None,
    *,
    with_sample: bool = False,
    attach: Callable[[MainWindow], None] | None = None,
) -> int:
    """Open the window with a project or the sample, and run until it is closed.

    `attach` is called with the window before it is shown.
    """
    from importlib.util import find_spec

    from engine.log import ProcessKind, logging_to_file

    if find_spec("PySide6") is None:
        sys.stderr.write("protoleaf: the window is not installed: pip install 'protoleaf[app]'\n")
        return 2
    leave_root()
    with logging_to_file(ProcessKind.WINDOW) as log:
        return _run_window(project, log, with_sample=with_sample, attach=attach)


def leave_root() -> None:
    """Leave the root folder, where a menu may start the program.

    File dialogs start in the current folder.
    """
    with suppress(OSError):
        if Path.cwd() == Path(Path.cwd().anchor):
            os.chdir(Path.home())


def _run_window(
    project: Path | None,
    log: Log,
    *,
    with_sample: bool,
    attach: Callable[[MainWindow], None] | None,
) -> int:
    if sys.platform == "win32":
        from engine.runtime.onnx_runtime import load_onnxruntime

        # WORKAROUND: after Qt its library fails to load (onnxruntime issue 16116).
        load_onnxruntime()
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication

    from app.application import GuiCollector, return_freed_columns, share_interpreter
    from app.language import install_language, spoken_language
    from app.one_window import OneWindow
    from app.reports.catching import log_qt_messages
    from app.settings import Settings
    from app.theme import SchemeChoice, apply_fonts, apply_theme

    return_freed_columns()
    log_qt_messages()
    application = QApplication(sys.argv[:1])
    share_interpreter()
    GuiCollector(application)
    application.setApplicationName("Protoleaf")
    application.setOrganizationName("protoleaf")
    application.setDesktopFileName("protoleaf")
    settings = Settings()
    install_language(application, settings.language, has_project_names=settings.has_project_names)
    apply_fonts(application, spoken_language())
    apply_theme(application, SchemeChoice.named(settings.scheme))
    one = OneWindow(application, settings, log)
    if sys.platform == "darwin":
        from app.application import OpenedFiles

        OpenedFiles(application, one.open_soon)
    one.begin(project, with_sample=with_sample, attach=attach)
    QTimer.singleShot(
        0, lambda: _log.info("the window is open")
    )  # The packaging tests measure the start time by this line.
    return application.exec()


if __name__ == "__main__":
    sys.exit(main())
