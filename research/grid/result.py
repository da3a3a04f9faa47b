"""Test results of a cell, small enough for version control.

RESULTS/<variant>/split<n>/seed<n>/<shots>s/<method>.json
"""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import FormatError
from engine.full_disk import storage_error
from engine.new_file import ORDINARY_FILE, private_folder, write_file
from research.results import Setting


@dataclass(frozen=True)
class TriedChoice:
    """A candidate of a row's test.

    Attributes:
        choice: description; "" without alternatives.
        validation: mean accuracy on tasks of validation classes.
        hits: (T,) uint8, correct predictions of each test task.
        class_hits: correct predictions of each test class, in all tasks together.
        distance: mean number of edges between true and predicted class of wrong predictions.
    """

    choice: str
    validation: float
    hits: NDArray[np.uint8]
    class_hits: tuple[int, ...] = ()
    distance: float = 0.0


@dataclass(frozen=True)
class ColumnResult:
    """All rows of a column.

    Attributes:
        tasks: checksum of the test tasks: figures are compared task by task only where it is the
            same.
        queries: number of queries of each task.
        class_queries: of each test class, in all tasks together.
        rows: candidates by name of the row.
    """

    tasks: str
    queries: int
    rows: Mapping[str, tuple[TriedChoice, ...]]
    class_queries: tuple[int, ...] = ()


@dataclass(frozen=True)
class GridResult:
    """Results of one training.

    Attributes:
        name: of the cell.
        variant, split, seed, method, shots: of the cell.
        data: name of the data set.
        settings: of the training.
        cpu_s: seconds of processor time of the training; None where only its checkpoint was tested.
        curve: iteration, mean loss since the point before, accuracy on some validation tasks.
        columns: by (ways, shots).
        test_classes: ids of the test few-shot classes; splits may share some.
        has_seen_parent: of each test class, whether a parent of it was in training.
    """

    name: str
    variant: str
    split: int
    seed: int
    method: str
    shots: int
    data: str
    settings: Mapping[str, Setting]
    cpu_s: float | None
    curve: tuple[tuple[int, float, float | None], ...]
    columns: Mapping[tuple[int, int], ColumnResult]
    test_classes: tuple[str, ...]
    has_seen_parent: tuple[bool, ...] = ()


def write(result: GridResult, folder: Path) -> Path:
    """Write a result, atomically.

    Raises:
        StorageError: the folder cannot be written.
    """
    path = folder / f"{result.name}.json"
    try:
        private_folder(path.parent)
        write_file(path, json.dumps(_to_json(result), indent=1) + "\n", mode=ORDINARY_FILE)
    except OSError as error:
        raise storage_error(
            path, error, "the result cannot be written", "make room or choose another folder"
        ) from error
    return path


def read(path: Path) -> GridResult:
    """Read one result.

    Raises:
        FormatError: the file is corrupt or no result.
    """
    try:
        return _from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise FormatError(
            f"{path} holds no result of the grid",
            expected="a file that the grid wrote",
            found=str(error),
            remedy="delete it; the same command tests again",
        ) from error


def read_all(folder: Path) -> tuple[GridResult, ...]:
    """All results below a folder, by name.

    Raises:
        FormatError: a file is corrupt, or its path does not match its content.
    """
    found = []
    for path in sorted(folder.glob("*/split*/seed*/*s/*.json")):
        result = read(path)
        if folder / f"{result.name}.json" != path:
            raise FormatError(
                f"{path} lies in the wrong place",
                expected=str(folder / f"{result.name}.json"),
                remedy="move it there",
            )
        found.append(result)
    return tuple(found)


def _to_json(result: GridResult) -> dict[str, Any]:
    columns = {
        f"{ways}w{shots}s": {
            "tasks": column.tasks,
            "queries": column.queries,
            "class_queries": column.class_queries,
            "rows": {
                row: [_candidate_json(each) for each in tried] for row, tried in column.rows.items()
            },
        }
        for (ways, shots), column in result.columns.items()
    }
    return {**vars(result), "settings": dict(result.settings), "columns": columns}


def _candidate_json(candidate: TriedChoice) -> dict[str, Any]:
    hits = base64.b64encode(candidate.hits.tobytes()).decode("ascii")
    return {
        "choice": candidate.choice,
        "validation": round(candidate.validation, 6),
        "hits": hits,
    } | {
        "class_hits": candidate.class_hits,
        "distance": round(candidate.distance, 4),
    }


def _from_json(facts: Mapping[str, Any]) -> GridResult:
    columns = {}
    for name, column in facts["columns"].items():
        ways, shots = name.removesuffix("s").split("w")
        rows = {row: tuple(map(_candidate, tried)) for row, tried in column["rows"].items()}
        class_queries = tuple(map(int, column["class_queries"]))
        columns[int(ways), int(shots)] = ColumnResult(
            str(column["tasks"]), int(column["queries"]), rows, class_queries
        )
    plain = {
        name: facts[name]
        for name in ("name", "variant", "split", "seed", "method", "shots", "data", "settings")
    }
    curve = tuple((int(at), float(loss), accuracy) for at, loss, accuracy in facts["curve"])
    test_classes, seen = (
        tuple(map(str, facts["test_classes"])),
        tuple(map(bool, facts["has_seen_parent"])),
    )
    return GridResult(
        **plain,
        cpu_s=facts["cpu_s"],
        curve=curve,
        columns=columns,
        test_classes=test_classes,
        has_seen_parent=seen,
    )


def _candidate(facts: Mapping[str, Any]) -> TriedChoice:
    hits = np.frombuffer(base64.b64decode(facts["hits"]), dtype=np.uint8)
    class_hits = tuple(map(int, facts["class_hits"]))
    return TriedChoice(
        str(facts["choice"]), float(facts["validation"]), hits, class_hits, float(facts["distance"])
    )
