"""ONNX Runtime is loaded by one module, after its telemetry is disabled."""

import ast
import sys
from collections.abc import Iterator

import pytest

from tests.architecture.source_code import PROGRAM, ROOT, Module, findings, rule

DOOR = "engine/runtime/onnx_runtime.py"
LEAVES = "assets/bundle/run.py"
"""Part of exported models, runs without the program."""
STARTS = ("app/__main__.py", "research/window/sample_run.py", "tests/conftest.py")
GUARD = "app.early_stop"
"""Imported before the engine by programs: handles signals, and loads nothing."""


def imported_by(tree: ast.AST) -> Iterator[str]:
    """Modules that a file imports, also by `import_module`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Call) and _name_of(node.func) in {"import_module", "__import__"}:
            yield from (str(word.value) for word in node.args if isinstance(word, ast.Constant))


def _name_of(function: ast.expr) -> str:
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


@rule(*PROGRAM, "assets")
def imports_onnx_runtime(module: Module) -> list[str]:
    """Imports of ONNX Runtime in a module."""
    return [name for name in imported_by(module.tree) if name.split(".")[0] == "onnxruntime"]


def test_one_module_loads_it() -> None:
    """No other module imports it."""
    assert sorted(findings(imports_onnx_runtime)) == sorted([DOOR, LEAVES])


def test_the_engine_settles_it_before_anything_else() -> None:
    """`engine` is imported before its modules: its own imports must not load ONNX Runtime."""
    tree = ast.parse((ROOT / "engine" / "__init__.py").read_text(encoding="utf-8"))
    assert list(imported_by(tree)) == ["engine.config"]
    assert any(
        isinstance(node, ast.Call) and _name_of(node.func) == "settle" for node in ast.walk(tree)
    )


def test_the_guard_of_the_start_loads_nothing() -> None:
    """It is imported before the engine, and imports the standard library only."""
    tree = ast.parse((ROOT / "app" / "early_stop.py").read_text(encoding="utf-8"))
    assert [
        name for name in imported_by(tree) if name.split(".")[0] not in sys.stdlib_module_names
    ] == []


@pytest.mark.parametrize("start", STARTS)
def test_starts_import_the_engine_first(start: str) -> None:
    """Programs import the engine before all third-party libraries."""
    tree = ast.parse((ROOT / start).read_text(encoding="utf-8"))
    at_once = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = [name for node in at_once for name in imported_by(node)]
    rooms = [name.split(".")[0] for name in names if name != GUARD]
    assert next(room for room in rooms if room not in sys.stdlib_module_names) == "engine"
