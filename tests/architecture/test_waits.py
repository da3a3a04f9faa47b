"""Tests wait for what they wait for as long as a busy machine takes: no wait has the short default time."""

import ast
from collections.abc import Iterator

from tests.architecture.source_code import Module, findings, rule

WAITS = {"waitUntil", "waitSignal", "waitSignals", "waitCallback", "waitExposed", "waitActive"}


@rule("tests")
def impatient_waits(module: Module) -> Iterator[str]:
    """Waits of a module that name no time, or a number of their own instead of a named one."""
    for node in module.calls():
        if isinstance(node.func, ast.Attribute) and node.func.attr in WAITS:
            times = [word.value for word in node.keywords if word.arg == "timeout"]
            if not times or isinstance(times[0], ast.Constant):
                yield f"{node.lineno} {node.func.attr}"


def test_every_wait_says_how_long() -> None:
    """Five seconds, the default, have passed on a machine with two cores and much to do; `LONG_MS` has not."""
    assert findings(impatient_waits) == {}
