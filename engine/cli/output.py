"""How the command line speaks: results on standard output, progress and errors on standard error."""

import json
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from engine.events import OnProgress, ignore_progress
from engine.events import Progress as JobProgress

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Overwrite = Annotated[
    bool,
    typer.Option(
        "--overwrite",
        help="Replace the output file also where it is no earlier output of this kind. Projects, backups, images of "
        "the project and folders are never replaced.",
    ),
]


def say(text: str, fields: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a result: `text` for people or `fields` as one JSON object (NaN becomes null)."""
    encoding = sys.stdout.encoding or "utf-8"
    if as_json:
        text = json.dumps(_plain(fields), ensure_ascii=False)
        if not _fits(text, encoding):
            text = json.dumps(_plain(fields))
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")
    sys.stdout.flush()


def note(text: str) -> None:
    """Say on standard error what a person should know though the command goes on."""
    sys.stderr.write(f"protoleaf: {' '.join(text.split())}\n")


def _fits(text: str, encoding: str) -> bool:
    """Whether a terminal or pipe takes these characters: a file's name may be no valid Unicode."""
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
    return None if isinstance(value, float) and not math.isfinite(value) else value


@contextmanager
def progress_bar(title: str) -> Iterator[OnProgress]:
    """Show a progress bar on standard error when that is a terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield ignore_progress
        return
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
            bar.update(task, completed=progress.done, total=progress.total or None, rate=rate, note=progress.note)

        yield show


def counted(count: int, noun: str, plural: str = "") -> str:
    """`1 class`, `1,234 classes`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def percent(share: float) -> str:
    """`12.3%`, or a dash when there is nothing to take a share of."""
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"
