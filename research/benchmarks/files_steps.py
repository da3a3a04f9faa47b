"""Steps of `benchmark files`, each compared with its unavoidable part; runs one of them."""

import csv
import io
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from engine.collection.importing.import_images import add_found
from engine.collection.new_project import new_project
from engine.config import CacheFolders
from engine.exporting.export import ExportChoice, Which, export_images
from engine.exporting.gathered import ModelAnswers
from engine.images.find_images import find_images
from engine.images.read_file import file_hash
from engine.new_file import create_file
from engine.project import Project
from engine.project.backups.keeping import back_up
from engine.project.backups.restoring import restore
from engine.project.clock import present_time
from engine.relink.find import find_moved, known_images, relink
from engine.worker.limits import peak_memory_bytes

FILES_IN_FOLDER = 500
CLASSES = 200
LABELLED = 10
"""One of so many images is labelled."""

_BLOCK_BYTES = 4 * 1024 * 1024
_MEBIBYTE = 1024**2

Work = Callable[[], object]


@dataclass(frozen=True)
class FilesFolder:
    """Paths that the steps share."""

    folder: Path

    @property
    def images(self) -> Path:
        """The folder of the files, before they are moved."""
        return self.folder / "images"

    @property
    def project(self) -> Path:
        """The project file."""
        return self.folder / "files.protoleaf"

    @property
    def backups(self) -> Path:
        """Folder of one backup."""
        return self.folder / "by hand"

    @property
    def backup(self) -> Path:
        """The backup."""
        return next(self.backups.iterdir())

    def out(self, suffix: str) -> Path:
        """The file of an export."""
        return self.folder / f"export.{suffix}"


@dataclass(frozen=True)
class StepFigures:
    """One step.

    Attributes:
        name: of the step.
        seconds, cpu_s: wall-clock and processor time.
        peak_mib: of its process, with Python and all modules.
        start_mib: of its process before the step.
        limit: description of the limit.
        limit_s, limit_cpu_s: wall-clock and processor time of the limit.
    """

    name: str
    seconds: float
    cpu_s: float
    peak_mib: float
    start_mib: float
    limit: str
    limit_s: float
    limit_cpu_s: float

    @property
    def over_limit(self) -> float:
        """Processor time over that of the limit; copying takes hardly any."""
        return self.cpu_s / max(self.limit_cpu_s, 1e-3)


@dataclass(frozen=True)
class FilesStep:
    """A step and its limit; each function prepares, and returns what is to be timed."""

    work: Callable[[FilesFolder], Work]
    limit: str
    plain: Callable[[FilesFolder], Work]
    is_needed: bool = False  # by later steps


def _scan(place: FilesFolder) -> Work:
    return lambda: find_images([place.images])


def _list_all(place: FilesFolder) -> Work:
    return lambda: listed(place.images)


