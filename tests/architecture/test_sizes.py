"""Nothing grows unnoticed: longer modules, functions and classes are listed with a reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE_LINES = 400
FUNCTION_LINES = 50
CLASS_LINES = 300

EXCEPTIONS: dict[str, str] = {}
"""Path, or path:name, to the reason why it is longer."""

SOURCES = sorted(path for folder in ("app", "engine") for path in (ROOT / folder).rglob("*.py"))


def too_long(path: Path) -> Iterator[str]:
    """What in a file is longer than it should be."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    if text.count("\n") > MODULE_LINES:
        yield name
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            limit = CLASS_LINES if isinstance(node, ast.ClassDef) else FUNCTION_LINES
            if (node.end_lineno or 0) - node.lineno + 1 > limit:
                yield f"{name}:{node.name}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_nothing_is_too_long(path: Path) -> None:
    """Modules, functions and classes stay readable in one sitting."""
    assert [found for found in too_long(path) if found not in EXCEPTIONS] == []


def test_exceptions_are_needed() -> None:
    """An exception that is no longer needed goes away."""
    found = {name for path in SOURCES for name in too_long(path)}
    assert set(EXCEPTIONS) <= found
