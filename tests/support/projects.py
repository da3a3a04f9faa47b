"""Builders of small projects, and comparisons of their content."""

import shutil
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any
from weakref import WeakSet

from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.project import Action, ClassId, ImageId, Project, TrainedModel
from engine.project.actions import old_action
from engine.project.connection import Connection

PERSON_TABLES = (
    *(
        "class",
        "edge",
        "image",
        "label",
        "image_note",
        "confirmed_label",
        "class_policy",
        "class_detail",
    ),
    *("audit", "audit_item", "exclusion", "field_value", "setting"),
)

OPENED: WeakSet[Project] = WeakSet()
"""Projects of `new_project`."""

Dump = Mapping[str, Sequence[tuple[Any, ...]]]


def new_project(folder: Path, name: str = "birds.protoleaf") -> Project:
    """An empty project, open for writing, closed after the test."""
    project = Project.create(folder / name, backbone_name="tiny", backbone_hash="00ff")
    OPENED.add(project)
    return project


def named(text: str) -> Action:
    """An action with a free text, stored like an old program's."""
    return old_action(text)


def found_files(folder: Path, count: int, *, start: int = 0) -> list[FoundFile]:
    """Fictitious files of a search."""
    numbers = range(start, start + count)
    return [
        FoundFile(folder / f"season {number // 100}" / f"IMG_{number:06}.jpg", 100 + number, number)
        for number in numbers
    ]


def bird_project(folder: Path, image_count: int = 4) -> tuple[Project, ClassId, Sequence[ImageId]]:
    """A project with the class Gull under Bird and some images without labels.

    Returns:
        The project, open for writing, the id of Gull, and the images' ids.
    """
    project = new_project(folder)
    _, bird = project.classes.add("Bird")
    _, gull = project.classes.add("Gull", [bird])
    change = project.images.add(found_files(folder / "photos", image_count))
    return project, gull, change.images_added


def trained_model(
    name: str = "Tuned propagation 1", *, parent_id: int = 1, backbone: bytes = b"network"
) -> TrainedModel:
    """A trained model with fictitious files."""
    return TrainedModel(
        name=name,
        parent_id=parent_id,
        card='{"name": "tiny"}',
        backbone_name="tiny",
        backbone=backbone,
        propagation=name.encode(),
        settings={"iterations": 10, "depth": "propagation"},
        figures={"before_accuracy": 0.5, "after_accuracy": None},
    )


def connection_of(project: Project) -> Connection:
    """The SQLite connection of an open project, for rows without an action."""
    return project._store.connection  # noqa: SLF001


def dump(project: Project) -> Dump:
    """All journaled rows."""
    connection = connection_of(project)
    return {
        table: sorted(connection.rows(f"SELECT * FROM {table}"), key=repr)  # noqa: S608
        for table in PERSON_TABLES
    }


def copy_in_the_middle_of_a_commit(project: Project, folder: Path) -> Path:
    """Copy an open project as a kill within a commit leaves it: half written, with its journal.

    The commit would remove the label of image 1 and rename the class 2.

    Returns:
        The copy, with its journal next to it.
    """
    connection = connection_of(project)
    connection.value("PRAGMA cache_size = 1")
    connection.value("PRAGMA cache_spill = 1")
    copy = folder / project.path.name
    with suppress(ZeroDivisionError), project.history.one_step(named("Half an action")):
        project.labels.remove([1])
        project.classes.rename(2, "Half")
        for number in range(
            300
        ):  # exceeds SQLite's cache, so that pages are written before the commit
            project.images.add(
                found_files(project.path.parent / "spilled", 40, start=1_000 + 40 * number)
            )
        for suffix in ("", "-journal"):
            source = project.path.with_name(project.path.name + suffix)
            shutil.copyfile(source, copy.with_name(copy.name + suffix))
        raise ZeroDivisionError
    connection.value("PRAGMA cache_size = -2000")
    assert copy.with_name(copy.name + "-journal").stat().st_size > 10_000
    return copy


def shape(graph: CategoryGraph) -> tuple[dict[ClassId, str], set[tuple[ClassId, ClassId]]]:
    """Names and edges of a graph."""
    return {class_id: graph.name(class_id) for class_id in graph.classes()}, set(graph.edges())


