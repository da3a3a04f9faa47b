"""Words that must be there, and words that must not."""

import re
import subprocess
from pathlib import Path

import typer

from engine import __version__
from engine.cli.main import application

ROOT = Path(__file__).parents[2]
TEXT_SUFFIXES = {".py", ".md", ".toml", ".txt", ".json", ".jsonl", ".qss", ".svg", ""}
UNFINISHED = re.compile(r"\b(TO" + "DO|FIX" + "ME|XX" + r"X)\b|NotImplemented" + "Error")
MACHINE = re.compile(r"(?<![\w.])/(?:ro" + "ot|ho" + r"me|wo" + r"rk)/\w")


def tracked_files() -> list[Path]:
    """Text files of the repository; all files where there is no git."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = done.stdout.split("\n") if done.returncode == 0 else []
    found = [ROOT / name for name in names if name] or [
        path for folder in ("app", "engine", "research", "tests", "docs") for path in (ROOT / folder).rglob("*.*")
    ]
    return [path for path in found if path.suffix in TEXT_SUFFIXES and path.is_file()]


def commands() -> dict[str, str]:
    """Every command with its help, `benchmark x` included."""
    top = typer.main.get_command(application)
    found = {}
    for name, command in top.commands.items():  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        if inner is None:
            found[name] = command.help or ""
        else:
            found |= {f"{name} {sub}": entry.help or "" for sub, entry in inner.items()}
    return found


def test_every_command_is_documented() -> None:
    """A command has a help line and stands in the guide."""
    guide = (ROOT / "docs/guide/command-line.md").read_text(encoding="utf-8")
    helped = commands()
    assert [name for name, words in helped.items() if not words] == []
    assert [name for name in helped if f"`{name}" not in guide] == []


def test_nothing_is_left_unfinished() -> None:
    """No open ends are marked in the code: what is missing is an issue."""
    marked = [path.name for path in tracked_files() if UNFINISHED.search(path.read_text(encoding="utf-8"))]
    assert marked == []


def test_no_machine_is_named() -> None:
    """No file names a place on the computer it was written on."""
    named = [path.name for path in tracked_files() if MACHINE.search(path.read_text(encoding="utf-8"))]
    assert named == []


def test_changelog_knows_the_version() -> None:
    """The changelog has a heading for the program's version or for what is not released yet."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {__version__}" in text or "## Unreleased" in text
