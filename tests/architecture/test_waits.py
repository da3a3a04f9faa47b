"""Waits in tests have explicit timeouts, since the default is too short for busy machines."""

import ast
from collections.abc import Iterator

from tests.architecture.source_code import Module, findings, rule

WAITS = {"waitUntil", "waitSignal", "waitSignals", "waitCallback", "waitExposed", "waitActive"}


@rule("tests")
def impatient_waits(module: Module) -> Iterator[str]:
    """Waits without a timeout, or with a number instead of a named constant."""
    for node in module.calls():
        if isinstance(node.func, ast.Attribute) and node.func.attr in WAITS:
            times = [word.value for word in node.keywords if word.arg == "timeout"]
            if not times or isinstance(times[0], ast.Constant):
                yield f"{node.lineno} {node.func.attr}"


def test_every_wait_says_how_long() -> None:
    """The default of five seconds may pass on a busy machine with two cores; `LONG_MS` does not."""
    assert findings(impatient_waits) == {}