def change_file(path: Path, *statements: str, keep_seal: bool = False) -> None:
    """Change a closed project with SQL and remove its seal, so that other checks must find it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        if (
            not keep_seal
            and connection.execute(
                "SELECT 1 FROM sqlite_schema WHERE name = 'file_state'"
            ).fetchone()
        ):
            connection.execute("UPDATE file_state SET digest = NULL")
        for statement in statements:
            connection.execute(statement)


FIRST_SCHEMA = """
CREATE TABLE class (
    class_id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL
);
CREATE TABLE edge (
    parent_id INTEGER NOT NULL REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    child_id INTEGER NOT NULL REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    PRIMARY KEY (parent_id, child_id)
) WITHOUT ROWID;
CREATE INDEX edge_by_child ON edge (child_id);
CREATE TABLE image (
    image_id INTEGER PRIMARY KEY AUTOINCREMENT,
    path NOT NULL UNIQUE,
    size_bytes INTEGER NOT NULL,
    modified_ns INTEGER NOT NULL
);
CREATE TABLE label (
    image_id INTEGER PRIMARY KEY REFERENCES image DEFERRABLE INITIALLY DEFERRED,
    class_id INTEGER REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    who TEXT NOT NULL,
    labelled_at TEXT NOT NULL,
    source TEXT NOT NULL
);
CREATE INDEX label_by_class ON label (class_id);
CREATE TABLE class_policy (
    class_id INTEGER PRIMARY KEY REFERENCES class DEFERRABLE INITIALLY DEFERRED,
    bar REAL,
    is_deepest INTEGER NOT NULL
);
CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
CREATE TABLE image_fact (
    image_id INTEGER PRIMARY KEY,
    content_hash BLOB,
    failure TEXT
);
CREATE TABLE model_version (
    version_id INTEGER PRIMARY KEY AUTOINCREMENT,
    backbone_name TEXT NOT NULL,
    backbone_hash TEXT NOT NULL,
    backbone_path TEXT NOT NULL,
    propagation_hash TEXT NOT NULL,
    created_at TEXT NOT NULL,
    settings TEXT NOT NULL
);
CREATE TABLE prediction (
    setting TEXT NOT NULL,
    version_id INTEGER NOT NULL,
    image_id INTEGER NOT NULL,
    class_id INTEGER NOT NULL,
    score REAL NOT NULL,
    safe_class_id INTEGER,
    safe_score REAL NOT NULL,
    PRIMARY KEY (setting, version_id, image_id)
) WITHOUT ROWID;
CREATE TABLE journal_step (
    step_id INTEGER PRIMARY KEY AUTOINCREMENT,
    text TEXT NOT NULL,
    done_at TEXT NOT NULL,
    who TEXT NOT NULL,
    is_undone INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX journal_step_by_state ON journal_step (is_undone, step_id);
CREATE TABLE journal_chunk (
    step_id INTEGER NOT NULL REFERENCES journal_step ON DELETE CASCADE,
    sequence INTEGER NOT NULL,
    row_changes NOT NULL,
    PRIMARY KEY (step_id, sequence)
);
INSERT INTO class (class_id, name) VALUES (1, 'Bird'), (2, 'Gull');
INSERT INTO edge VALUES (1, 2);
INSERT INTO image VALUES (1, 'photos/a.jpg', 10, 20), (2, 'photos/b.jpg', 11, 21);
INSERT INTO label VALUES (1, 2, 'ada', '2026-01-02T03:04:05+00:00', 'review');
INSERT INTO model_version VALUES (1, 'tiny', '00ff', '', '', '2026-01-02T03:04:05+00:00', '{}');
INSERT INTO setting VALUES ('model_version', '1');
INSERT INTO journal_step (step_id, text, done_at, who) VALUES
    (1, 'Rename class Mew to Gull', '2026-01-02T03:04:05+00:00', 'ada'),
    (2, 'Label 1 image as Gull', '2026-01-02T03:04:05+00:00', 'ada');
INSERT INTO journal_chunk VALUES
    (1, 1, '[["class",[2,"Mew"],[2,"Gull"]]]'),
    (2, 1, '[["label",null,[1,2,"ada","2026-01-02T03:04:05+00:00","review"]]]');
PRAGMA application_id = 1349667942;
PRAGMA user_version = 1;
"""  # frozen: written by version 1; never follows the code


def write_first_version(path: Path) -> None:
    """A project file of version 1: two classes, two images, a label, two steps of history."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(FIRST_SCHEMA)
