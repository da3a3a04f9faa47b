"""One name, one thing."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHARED = {"Project"}
"""Classes for Python programs that hide the engine's class of the same name: no program uses both."""


def test_no_two_classes_share_a_name() -> None:
    """A name in a signature or a message means one class, wherever it is read; private ones stay in their module."""
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(
        path
        for folder in ("app", "engine", "protoleaf", "research")
        for path in (ROOT / folder).rglob("*.py")
    ):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.relative_to(ROOT).as_posix())
    assert {
        name: files for name, files in places.items() if len(files) > 1 and name not in SHARED
    } == {}
