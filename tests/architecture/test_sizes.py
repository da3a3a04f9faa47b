"""Nothing grows unnoticed: longer modules, functions and classes are listed with a reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULE_STATEMENTS = 300
FUNCTION_STATEMENTS = 40
CLASS_STATEMENTS = 250

SHELL = "connects all others, one line or two for each; what they do is in modules of their own"
EXCEPTIONS: dict[str, str] = {
    "app/workspace/view.py": SHELL,
    "app/workspace/view.py:Workspace": SHELL,
    "app/image_grid/card.py": "painter and hit areas of one card; parts when the grid is next changed",
    "app/palette/view.py:__init__": "builds the window of the palette; parts when it is next changed",
}
"""Path, or path:name, to the reason why it is longer."""

SOURCES = sorted(
    path
    for folder in ("app", "engine", "protoleaf", "research")
    for path in (ROOT / folder).rglob("*.py")
)


def too_long(path: Path) -> Iterator[str]:
    """What in a file has more statements than it should have."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    name = path.relative_to(ROOT).as_posix()
    if statements_of(tree) > MODULE_STATEMENTS:
        yield name
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            limit = CLASS_STATEMENTS if isinstance(node, ast.ClassDef) else FUNCTION_STATEMENTS
            if statements_of(node) > limit:
                yield f"{name}:{node.name}"


def statements_of(node: ast.AST) -> int:
    """Statements within a node. Lines would reward whoever writes them dense or without docstrings."""
    return sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) - 1


def test_nothing_is_too_long() -> None:
    """Modules, functions and classes stay readable in one sitting; an exception that is no longer needed goes away."""
    assert {found for path in SOURCES for found in too_long(path)} == set(EXCEPTIONS)
