"""Commands with odd arguments, closed streams, an open window, or signals: no traceback."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import psutil

from engine.cli.commands import COMMANDS, loaded
from engine.config import BACKUPS_VARIABLE, CACHE_VARIABLE
from tests.support.few_shot_data import colour_data, write_data
from tests.support.quick_training import quick_words
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.stages import Stage
from tests.trust.trials import OnTrial, run_trials, trial_folder

INSTRUMENT = "odd arguments and signals"
LIMIT_S = 60.0
REPOSITORY = str(Path(__file__).parents[2])
LEFT = "(processes are left)"
LATEST_SIGNAL_S = 1.5
SETTLED = frozenset({0, 1, 2, 130, 141, 143})
"""Permitted exit statuses of commands."""
BEFORE_OUR_FIRST_LINE = frozenset({-signal.SIGINT, -signal.SIGTERM})
"""A signal may arrive while Python is starting."""
GUARD = "from app.early_stop import"
"""The program's first import; anything before it is Python's."""
LEFT_OUT = ("doctor", "menu-entry")
"""Commands that measure, or change the desktop."""
ODD = (
    "x" * 300,
    "x" * 5000,
    f"{'y' * 300}.protoleaf",
    "a/" * 2500,
    "",
    " ",
    "-",
    "--",
    "..",
    "\n",
    "a\nb",
    "\x1b[31m",
    "-1",
    "0",
    "99999999999999999999999",
    "nan",
    "1e400",
    "--json",
    "--count",
    "--yes",
    "--no-such-option",
    "/dev/null",
    os.fsdecode(b"\xff\xfe.protoleaf"),
    "=1+1",
    "*",
    "~",
    "%s%n",
    "\u202e",
    "CON",
    "a" * 255,
    "ü" * 200,
    "PROJECT",
    "FOLDER",
    "FILE",
)
"""PROJECT, FOLDER, FILE and DATA are replaced by existing paths."""
OVERLONG = ("x" * 5000, "a/" * 2500, f"{'y' * 300}.protoleaf", "z=" * 2500)
STOPPED = (
    ("suggest", "PROJECT"),
    ("check", "PROJECT"),
    ("classify", "PROJECT", "-o", "out.csv"),
    ("backup", "PROJECT"),
    ("export", "PROJECT", "csv", "out.csv"),
    ("export", "PROJECT", "folders", "out"),
    ("backups", "list", "PROJECT"),
    ("import-labels", "PROJECT", "FILE"),
    ("what-if", "PROJECT", "--json"),
    ("versions", "PROJECT"),
)
"""Longer commands, stopped at random moments."""
READING = (
    ("what-if", "PROJECT", "--unlink", "Red disc=Red"),
    ("check", "PROJECT"),
    ("suggest", "PROJECT"),
    ("export", "PROJECT", "csv", "out.csv"),
    ("evaluate", "PROJECT", "--truth", "FILE"),
)
"""Commands that work while a window has the project open."""
SIDE_BY_SIDE = (
    "experiment",
    "table",
    "DATA",
    "--runs",
    "runs",
    "--results",
    "results",
    "--workers",
    "2",
    "--validation",
    "5",
    *quick_words(iterations=90_000),
)
LATEST_SIDE_BY_SIDE_S = 10.0
NOBODY_LEFT_S = 5.0
"""Grace period for child processes of a command."""
HOLDER = """
import sys
from pathlib import Path
from engine.project import Project
with Project.open(Path(sys.argv[1])):
    print("open", flush=True)
    sys.stdin.read()
"""
SCRIPT = """
import sys
from app.__main__ import main
if __name__ == "__main__":
    sys.exit(main())
"""
"""The start script of an installed program; processes of a pool load it, too."""
TWICE_AFTER_S = 0.05
"""Delay of a second Ctrl+C."""
STREAMS = {
    "closed output": ">&-",
    "closed errors": "2>&-",
    "closed input": "<&-",
    "full": ">/dev/full",
    "full errors": "2>/dev/full",
    "gone": "| true",
}


@dataclass(frozen=True)
class Try:
    """A command with its arguments and what happens to it."""

    words: tuple[str, ...]
    stream: str = ""
    number: int = 0
    after_s: float = 0.0
    is_twice: bool = False
    is_beside: bool = False

    @property
    def is_side_by_side(self) -> bool:
        """Whether it starts processes."""
        return self.words[:1] == ("experiment",)


def ask_many(stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None) -> Outcome:
    """Run unusual commands."""
    return run_trials(INSTRUMENT, drawn(count, seed=seed), lambda one: ask(stage, one), on_trial)


def drawn(count: int, *, seed: int) -> list[Try]:
    """Random trials of every kind."""
    return [_drawn(Random(seed * 1_000_003 + place), place) for place in range(count)]


@cache
def commands() -> tuple[tuple[str, ...], ...]:
    """Every command except `LEFT_OUT` and the laboratory's, which take minutes."""
    return tuple(
        words
        for name in COMMANDS
        if name not in LEFT_OUT
        for words in _below(loaded(name), (name,))
    )


def _below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    if not hasattr(command, "commands"):
        yield words
    for name, each in getattr(command, "commands", {}).items():
        yield from _below(each, (*words, name))


