"""Class names are unique."""

import ast
from collections import defaultdict

from tests.architecture.source_code import PROGRAM, Module, findings, rule

SHARED = {"Project"}
"""Classes for Python programs that wrap the engine's class of that name."""


@rule(*PROGRAM)
def public_classes(module: Module) -> list[str]:
    """Names of a module's public classes."""
    classes = [node.name for node in module.tree.body if isinstance(node, ast.ClassDef)]
    return [name for name in classes if not name.startswith("_")]


def test_no_two_classes_share_a_name() -> None:
    """Public class names are unique in the program; private ones need not be."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path, names in findings(public_classes).items():
        for name in names:
            places[name].append(path)
    assert {
        name: files for name, files in places.items() if len(files) > 1 and name not in SHARED
    } == {}
