"""Constants: names in capitals are assigned once, and numeric ones have a comment or docstring."""

import ast
from collections import Counter

import pytest

from tests.architecture.source_code import Module, findings, rule

WITHOUT_A_WORD = {
    "engine/everyday": 0,
    "engine/training": 0,
    "engine/runtime": 0,
    "engine/embedding": 0,
    "engine/images": 0,
    "engine": 240,
    "app": 155,
    "protoleaf_cluster": 0,
}
"""Maximum number of undocumented numeric constants by module; lower it when it falls."""


@pytest.mark.parametrize("folder", WITHOUT_A_WORD)
def test_numbers_say_what_they_are(folder: str) -> None:
    """By a docstring below, a comment on their line, or one comment above their group."""
    found = [
        f"{module}:{name}"
        for module, names in findings(silent_numbers).items()
        if module.startswith(f"{folder}/")
        for name in names
    ]
    assert len(found) <= WITHOUT_A_WORD[folder], found


def test_what_counts_as_a_word() -> None:
    """A linter's reason does not count."""
    described, silent = (
        'A = 1\n"""Images."""\nB = 2  # images\n\n# Tags.\nC = 3\nD = 4\n',
        "E = 5\nF = (1, 2)  # noqa: X1\n",
    )
    module = Module("m.py", f'"""A module."""\n{described}\n{silent}G = "a"\n')
    assert silent_numbers(module) == ["E", "F"]


def test_constants_are_assigned_once() -> None:
    """What `typing.Final` would check, without an annotation at each of them."""
    assert findings(reassigned_constants) == {
        "engine/images/decode.py": ["Image.MAX_IMAGE_PIXELS"]  # a setting of Pillow
    }


def test_what_counts_as_reassigned() -> None:
    text = "A = 1\nB = 1\nB = 2\nC: int = 3\nC += 1\nimport m\nm.D = 4\ndef f():\n    global A\n"
    assert reassigned_constants(Module("m.py", text)) == ["B", "C", "m.D", "A"]


@rule("app", "engine", "protoleaf", "protoleaf_cluster", "research")
def reassigned_constants(module: Module) -> list[str]:
    """Names in capitals that are assigned twice, in another module, or declared global."""
    assigned = Counter(name for node in module.tree.body for name in _assigned_names(node))
    twice = [name for name, count in assigned.items() if name.isupper() and count > 1]
    elsewhere = [
        ast.unparse(node)
        for node in module.of_type(ast.Attribute)
        if node.attr.isupper() and isinstance(node.ctx, ast.Store)
    ]
    declared = [name for node in module.of_type(ast.Global) for name in node.names]
    return twice + elsewhere + [name for name in declared if name.isupper()]


def _assigned_names(node: ast.stmt) -> list[str]:
    """Names that a statement assigns; not those in its branches."""
    if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
        return []
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [each.id for each in targets if isinstance(each, ast.Name)]


@rule("app", "engine", "protoleaf_cluster")
def silent_numbers(module: Module) -> list[str]:
    """Names of a module's numeric constants without docstring and comment."""
    lines, body = module.text.splitlines(), module.tree.body
    silent = []
    for place, node in enumerate(body):
        name = _constant(node)
        following = body[place + 1] if place + 1 < len(body) else None
        has_docstring = isinstance(following, ast.Expr) and isinstance(
            following.value, ast.Constant
        )
        if name and not has_docstring and not _has_comment(node, lines):
            silent.append(name)
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
