"""Options of a new project, and how long its images take with each backbone; without Qt."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

from engine.config import PROJECT_SUFFIX

if TYPE_CHECKING:  # keeps the start fast
    from engine.backbones.bundled import OfferedBackbone
    from engine.collection.importing.folder_choice import ClassList
    from engine.embedding.messages import PhotoRate
    from engine.images.find_images import FoundImages

MOST_TRIED = 24  # photos used for a measurement


class ClassesFrom(StrEnum):
    """Source of the classes of a new project."""

    NOWHERE = "none"
    FILE = "file"
    TEXT = "text"
    FOLDERS = "folders"


@dataclass(frozen=True)
class NewProject:
    """Options chosen so far for a new project.

    Attributes:
        name: of its file, without the suffix; "" for the suggested one.
        folder: of its file; None for the suggested one.
        photos: folders and files to import.
        left_out: folders within `photos` that are not imported.
        columns: chosen columns of the class file, by role.
        class_folders: folders whose names are classes.
        labels: label file that is imported once the project is created.
    """

    name: str = ""
    folder: Path | None = None
    photos: tuple[Path, ...] = ()
    left_out: frozenset[Path] = frozenset()
    classes_from: ClassesFrom = ClassesFrom.NOWHERE
    class_file: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)
    class_text: str = ""
    class_folders: frozenset[Path] = frozenset()
    labels: Path | None = None

    @property
    def is_empty(self) -> bool:
        return self == NewProject()

    def as_text(self) -> str:
        """Serialize as JSON for the settings; "" if nothing was chosen."""
        if self.is_empty:
            return ""
        values = {name: _plain(value) for name, value in vars(self).items()}
        return json.dumps({name: value for name, value in values.items() if value})


@final
class ProjectChoice:
    """Mutable holder of the current options."""

    def __init__(self, project: NewProject) -> None:
        self.project = project

    def change(self, **fields: Any) -> None:
        """Replace fields of `NewProject` by name."""
        self.project = replace(self.project, **fields)


def _plain(value: object) -> object:
    if isinstance(value, Path):
        return str(value)
    return [str(each) for each in value] if isinstance(value, tuple | frozenset) else value


def new_project_of(text: str) -> NewProject:
    """Deserialize the result of `as_text`; defaults if it is invalid."""
    try:
        found: dict[str, Any] = json.loads(text or "{}")
        return NewProject(
            name=str(found.get("name", "")),
            folder=_path(found, "folder"),
            photos=_paths(found, "photos"),
            left_out=frozenset(_paths(found, "left_out")),
            classes_from=ClassesFrom(found.get("classes_from", ClassesFrom.NOWHERE)),
            class_file=_path(found, "class_file"),
            columns={str(role): str(name) for role, name in found.get("columns", {}).items()},
            class_text=str(found.get("class_text", "")),
            class_folders=frozenset(_paths(found, "class_folders")),
            labels=_path(found, "labels"),
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        return NewProject()


def _path(found: Mapping[str, Any], name: str) -> Path | None:
    return Path(str(found[name])) if found.get(name) else None


def _paths(found: Mapping[str, Any], name: str) -> tuple[Path, ...]:
    return tuple(Path(str(each)) for each in found.get(name, ()))


@dataclass(frozen=True)
class FirstContent:
    """Content to import into a new project.

    Attributes:
        place: its file.
        photos: files and folders to search; empty if `found` is known.
        found: images to add.
        class_folders: folders whose names are classes.
        classes: a class list.
        labels: a label file.
    """

    place: Path
    photos: tuple[Path, ...] = ()
    found: FoundImages | None = None
    class_folders: frozenset[Path] = frozenset()
    classes: ClassList | None = None
    labels: Path | None = None


@dataclass(frozen=True)
class Dropped:
    """Dropped files by kind."""

    photos: tuple[Path, ...] = ()
    class_file: Path | None = None
    labels: Path | None = None


def sorted_out(paths: Sequence[Path]) -> Dropped:
    """Tell class lists and label files from images by their content; reads the disk."""
    from engine.collection.importing.label_plan import is_label_file
    from engine.images.find_parts import imported_suffixes

    taken, photos, class_file, labels = imported_suffixes(), list[Path](), None, None
    for path in paths:
        if path.suffix.lower() in taken or not path.is_file():
            photos.append(path)
        elif is_label_file(path):
            labels = path
        elif is_class_list(path):
            class_file = path
        else:
            photos.append(path)  # the search reports that it is not an image
    return Dropped(tuple(photos), class_file, labels)


def is_class_list(path: Path) -> bool:
    """Whether the name matches a pattern of class lists."""
    from engine.interchange.detect import FORMATS

    return any(path.match(pattern) for each in FORMATS.values() for pattern in each.patterns)


@dataclass(frozen=True)
class Photos:
    """Images of a new project."""

    count: int = 0  # found so far
    is_counting: bool = False
    some: tuple[Path, ...] = ()  # sample, spread evenly

    @staticmethod
    def of_found(found: FoundImages) -> Photos:
        files = found.files
        step = max(1, len(files) // MOST_TRIED)
        return Photos(len(files), some=tuple(file.path for file in files[::step][:MOST_TRIED]))


@dataclass(frozen=True)
class ExpectedSpeed:
    """Expected speed of a backbone on this computer."""

    images_per_s: float  # decoding included if `has_photos`
    is_scaled: bool = False  # estimated from another backbone's speed, as this one is not prepared
    has_photos: bool = False  # measured on the user's photos

    def seconds_for(self, photos: Photos) -> float | None:
        """Duration for all photos; None while unknown."""
        return (
            photos.count / self.images_per_s
            if photos.count and self.has_photos and not photos.is_counting
            else None
        )


def speeds(
    offered: Sequence[OfferedBackbone], rates: Mapping[str, PhotoRate]
) -> dict[str, ExpectedSpeed]:
    """Speeds by backbone; one that is not prepared is scaled from one that is."""
    found: dict[str, ExpectedSpeed] = {}
    known = next(((one, rates[one.name]) for one in offered if one.name in rates), None)
    for one in offered:
        if (rate := rates.get(one.name)) is not None:
            found[one.name] = ExpectedSpeed(rate.images_per_s, has_photos=bool(rate.decoding))
        elif known is not None and one.times_the_work and known[0].times_the_work:
            rate = known[1].times_the_work(one.times_the_work / known[0].times_the_work)
            found[one.name] = ExpectedSpeed(
                rate.images_per_s, is_scaled=True, has_photos=bool(rate.decoding)
            )
    return found


def suggested_folder(photos: Sequence[Path], otherwise: Path) -> Path:
    """The folder that contains the first photos' folder, if it is writable."""
    if photos and photos[0].parent != photos[0] and os.access(photos[0].parent, os.W_OK):
        return photos[0].parent
    return otherwise


def free_name(folder: Path, stem: str) -> str:
    """A project name that is not used in a folder."""
    name, count = stem, 2
    while (folder / f"{name}{PROJECT_SUFFIX}").exists():
        name = f"{stem} {count}"
        count += 1
    return name