def _drawn(chance: Random, place: int) -> Try:
    kind = chance.random()
    words = (*chance.choice(commands()), *chance.choices(ODD, k=chance.randint(0, 3)))
    if kind < 0.1:
        each_in_turn = commands()[place % len(commands())]
        return Try((*each_in_turn, *chance.choices((*OVERLONG, "PROJECT"), k=chance.randint(1, 3))))
    if kind < 0.45:
        return Try(words)
    if kind < 0.5:
        return Try(chance.choice(READING), is_beside=True)
    if kind < 0.75:
        return Try(
            chance.choice(READING) if chance.random() < 1 / 2 else words,
            stream=chance.choice(list(STREAMS)),
        )
    number, is_twice = chance.choice((signal.SIGINT, signal.SIGTERM)), chance.random() < 1 / 4
    if kind < 0.77:
        return Try(
            SIDE_BY_SIDE,
            number=number,
            after_s=chance.random() * LATEST_SIDE_BY_SIDE_S,
            is_twice=is_twice,
        )
    return Try(
        chance.choice(STOPPED),
        number=number,
        after_s=chance.random() * LATEST_SIGNAL_S,
        is_twice=is_twice,
    )


def ask(
    stage: Stage, one: Try, run: Callable[..., "subprocess.Popen[bytes]"] = subprocess.Popen
) -> Trial:
    """Run a command in a process, and check its end."""
    with trial_folder(stage.place.folder.parent) as folder:
        (folder / "home").mkdir(parents=True)
        project = folder / "shapes.protoleaf"
        shutil.copyfile(stage.place.project, project)
        shutil.copytree(stage.place.caches, folder / "cache")
        before = project.read_bytes()
        named = {
            "PROJECT": project,
            "FOLDER": folder / "home",
            "FILE": __file__,
            "DATA": folder / "data",
        }
        if one.is_side_by_side:
            write_data(colour_data(), folder / "data")
        words = [str(named.get(word, word)) for word in one.words]
        with _held(project) if one.is_beside else nullcontext():
            status, output = _run(one, words, folder, run)
        is_changed = project.read_bytes() != before
    doing = f"{' '.join(word[:30] for word in one.words)!r} {one.stream}{one.number or ''}"
    return Trial(
        int(status == 0), tuple(_faults(one, status, output, doing, is_changed=is_changed))
    )


def _environment(folder: Path) -> dict[str, str]:
    return {
        **os.environ,
        "HOME": str(folder / "home"),
        CACHE_VARIABLE: str(folder / "cache"),
        BACKUPS_VARIABLE: str(folder / "backups"),
        "PYTHONPATH": REPOSITORY,
    }


@contextmanager
def _held(project: Path) -> Iterator[None]:
    """Let another process open the project for writing, as a window does."""
    command = [sys.executable, "-c", HOLDER, str(project)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment(project.parent)
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        yield
        holder.communicate()


def _run(
    one: Try, words: Sequence[str], folder: Path, run: Callable[..., Any]
) -> tuple[int | None, str]:
    with run(
        _command(one, words, folder),
        cwd=folder / "home",
        env=_environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as child:
        if one.number:
            time.sleep(one.after_s)
            _send(one, child.pid)
            if one.is_twice:
                time.sleep(TWICE_AFTER_S)
                _send(one, child.pid)
        try:
            _, errors = child.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return None, ""
        left = "" if _is_alone(child.pid) else LEFT
        return child.returncode, errors.decode("utf-8", "backslashreplace") + left


def _command(one: Try, words: Sequence[str], folder: Path) -> list[str]:
    if one.is_side_by_side:
        script = folder / "protoleaf"
        script.write_text(SCRIPT, encoding="utf-8")
        return [sys.executable, str(script), *words]
    command = [sys.executable, "-m", "app", *words]
    return (
        ["bash", "-c", f'set -o pipefail; "$0" "$@" {STREAMS[one.stream]}', *command]
        if one.stream
        else command
    )


def _send(one: Try, group: int) -> None:
    """Send a signal to the command and its children, as a terminal does."""
    with suppress(ProcessLookupError):
        os.killpg(group, one.number)


def _is_alone(group: int) -> bool:
    """Whether no process of a command is left after a while; remaining ones are killed."""
    ends = time.monotonic() + NOBODY_LEFT_S
    while any(_is_of(each, group) for each in psutil.process_iter()):
        if time.monotonic() > ends:
            os.killpg(group, signal.SIGKILL)
            return False
        time.sleep(TWICE_AFTER_S)
    return True


def _is_of(process: psutil.Process, group: int) -> bool:
    """Whether a process belongs to a group; zombies do not count."""
    try:
        return os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE
    except (OSError, psutil.Error):
        return False


def _faults(
    one: Try, status: int | None, output: str, doing: str, *, is_changed: bool
) -> Iterator[Fault]:
    if status is None:
        yield Fault("hang", doing)
        return
    is_guarded = "/engine/" in output or ("/app/" in output and GUARD not in output)
    if "Traceback (most recent call last)" in output and (is_guarded or not one.number):
        yield Fault("traceback", f"{doing}: {output.strip().splitlines()[-1][:200]}")
    elif status not in SETTLED and not (one.number and status in BEFORE_OUR_FIRST_LINE):
        yield Fault("other", f"{doing}: status {status}")
    if LEFT in output:
        yield Fault("other", f"{doing}: processes are left")
    if one.is_beside and status != 0 and one.words[0] != "evaluate":
        yield Fault("wrong", f"{doing}: status {status} beside a window: {output[:200]!r}")
    if status == 1 and sum(line.startswith("protoleaf: ") for line in output.splitlines()) > 1:
        yield Fault("other", f"{doing}: several lines: {output[:200]!r}")
    if one.number and status in {130, 143} and output.count("\n") > 1:
        yield Fault("other", f"{doing}: more than one line: {output[:200]!r}")
    if is_changed and status != 0:
        yield Fault("wrong", f"{doing}: the project was changed")
