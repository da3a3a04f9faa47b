"""Tests wait for what they wait for as long as a busy machine takes: no wait has the short default time."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
WAITS = {"waitUntil", "waitSignal", "waitSignals", "waitCallback", "waitExposed", "waitActive"}


def impatient_waits(path: Path) -> Iterator[str]:
    """Waits of a module that name no time, or a number of their own instead of a named one."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in WAITS
        ):
            times = [word.value for word in node.keywords if word.arg == "timeout"]
            if not times or isinstance(times[0], ast.Constant):
                yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {node.func.attr}"


def test_every_wait_says_how_long() -> None:
    """Five seconds, the default, have passed on a machine with two cores and much to do; `LONG_MS` has not."""
    assert [
        found for path in sorted((ROOT / "tests").rglob("*.py")) for found in impatient_waits(path)
    ] == []
