"""Output of commands: results on stdout; progress, questions and errors on stderr."""

import json
import math
import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import typer
from typer import Option

from engine.credentials import without_credentials
from engine.errors import Cancelled, code_of
from engine.events import CancelToken, OnProgress, ignore_progress
from engine.events import Progress as JobProgress
from engine.files import FileFailure
from engine.graph.codes import NONE_OF_THEM, NOTHING_THERE
from engine.texts import Message, counted

if TYPE_CHECKING:
    from engine.images.kinds import LeftOut

_is_json: list[bool] = []  # not empty: results are printed as JSON


def print_json(is_on: bool) -> None:
    """Print results as JSON, or as text."""
    _is_json[:] = [True] if is_on else []


def is_json() -> bool:
    """Whether results are printed as JSON."""
    return bool(_is_json)


Overwrite = Annotated[
    bool,
    Option(
        "--overwrite",
        help="Replace any existing file; by default only an earlier output of the same "
        "kind. Projects, backups, images of the project and folders are never "
        "replaced.",
    ),
]
MOST_SHOWN = 20  # lines of each list; the rest is a number, and `--json` has them all


def print_result(text: str, fields: Mapping[str, Any]) -> None:
    """Print `text`, or `fields` as JSON (NaN becomes null); credentials are removed."""
    encoding = sys.stdout.encoding or "utf-8"
    if is_json():
        text = json.dumps(_plain(fields), ensure_ascii=False)
        if not _fits(text, encoding):
            text = json.dumps(_plain(fields))
    shown = text if is_json() else without_credentials(text)
    sys.stdout.write(shown.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Print a note on standard error while the command goes on."""
    sys.stderr.write(f"protoleaf: {' '.join(text.split())}\n")


def _fits(text: str, encoding: str) -> bool:
    """Whether a text can be encoded; file names may be invalid Unicode."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str):
        return without_credentials(value)
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def progress_bar(title: str) -> Iterator[OnProgress]:
    """Show a progress bar on standard error when that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield ignore_progress
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=None, rate="", note="")

        def show(progress: JobProgress) -> None:
            rate = f"{progress.rate_per_s:,.0f} {progress.unit}/s" if progress.rate_per_s else ""
            bar.update(
                task,
                completed=progress.done,
                total=progress.total or None,
                rate=rate,
                note=progress.note,
            )

        yield show


_WITHOUT_CLASS = {NONE_OF_THEM: "none of the classes", NOTHING_THERE: "empty"}


def label_text(path: str) -> str:
    """The text of a `label_path`."""
    return _WITHOUT_CLASS.get(path, path)


def percent(share: float) -> str:
    """`12.3%`, or a dash for NaN."""
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"


def probability_text(probability: float) -> str:
    """`12.3%`, clipped to `<0.1%` and `>99.9%`."""
    rounded = round(100 * probability, 1)
    if rounded <= 0:
        return "<0.1%"
    return ">99.9%" if rounded >= 100 else f"{rounded:.1f}%"  # noqa: PLR2004 (a percentage)


def failure_rows(failures: Sequence[FileFailure]) -> list[dict[str, str]]:
    """JSON rows of failed files."""
    return [
        {"path": str(failure.path), "reason": str(failure.reason), "code": code_of(failure.reason)}
        for failure in failures
    ]


def left_out_text(left_out: "LeftOut") -> str:
    """Text of skipped files: unsupported images and videos by kind, and other files."""
    lines = []
    if left_out.count:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in left_out.by_kind())
        were = (
            "was left out: this kind of file is"
            if left_out.count == 1
            else "were left out: these kinds of files are"
        )
        advice = " Save pictures as JPEG, PNG or TIFF to add them." if left_out.has_pictures else ""
        lines.append(f"{kinds} {were} not read.{advice}")
    if left_out.raw_doubles:
        lines.append(
            f"{counted(left_out.raw_doubles, 'RAW photo')} skipped: the camera stored a "
            "JPEG or HEIC, too."
        )
    if left_out.others:
        lines.append(
            f"{counted(left_out.others, 'other file')} skipped: neither images nor videos."
        )
    return "".join(f"\n{line}" for line in lines)


def failure_text(failures: Sequence[FileFailure], what: str = "could not be read") -> str:
    """Text of failed files, with the first of them."""
    lines = [f"{failure.path}: {failure.reason}" for failure in failures]
    return (
        f"\n{counted(len(failures), 'file')} {what}:{_first(lines, len(lines))}" if failures else ""
    )


def list_text(title: str, lines: Sequence[str], total: int | None = None) -> str:
    """A list with title and count, limited to its first lines; "" if it is empty."""
    count = len(lines) if total is None else total
    return f"\n{title} ({count:,}):{_first(lines, count)}" if lines else ""


def _first(lines: Sequence[str], total: int) -> str:
    more = [f"and {total - MOST_SHOWN:,} more"] if total > MOST_SHOWN else []
    return "".join(f"\n  {line}" for line in (*lines[:MOST_SHOWN], *more))


def is_interactive() -> bool:
    """Whether the user can be asked in a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def asked(facts: str, question: str) -> bool:
    """Print the facts and ask for confirmation; without a terminal the answer is no."""
    if not is_interactive():
        return False
    typer.echo(facts, err=True)
    return typer.confirm(question, err=True)


SIGNALS = (signal.SIGINT, signal.SIGTERM)
_OF_A_SIGNAL = 128  # A shell adds this to the number of the signal that ended a command
_AGAIN_AFTER_S = 0.01
_received: list[int] = []
_interrupted = threading.Event()


@contextmanager
def interrupted_by_signals() -> Iterator[None]:
    """Raise `KeyboardInterrupt` for SIGINT and SIGTERM, in the main thread."""
    _received.clear()
    _interrupted.clear()
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    unraisable = sys.unraisablehook
    try:
        sys.unraisablehook = _repeat_interrupt
        for number in SIGNALS:
            signal.signal(number, _interrupt)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = unraisable


def was_interrupted() -> bool:
    """Whether `KeyboardInterrupt` was raised; libraries may replace it by another error."""
    return _interrupted.is_set()


def stop_status() -> int:
    """Exit status after a stop: 130 for SIGINT, 143 for SIGTERM."""
    return _OF_A_SIGNAL + (_received[-1] if _received else signal.SIGINT)


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _received.append(number)
    _interrupted.set()
    raise KeyboardInterrupt


def _repeat_interrupt(error: "sys.UnraisableHookArgs") -> None:
    """Repeat an interrupt that was raised in a finalizer, where Python drops exceptions."""
    if issubclass(error.exc_type, KeyboardInterrupt) and _received:
        threading.Timer(_AGAIN_AFTER_S, os.kill, (os.getpid(), _received[-1])).start()
    else:
        sys.__unraisablehook__(error)


@contextmanager
def stoppable(remedy: str) -> Iterator[CancelToken]:
    """Turn the first SIGINT or SIGTERM into a cancelled token.

    Args:
        remedy: how to resume, for the message after a stop.
    """
    token = CancelToken()
    before = {number: signal.getsignal(number) for number in SIGNALS}

    def ask(number: int, _frame: FrameType | None) -> None:
        _received.append(number)
        token.cancel()
        signal.signal(number, _interrupt)

    for number in before:
        signal.signal(number, ask)
    try:
        yield token
    except Cancelled as stopped:
        stopped.remedy = Message(remedy)
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class JobArguments(TypedDict):
    """Arguments of a long-running function."""

    on_progress: OnProgress
    cancel: CancelToken


@contextmanager
def job(title: str, remedy: str) -> Iterator[JobArguments]:
    """Show a progress bar and make the work stoppable; see `progress_bar` and `stoppable`."""
    with stoppable(remedy) as cancel, progress_bar(title) as on_progress:
        yield {"on_progress": on_progress, "cancel": cancel}
