"""Writes `tests/slow_tests.txt`, which says what `make test` leaves to `make test-all`, from measured durations.

After `make test-all`: `python -m tests.durations build/durations.log`.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Final

LIST: Final = Path(__file__).with_name("slow_tests.txt")
SLOW_S: Final = 0.7
"""A test function is slow when its dearest case, with its fixtures, takes so long on two cores."""
HEAD: Final = (
    "# Seconds of the dearest case, and the test; written by `python -m tests.durations`.\n"
)
_LINE: Final = re.compile(r"([\d.]+)s (?:call|setup|teardown)\s+(\S+?)::(.+)")


def slow_tests() -> frozenset[str]:
    """Test functions of the list, as `tests/file.py::test_name`."""
    lines = LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(line.split(maxsplit=1)[1] for line in lines if not line.startswith("#"))


def function_of(node_id: str) -> str:
    """The test function of a case: its node id without the parameters."""
    return node_id.partition("[")[0]


def measured(lines: Iterable[str]) -> dict[str, float]:
    """Seconds of the dearest case of each test function in pytest's `--durations`."""
    cases: defaultdict[str, float] = defaultdict(float)
    for line in lines:
        if found := _LINE.match(line):
            cases[f"{found[2]}::{found[3].strip()}"] += float(found[1])
    functions: defaultdict[str, float] = defaultdict(float)
    for case, seconds in cases.items():
        functions[function_of(case)] = max(functions[function_of(case)], seconds)
    return dict(functions)


def main() -> None:
    """Write the list."""
    found = measured(Path(sys.argv[1]).read_text(encoding="utf-8").splitlines())
    slow = sorted(
        ((seconds, name) for name, seconds in found.items() if seconds >= SLOW_S), reverse=True
    )
    LIST.write_text(
        HEAD + "".join(f"{seconds:5.1f} {name}\n" for seconds, name in slow), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
