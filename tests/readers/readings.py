"""How a reader is declared and compared; independent of the program.

A reader is a function of one export, registered by `reads`. It returns the facts of each image, by
file name, out of those in `expected.json`.
"""

import json
import math
import os
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

Facts = Mapping[str, Any]
Found = Mapping[str, Facts]
"""By the image's file name."""


@dataclass(frozen=True)
class Reader:
    """A program that reads a format.

    Attributes:
        format_name: ours.
        export: name of the file or folder in the sample.
        program: what reads it.
        read: the function.
        of: expected images: all; those with a label; those of a class; those that a person
            labelled.
        version_of: the distribution whose version is shown; "" if `program` has it.
    """

    format_name: str
    export: str
    program: str
    read: Callable[[Path], Found]
    of: Callable[[Facts], bool]
    version_of: str

    @property
    def title(self) -> str:
        """Program and version."""
        return f"{self.program} {version(self.version_of)}" if self.version_of else self.program


@dataclass(frozen=True)
class Row:
    """A row of the table."""

    format_name: str
    rows: int
    title: str
    outcome: str
    is_equal: bool


READERS: list[Reader] = []
PROTOLEAF = "PROTOLEAF_PYTHON"
"""The variable with the Python of the program."""


def everything(facts: Facts) -> bool:
    """All images."""
    return bool(facts)


def is_labelled(facts: Facts) -> bool:
    """Images with a label, also "none of the classes"."""
    return facts["label"] is not None


def of_a_class(facts: Facts) -> bool:
    """Images labelled with a class."""
    return facts["class"] is not None


def by_a_person(facts: Facts) -> bool:
    """Images labelled by a person."""
    return facts["by"] == "person"


def reads(
    format_name: str,
    export: str,
    program: str,
    *,
    of: Callable[[Facts], bool] = everything,
    version_of: str | None = None,
) -> Callable[[Callable[[Path], Found]], Callable[[Path], Found]]:
    """Register a reader; its distribution has the program's name by default."""

    def register(read: Callable[[Path], Found]) -> Callable[[Path], Found]:
        READERS.append(
            Reader(
                format_name,
                export,
                program,
                read,
                of,
                program if version_of is None else version_of,
            )
        )
        return read

    return register


def back_in_protoleaf(sample: Path, export: Path) -> Found:
    """The program's import of another program's export, in its own environment; see `come_back`."""
    command = [os.environ[PROTOLEAF], "-m", "tests.readers.come_back", str(sample), str(export)]
    found: Found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return found


def row_of(reader: Reader, sample: Path, expected: Found) -> Row:
    """Read one export and compare it."""
    try:
        found, title = reader.read(sample / reader.export), reader.title
    except Exception as error:  # noqa: BLE001 (any exception is the result)
        return Row(
            reader.format_name,
            0,
            reader.program,
            f"not read: {type(error).__name__}: {error}"[:300],
            is_equal=False,
        )
    wanted = {name: facts for name, facts in expected.items() if reader.of(facts)}
    differing = list(_differences(wanted, found))
    compared = ", ".join(next(iter(found.values()), {}))
    outcome = f"differs: {'; '.join(differing[:3])}" if differing else f"equal ({compared})"
    return Row(reader.format_name, len(found), title, outcome, is_equal=not differing)


def table(rows: Iterable[Row]) -> str:
    """The rows as Markdown."""
    lines = ["| format | rows | read back by | outcome |", "|---|---:|---|---|"]
    lines += [f"| {row.format_name} | {row.rows} | {row.title} | {row.outcome} |" for row in rows]
    return "\n".join(lines)


def _differences(wanted: Found, found: Found) -> Iterable[str]:
    for name in sorted(wanted.keys() ^ found.keys()):
        yield f"{name} is {'missing' if name in wanted else 'more than wanted'}"
    for name in sorted(wanted.keys() & found.keys()):
        for fact, value in found[name].items():
            if not _is_alike(wanted[name][fact], value):
                yield f"{name}: {fact} {value!r} for {wanted[name][fact]!r}"


def _is_alike(wanted: Any, value: Any) -> bool:
    if isinstance(wanted, float) and isinstance(value, float):
        return math.isclose(wanted, value, rel_tol=1e-5, abs_tol=1e-6)
    return bool(wanted == value)
