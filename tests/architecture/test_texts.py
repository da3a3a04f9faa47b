"""Required and forbidden texts."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from engine import __version__, errors
from engine.cli.commands import COMMAND_NAMES, loaded
from tests.architecture.source_code import PROGRAM, ROOT, Module, findings, rule

TEXT_SUFFIXES = {".py", ".md", ".toml", ".txt", ".json", ".jsonl", ".qss", ".svg", ""}
UNFINISHED = re.compile(r"\b(TO" + "DO|FIX" + "ME|XX" + r"X)\b|NotImplemented" + "Error")
MACHINE = re.compile(r"(?<![\w.])/(?:ro" + "ot|ho" + r"me|wo" + r"rk)/\w")


def tracked_files() -> list[Path]:
    """Text files of the repository; all files without git."""
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    names = done.stdout.split("\n") if done.returncode == 0 else []
    found = [ROOT / name for name in names if name] or [
        path for folder in (*PROGRAM, "tests", "docs") for path in (ROOT / folder).rglob("*.*")
    ]
    return [path for path in found if path.suffix in TEXT_SUFFIXES and path.is_file()]


def commands() -> dict[str, str]:
    """Every command with its help, also `benchmark x`."""
    found = {}
    for name in COMMAND_NAMES:
        command = loaded(name)
        inner = getattr(command, "commands", None)
        if inner is None:
            found[name] = command.help or ""
        else:
            found |= {f"{name} {sub}": entry.help or "" for sub, entry in inner.items()}
    return found


def test_every_command_is_documented() -> None:
    """A command has a help line and is in the guide."""
    guide = (ROOT / "docs/guide/command-line.md").read_text(encoding="utf-8")
    helped = commands()
    assert [name for name, words in helped.items() if not words] == []
    assert [name for name in helped if f"`{name}" not in guide] == []


def test_nothing_is_left_unfinished() -> None:
    """Code marks nothing as missing: what is missing is an issue."""
    marked = [
        path.name for path in tracked_files() if UNFINISHED.search(path.read_text(encoding="utf-8"))
    ]
    assert marked == []


def test_no_machine_is_named() -> None:
    """No file has a path of a developer's computer."""
    named = [
        path.name for path in tracked_files() if MACHINE.search(path.read_text(encoding="utf-8"))
    ]
    assert named == []


def test_changelog_knows_the_version() -> None:
    """The changelog has a heading for the program's version or for unreleased changes."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## {__version__}" in text or "## Unreleased" in text


def raised(module: Module) -> list[tuple[ast.Call, dict[str, ast.expr]]]:
    """Calls that create an error, with the parts of the message."""
    kinds = {
        name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and issubclass(kind, Exception)
    }
    made = [
        call
        for call in module.calls()
        if isinstance(call.func, ast.Name) and call.func.id in kinds | {"DiskFullError"}
    ]
    return [
        (
            call,
            {"what": call.args[0]}
            | {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg},
        )
        for call in made
        if call.args
    ]


@rule("engine", "protoleaf_cluster")
def unclear_errors(module: Module) -> Iterator[str]:
    """Errors whose templates and fields do not match."""
    for call, given in raised(module):
        parts = {
            name: given.pop(name)
            for name in ("what", "expected", "found", "remedy")
            if name in given
        }
        fields = given.keys() - {"code"}
        words = [
            ast.unparse(part)
            for part in parts.values()
            if isinstance(part, ast.JoinedStr) and has_words(part)
        ]
        templates = [str(part.value) for part in parts.values() if isinstance(part, ast.Constant)]
        places = {
            place for text in templates for place in re.findall(r"\{(\w+)(?::[^{}]*)?\}", text)
        }
        are_all_known = all(
            isinstance(part, ast.Constant | ast.JoinedStr) for part in parts.values()
        )
        if words or places - fields or (are_all_known and fields - places):
            yield f"{call.lineno} {words or places ^ fields}"


def test_errors_are_templates_and_fields() -> None:
    """Messages are constant templates, which can be translated; placeholders equal fields."""
    assert findings(unclear_errors) == {}


def has_words(text: ast.JoinedStr) -> bool:
    """Whether an f-string has more than values and units."""
    letters = "".join(str(part.value) for part in text.values if isinstance(part, ast.Constant))
    return re.search(r"[a-z]{2}", re.sub(r"\b(MB|MiB|SHA-256|hf-hub)\b", "", letters)) is not None
