"""Reading the project file while the window has it open."""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.robot.marked_images import number_of


def labels_in(project: Path) -> Mapping[int, str]:
    """Class by number of the marked picture; "?" for none of the classes."""
    rows = _rows(
        project,
        "SELECT image.path, class.name FROM label JOIN image USING (image_id) "
        "LEFT JOIN class USING (class_id)",
    )
    return {number_of(path): name or "?" for path, name in rows}


def labelled_parts_in(project: Path) -> Mapping[tuple[str, str], str]:
    """Class by file name and part; "?" for none of the classes, "Empty" for empty."""
    rows = _rows(
        project,
        "SELECT image.path, image.part, class.name, label.is_empty "
        "FROM label JOIN image USING (image_id) "
        "LEFT JOIN class USING (class_id)",
    )
    return {
        (Path(path).name, part): name or ("Empty" if is_empty else "?")
        for path, part, name, is_empty in rows
    }


def parts_in(project: Path) -> Sequence[tuple[str, str]]:
    """File name and part of each image, in the order added."""
    rows = _rows(project, "SELECT path, part FROM image ORDER BY image_id")
    return [(Path(path).name, part) for path, part in rows]


def image_count_in(project: Path) -> int:
    """Number of images in the project."""
    return int(_rows(project, "SELECT count(*) FROM image")[0][0])


def parents_in(project: Path) -> Mapping[str, frozenset[str]]:
    """Names of the parents by class."""
    names = {child: frozenset[str]() for (child,) in _rows(project, "SELECT name FROM class")}
    for child, parent in _rows(
        project,
        "SELECT child.name, parent.name FROM edge JOIN class AS child ON child.class_id = child_id "
        "JOIN class AS parent ON parent.class_id = parent_id",
    ):
        # An edge may be newer than the classes read before.
        names[child] = names.get(child, frozenset()) | {parent}
    return names


def backbone_in(project: Path) -> str:
    """Name of the backbone that the project uses."""
    rows = _rows(
        project,
        "SELECT backbone_name FROM model_version JOIN setting ON setting.name = 'model_version' "
        "WHERE version_id = CAST(setting.value AS INTEGER)",
    )
    return str(rows[0][0])


def model_versions_in(project: Path) -> int:
    """Number of model versions of the project."""
    return int(_rows(project, "SELECT count(*) FROM model_version")[0][0])


def _rows(project: Path, question: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{project}?mode=ro", uri=True, timeout=10)) as connection:
        return connection.execute(question).fetchall()
