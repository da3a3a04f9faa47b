"""Commands with arguments that nobody means, with closed streams, or stopped at any moment: no traceback."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

import typer

from engine.cli.main import application
from engine.config import BACKUPS_VARIABLE, CACHE_VARIABLE
from tests.trust.outcome import Fault, Outcome, Trial
from tests.trust.stages import Stage
from tests.trust.trials import OnTrial, run_trials, trial_folder

INSTRUMENT: Final = "odd arguments and signals"
LIMIT_S: Final = 30.0
LATEST_SIGNAL_S: Final = 1.5
SETTLED: Final = frozenset({0, 1, 2, 130, 141, 143})
"""Exit statuses that a command may have."""
BEFORE_OUR_FIRST_LINE: Final = frozenset({-signal.SIGINT, -signal.SIGTERM})
"""A signal may come while Python itself is still starting."""
GUARD: Final = "from app.early_stop import"
"""The first line of ours; what comes before it is Python's own."""
LEFT_OUT: Final = ("benchmark", "experiment", "doctor", "menu-entry")
"""Commands that measure or train for minutes when their arguments happen to be right, or change the desktop."""
ODD: Final = (
    "x" * 300, "x" * 5000, f"{'y' * 300}.protoleaf", "a/" * 2500, "", " ", "-", "--", "..", "\n", "a\nb", "\x1b[31m",
    "-1", "0", "99999999999999999999999", "nan", "1e400", "--json", "--count", "--yes", "--no-such-option", "/dev/null",
    os.fsdecode(b"\xff\xfe.protoleaf"), "=1+1", "*", "~", "%s%n", "\u202e", "CON", "a" * 255,
    "ü" * 200, "PROJECT", "FOLDER", "FILE",
)  # fmt: skip
"""PROJECT, FOLDER and FILE stand for ones that are there."""
STOPPED: Final = (
    ("suggest", "PROJECT"), ("check", "PROJECT"), ("classify", "PROJECT", "-o", "out.csv"), ("backup", "PROJECT"),
    ("export", "PROJECT", "csv", "out.csv"), ("export", "PROJECT", "folders", "out"), ("backups", "list", "PROJECT"),
    ("import-labels", "PROJECT", "FILE"), ("what-if", "PROJECT", "--json"), ("versions", "PROJECT"),
)  # fmt: skip
"""Commands that work for a while, to be stopped at any moment."""
TWICE_AFTER_S: Final = 0.05
"""So fast an impatient person presses Ctrl+C again."""
STREAMS: Final = {
    "closed output": ">&-",
    "closed errors": "2>&-",
    "closed input": "<&-",
    "full": ">/dev/full",
    "gone": "| true",
}


@dataclass(frozen=True)
class Try:
    """One command: its words, and what happens to it."""

    words: tuple[str, ...]
    stream: str = ""
    number: int = 0
    after_s: float = 0.0
    is_twice: bool = False


def ask_many(stage: Stage, count: int, *, seed: int, on_trial: OnTrial = lambda: None) -> Outcome:
    """Run commands that nobody means."""
    tries = [_drawn(Random(seed * 1_000_003 + place)) for place in range(count)]
    return run_trials(INSTRUMENT, tries, lambda one: ask(stage, one), on_trial)


def commands() -> list[tuple[str, ...]]:
    """Every command of the program, but for `LEFT_OUT`."""
    return list(_below(typer.main.get_command(application), ()))


def _below(command: Any, words: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for name, each in getattr(command, "commands", {}).items():
        if not words and name in LEFT_OUT:
            continue
        if hasattr(each, "commands"):
            yield from _below(each, (*words, name))
        else:
            yield (*words, name)


def _drawn(chance: Random) -> Try:
    words = (*chance.choice(commands()), *chance.choices(ODD, k=chance.randint(0, 3)))
    kind = chance.random()
    if kind < 1 / 2:
        return Try(words)
    if kind < 3 / 4:
        return Try(("check", "PROJECT") if chance.random() < 1 / 2 else words, stream=chance.choice(list(STREAMS)))
    number = chance.choice((signal.SIGINT, signal.SIGTERM))
    after_s, is_twice = chance.random() * LATEST_SIGNAL_S, chance.random() < 1 / 4
    return Try(chance.choice(STOPPED), number=number, after_s=after_s, is_twice=is_twice)


def ask(stage: Stage, one: Try, run: Callable[..., "subprocess.Popen[bytes]"] = subprocess.Popen) -> Trial:
    """Run a command in a process of its own, and look at how it ended."""
    with trial_folder(stage.place.folder.parent) as folder:
        (folder / "home").mkdir(parents=True)
        project = folder / "shapes.protoleaf"
        shutil.copyfile(stage.place.project, project)
        before = project.read_bytes()
        named = {"PROJECT": str(project), "FOLDER": str(folder / "home"), "FILE": __file__}
        status, said = _run(one, [named.get(word, word) for word in one.words], folder, run)
        is_changed = project.read_bytes() != before
    doing = f"{' '.join(word[:30] for word in one.words)!r} {one.stream}{one.number or ''}"
    return Trial(int(status == 0), tuple(_faults(one, status, said, doing, is_changed=is_changed)))


def _run(one: Try, words: Sequence[str], folder: Path, run: Callable[..., Any]) -> tuple[int | None, str]:
    environment = {
        **os.environ, "HOME": str(folder / "home"), CACHE_VARIABLE: str(folder / "cache"),
        BACKUPS_VARIABLE: str(folder / "backups"), "PYTHONPATH": str(Path(__file__).parents[2]),
    }  # fmt: skip
    command = [sys.executable, "-m", "app", *words]
    if one.stream:
        shown = STREAMS[one.stream]
        command = ["bash", "-c", f'set -o pipefail; "$0" "$@" {shown}', *command]
    with run(
        command, cwd=folder / "home", env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, start_new_session=True,
    ) as child:  # fmt: skip
        if one.number:
            time.sleep(one.after_s)
            child.send_signal(one.number)
            if one.is_twice:
                time.sleep(TWICE_AFTER_S)
                child.send_signal(one.number)
        try:
            _, said = child.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return None, ""
        return child.returncode, said.decode("utf-8", "backslashreplace")


def _faults(one: Try, status: int | None, said: str, doing: str, *, is_changed: bool) -> Iterator[Fault]:
    if status is None:
        yield Fault("hang", doing)
        return
    is_guarded = "/engine/" in said or ("/app/" in said and GUARD not in said)
    if "Traceback (most recent call last)" in said and (is_guarded or not one.number):
        yield Fault("traceback", f"{doing}: {said.strip().splitlines()[-1][:200]}")
    elif status not in SETTLED and not (one.number and status in BEFORE_OUR_FIRST_LINE):
        yield Fault("other", f"{doing}: status {status}")
    if status == 1 and said.count("protoleaf: ") > 1:
        yield Fault("other", f"{doing}: several lines: {said[:200]!r}")
    if one.number and status in {130, 143} and said.count("\n") > 1:
        yield Fault("other", f"{doing}: more than one line: {said[:200]!r}")
    if is_changed and status != 0:
        yield Fault("wrong", f"{doing}: the project was changed")
