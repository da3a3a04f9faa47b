"""Nothing grows unnoticed: longer modules, functions and classes are listed with a reason."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MODULE_LINES = 400
FUNCTION_LINES = 50
CLASS_LINES = 300

SHELL = "connects all others, one line or two for each; what they do is in modules of their own"
EXCEPTIONS: dict[str, str] = {
    "app/workspace/view.py": SHELL,
    "app/workspace/view.py:Workspace": SHELL,
    "engine/graph/category_graph.py:CategoryGraph": "one door to the graph: short methods, each a question or an edit",
}
"""Path, or path:name, to the reason why it is longer."""

SOURCES = sorted(
    path for folder in ("app", "engine", "protoleaf", "research") for path in (ROOT / folder).rglob("*.py")
)


def too_long(path: Path) -> Iterator[str]:
    """What in a file is longer than it should be."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(ROOT).as_posix()
    if text.count("\n") > MODULE_LINES:
        yield name
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            limit = CLASS_LINES if isinstance(node, ast.ClassDef) else FUNCTION_LINES
            if lines_of(node) > limit:
                yield f"{name}:{node.name}"


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> int:
    """Lines of a definition without its own docstring."""
    lines = (node.end_lineno or 0) - node.lineno + 1
    if ast.get_docstring(node) is not None:
        first = node.body[0]
        lines -= (first.end_lineno or 0) - first.lineno + 1
    return lines


def test_nothing_is_too_long() -> None:
    """Modules, functions and classes stay readable in one sitting; an exception that is no longer needed goes away."""
    assert {found for path in SOURCES for found in too_long(path)} == set(EXCEPTIONS)
