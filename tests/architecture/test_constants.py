"""A number in the code says what it is and where it comes from; one look-up in the paper is enough for everybody."""

import ast
from pathlib import Path
from typing import Final

import pytest

from tests.architecture.test_sizes import ROOT

WITHOUT_A_WORD: Final = {
    "engine/everyday": 0,
    "engine/training": 0,
    "engine/runtime": 0,
    "engine/embedding": 0,
    "engine/images": 0,
    "engine": 240,
    "app": 155,
}
"""Numeric constants of modules that may stand without a word, at most; lower a number when it has become less."""


@pytest.mark.parametrize("folder", WITHOUT_A_WORD)
def test_numbers_say_what_they_are(folder: str) -> None:
    """By a docstring below, a comment on their line, or one comment above their group."""
    found = [
        name for path in sorted((ROOT / folder).rglob("*.py")) for name in silent_numbers(path)
    ]
    assert len(found) <= WITHOUT_A_WORD[folder], found


def test_what_counts_as_a_word(tmp_path: Path) -> None:
    """A reason for a linter does not."""
    path = tmp_path / "module.py"
    described, silent = (
        'A = 1\n"""Images."""\nB = 2  # images\n\n# Tags.\nC = 3\nD = 4\n',
        "E = 5\nF = (1, 2)  # noqa: X1\n",
    )
    path.write_text(f'"""A module."""\n{described}\n{silent}G = "a"\n')
    assert [name.rpartition(":")[2] for name in silent_numbers(path)] == ["E", "F"]


def silent_numbers(path: Path) -> list[str]:
    """`path:name` of each numeric constant of a module that has no word beside it."""
    text = path.read_text(encoding="utf-8")
    lines, body = text.splitlines(), ast.parse(text).body
    silent = []
    for place, node in enumerate(body):
        name = _constant(node)
        following = body[place + 1] if place + 1 < len(body) else None
        has_docstring = isinstance(following, ast.Expr) and isinstance(
            following.value, ast.Constant
        )
        if name and not has_docstring and not _has_comment(node, lines):
            silent.append(f"{path}:{name}")
    return silent


def _constant(node: ast.stmt) -> str:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return ""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    is_numeric = any(
        isinstance(part, ast.Constant)
        and isinstance(part.value, int | float)
        and not isinstance(part.value, bool)
        for part in ast.walk(node.value)
    )
    return target.id if isinstance(target, ast.Name) and target.id.isupper() and is_numeric else ""


def _has_comment(node: ast.stmt, lines: list[str]) -> bool:
    if any(
        "  # " in line and "# noqa" not in line for line in lines[node.lineno - 1 : node.end_lineno]
    ):
        return True
    above = node.lineno - 2
    while above >= 0 and lines[above].strip():
        if lines[above].startswith("# "):
            return True
        above -= 1
    return False
