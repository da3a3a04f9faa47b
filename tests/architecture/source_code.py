"""The repository's modules, each read and parsed once for all rules of this folder."""

import ast
import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).parents[2]
PROGRAM = ("app", "engine", "protoleaf", "protoleaf_cluster", "research")
"""Folders of the installed program and of the experiments."""
ALL = (*PROGRAM, "tests", "packaging")
SEARCHED = (*ALL, "assets")

Finding = TypeVar("Finding")
Node = TypeVar("Node", bound=ast.AST)


class Module:
    """A module and its syntax tree.

    name: its path below the repository, with forward slashes.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text
        self.tree = ast.parse(text)

    @functools.cached_property
    def nodes_by_type(self) -> Mapping[type[ast.AST], list[ast.AST]]:
        """Every node of the tree by its class, breadth first."""
        found: dict[type[ast.AST], list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            found.setdefault(type(node), []).append(node)
        return found

    def of_type(self, *types: type[Node]) -> list[Node]:
        """Nodes of these types and those derived from them."""
        return [
            node  # type: ignore[misc]
            for kind, nodes in self.nodes_by_type.items()
            if issubclass(kind, types)
            for node in nodes
        ]

    def calls(self) -> list[ast.Call]:
        """All calls."""
        return self.of_type(ast.Call)


Rule = Callable[[Module], Iterable[Finding]]
_folders_of_rules: dict[Rule[object], tuple[str, ...]] = {}


def rule(*folders: str) -> Callable[[Rule[Finding]], Rule[Finding]]:
    """Register a function that lists violations in a module, for the modules of these folders."""

    def register(function: Rule[Finding]) -> Rule[Finding]:
        _folders_of_rules[function] = folders
        return function

    return register


def findings(function: Rule[Finding]) -> dict[str, list[Finding]]:
    """Violations of a registered rule by module path, without modules that have none."""
    return _all_findings()[function]  # type: ignore[return-value]


@functools.cache
def _all_findings() -> Mapping[Rule[object], dict[str, list[object]]]:
    """Findings of all rules in one pass, so that one tree at a time is in memory."""
    found: dict[Rule[object], dict[str, list[object]]] = {each: {} for each in _folders_of_rules}
    for folder in SEARCHED:
        rules = [each for each, folders in _folders_of_rules.items() if folder in folders]
        for path in sorted((ROOT / folder).rglob("*.py")) if rules else ():
            name = path.relative_to(ROOT).as_posix()
            module = Module(name, path.read_text(encoding="utf-8"))
            for each in rules:
                if results := list(each(module)):
                    found[each][name] = results
    return found