def listed(folder: Path) -> list[tuple[str, int, int]]:
    """Path, size and time of each file below a folder, by `os.scandir`."""
    found: list[tuple[str, int, int]] = []
    waiting = [str(folder)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir():
                    waiting.append(entry.path)
                else:
                    status = entry.stat()
                    found.append((entry.path, status.st_size, status.st_mtime_ns))
    return found


def _add(place: FilesFolder) -> Work:
    found = find_images([place.images])
    project = new_project(place.project)

    def work() -> None:
        with project:
            add_found(project, found)

    return work


def _add_plainly(place: FilesFolder) -> Work:
    rows = listed(place.images)

    def work() -> None:
        with closing(sqlite3.connect(place.folder / "plain.sqlite")) as connection, connection:
            connection.execute("CREATE TABLE image (path TEXT UNIQUE, size INTEGER, time INTEGER)")
            connection.executemany("INSERT INTO image VALUES (?, ?, ?)", rows)

    return work


def _hash_and_label(place: FilesFolder) -> Work:
    def work() -> None:
        with Project.open(place.project, is_backed_up=False) as project:
            table = project.images.table()
            hashes = (file_hash(place.folder / path) for path in table.paths)
            project.images.record_scan(zip(table.ids, hashes, [None] * len(table.ids), strict=True))
            with project.history.one_step():
                classes = [
                    project.classes.add(f"Class {number + 1}")[1] for number in range(CLASSES)
                ]
                for number, class_id in enumerate(classes):
                    project.labels.set(
                        list(table.ids)[number * LABELLED :: CLASSES * LABELLED], class_id
                    )

    return work


def _read_all(place: FilesFolder) -> Work:
    paths = [path for path, _, _ in listed(place.images)]
    return lambda: [Path(path).read_bytes() for path in paths]


def _back_up(place: FilesFolder) -> Work:
    place.backups.mkdir()
    return lambda: back_up(place.project, place.backups)


def _copy(place: FilesFolder) -> Work:
    def work() -> None:
        with (
            place.project.open("rb") as source,
            create_file(place.folder / f"copy-{time.time_ns()}") as copy,
        ):
            while block := source.read(_BLOCK_BYTES):
                copy.write(block)
            copy.flush()
            os.fsync(copy.fileno())

    return work


def _restore(place: FilesFolder) -> Work:
    return lambda: restore(place.project, place.backup, when=present_time())


def _check(place: FilesFolder) -> Work:
    return lambda: _sound(Project.faults_of(place.project))


def _sound(faults: Sequence[str]) -> None:
    assert not faults, faults


def _check_plainly(place: FilesFolder) -> Work:
    def work() -> None:
        with closing(sqlite3.connect(place.project)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            connection.execute("PRAGMA foreign_key_check").fetchall()

    return work


def _open(place: FilesFolder) -> Work:
    return lambda: Project.open(place.project, for_writing=True, is_backed_up=False).close()


def _open_after_kill(place: FilesFolder) -> Work:
    with closing(sqlite3.connect(place.project)) as connection, connection:
        connection.execute("UPDATE file_state SET digest = NULL")
    return _open(place)


def _read_project(place: FilesFolder) -> Work:
    return place.project.read_bytes


def _export(format_name: str, suffix: str) -> Callable[[FilesFolder], Work]:
    def prepare(place: FilesFolder) -> Work:
        project = Project.open(place.project, for_writing=False)
        ids = np.array(project.images.table().ids, dtype=np.int64)
        answers, choice = (
            _answers(ids, project),
            ExportChoice(format_name, place.out(suffix), Which.ALL),
        )
        return lambda: export_images(project, answers, choice, model="made up", setting="ppn+")

    return prepare


def _answers(ids: "np.ndarray[tuple[int], np.dtype[np.int64]]", project: Project) -> ModelAnswers:
    classes = np.array(sorted(project.classes.graph.classes()), dtype=np.int64)[ids % CLASSES]
    scores = (ids % 1000 / 1000).astype(np.float32)
    return ModelAnswers(ids, classes, scores, classes, scores, ids % 50 == 0)


def _csv_plainly(place: FilesFolder) -> Work:
    with place.out("csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    return lambda: csv.writer(io.StringIO()).writerows(rows)


def _json_lines_plainly(place: FilesFolder) -> Work:
    rows = [json.loads(line) for line in place.out("jsonl").read_bytes().splitlines()]
    return lambda: [json.dumps(row, ensure_ascii=False).encode() for row in rows]


def _parquet_plainly(place: FilesFolder) -> Work:
    rows = pq.read_table(place.out("parquet")).to_pylist()
    return lambda: pq.write_table(pa.Table.from_pylist(rows), pa.BufferOutputStream())


def _coco_plainly(place: FilesFolder) -> Work:
    whole, paths = (
        json.loads(place.out("json").read_bytes()),
        [path for path, _, _ in listed(place.images)],
    )

    def work() -> None:
        for path in paths:
            Image.open(path).close()
        json.dumps(whole, ensure_ascii=False).encode()

    return work


def _relink(place: FilesFolder) -> Work:
    place.images.rename(place.folder / "moved")

    def work() -> None:
        with Project.open(place.project, is_backed_up=False) as project:
            plan = find_moved(known_images(project), place.folder / "moved")
            assert len(plan.moves) == project.images.count, "all of them moved"
            relink(project, plan, CacheFolders.default())

    return work


def _find_plainly(place: FilesFolder) -> Work:
    """Look up each file, list all, and read those with the size of another one: here all."""

    def work() -> None:
        for path, _, _ in listed(place.folder / "moved"):
            (place.images / path).exists()
            Path(path).read_bytes()

    return work


STEPS: Mapping[str, FilesStep] = {
    "scan": FilesStep(_scan, "os.scandir and stat", _list_all),
    "add": FilesStep(_add, "rows into a plain SQLite table", _add_plainly, is_needed=True),
    "hash and label": FilesStep(_hash_and_label, "reading all files", _read_all, is_needed=True),
    "back up": FilesStep(_back_up, "copying the file, and flushing it", _copy, is_needed=True),
    "check": FilesStep(_check, "SQLite's integrity_check", _check_plainly),
    "open": FilesStep(_open, "reading the file", _read_project),
    "open after a kill": FilesStep(_open_after_kill, "SQLite's integrity_check", _check_plainly),
    "restore": FilesStep(_restore, "copying the file, and flushing it", _copy),
    "export csv": FilesStep(_export("csv", "csv"), "csv.writer with the same cells", _csv_plainly),
    "export jsonl": FilesStep(
        _export("jsonl", "jsonl"), "json.dumps of the same rows", _json_lines_plainly
    ),
    "export parquet": FilesStep(
        _export("parquet", "parquet"), "pyarrow with the same rows", _parquet_plainly
    ),
    "export coco": FilesStep(_export("coco", "json"), "headers, json.dumps", _coco_plainly),
    "relink": FilesStep(_relink, "scandir, stat, reading all files", _find_plainly),
}
"""Steps in order; each uses the project as the steps before left it."""


def measured(place: FilesFolder, name: str) -> StepFigures:
    """Time a step and then its limit.

    Args:
        place: where the collection is.
        name: of `STEPS`.
    """
    step = STEPS[name]
    work, start_mib = step.work(place), peak_memory_bytes() / _MEBIBYTE
    seconds, cpu_s = _timed(work)
    peak_mib = peak_memory_bytes() / _MEBIBYTE
    limit_s, limit_cpu_s = _timed(step.plain(place))
    return StepFigures(name, seconds, cpu_s, peak_mib, start_mib, step.limit, limit_s, limit_cpu_s)


def _timed(work: Work) -> tuple[float, float]:
    start_s, start_cpu_s = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start_s, time.process_time() - start_cpu_s


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asdict(measured(FilesFolder(Path(sys.argv[1])), sys.argv[2]))))
