"""Maximum sizes: larger modules, functions and classes are listed with reasons."""

import ast
from collections.abc import Iterator

from tests.architecture.source_code import PROGRAM, Module, findings, rule

MODULE_STATEMENTS = 300
FUNCTION_STATEMENTS = 40
CLASS_STATEMENTS = 250

SHELL = "connects all others, one line or two for each; what they do is in modules of their own"
EXCEPTIONS: dict[str, str] = {
    "app/workspace/view.py": SHELL,
    "app/workspace/view.py:Workspace": SHELL,
}
"""Path, or path:name, with the reason for its size."""


@rule(*PROGRAM)
def too_long(module: Module) -> Iterator[str]:
    """Parts of a module with too many statements."""
    if statements_of(module.tree) > MODULE_STATEMENTS:
        yield module.name
    for each in module.of_type(ast.ClassDef):
        if statements_of(each) > CLASS_STATEMENTS:
            yield f"{module.name}:{each.name}"
    for function in module.of_type(ast.FunctionDef):
        if statements_of(function) > FUNCTION_STATEMENTS:
            yield f"{module.name}:{function.name}"


def statements_of(node: ast.AST) -> int:
    """Statements within a node. Lines would reward dense code and missing docstrings."""
    return sum(isinstance(inner, ast.stmt) for inner in ast.walk(node)) - 1


def test_nothing_is_too_long() -> None:
    """Modules, functions and classes are limited in size; unneeded exceptions are removed."""
    assert {name for names in findings(too_long).values() for name in names} == set(EXCEPTIONS)
