"""Files that must not be replaced, and paths that lead to them."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.bundle.export import export_model
from engine.collection.embed import embed_project
from engine.collection.importing.import_graph import import_graph
from engine.collection.importing.import_images import import_class_folders, import_images
from engine.collection.new_project import new_project
from engine.config import CacheFolders
from engine.project import Project
from engine.project.backups.keeping import back_up
from tests.support.collections import LEAVES, write_graph, write_shape
from tests.trust.seen import digest, people_part

FOREIGN_TEXT = "image,class\r\nmine.jpg,hand-written\r\n"


@dataclass(frozen=True)
class World:
    """A folder with a project, its photos, and other files.

    Attributes:
        folder: of everything; `desk` is for outputs, emptied for each trial.
        backup: of the project.
    """

    folder: Path
    backup: Path

    @property
    def project(self) -> Path:
        """The project of the commands."""
        return self.folder / "shapes.protoleaf"

    @property
    def other(self) -> Path:
        """Another project."""
        return self.folder / "theirs" / "other.protoleaf"

    @property
    def photo(self) -> Path:
        """An image of the project."""
        return self.folder / "photos" / "waiting" / "0.png"

    @property
    def foreign(self) -> Path:
        """A table written by hand."""
        return self.folder / "theirs" / "table.csv"

    @property
    def model(self) -> Path:
        """An exported model."""
        return self.folder / "model"

    @property
    def desk(self) -> Path:
        """Folder of outputs."""
        return self.folder / "desk"

    def sums(self) -> dict[Path, str]:
        """Checksums of all files except the project, which commands may change, and the desk."""
        return {path: _sum(path) for path in self._files()}

    def people(self) -> str:
        """Digest of people's work in the project."""
        with Project.open(self.project, for_writing=False) as project:
            return str(digest(people_part(project)))

    def _files(self) -> Iterator[Path]:
        for place in ("photos", "theirs", "backups", "model"):
            yield from (path for path in (self.folder / place).rglob("*") if path.is_file())


def build_world(folder: Path, caches: CacheFolders) -> World:
    """Draw pictures and make the projects; takes a few seconds."""
    photos = folder / "photos"
    for number, leaf in enumerate(LEAVES[:3]):
        write_shape(photos / "shots" / leaf / f"{number}.png", leaf, seed=number)
        write_shape(photos / "waiting" / f"{number}.png", leaf, seed=100 + number)
    graph = write_graph(folder / "theirs" / "classes.csv", {"Red": LEAVES[:3]})
    world = World(folder, folder)
    with new_project(world.other) as project:
        import_graph(project, graph)
    with new_project(world.project) as project:
        import_graph(project, graph)
        import_class_folders(project, [photos / "shots"], who="ada")
        import_images(project, [photos / "waiting"])
        embed_project(project, caches, device="cpu")
        export_model(project, caches, world.model)
    world.foreign.write_text(FOREIGN_TEXT, encoding="utf-8", newline="")
    (folder / "backups").mkdir()
    return World(folder, back_up(world.project, folder / "backups").path)


def clear_desk(world: World) -> None:
    """Empty the desk, next to an alias of the photos' folder."""
    shutil.rmtree(world.desk, ignore_errors=True)
    world.desk.mkdir()
    (world.desk / "alias").symlink_to(world.photo.parent)


def _link(world: World, real: Path) -> Path:
    link = world.desk / "latest.csv"
    link.symlink_to(real)
    return link


def _chain(world: World, real: Path) -> Path:
    chain = world.desk / "chain.csv"
    chain.symlink_to(_link(world, real).name)
    return chain


def _hard(world: World, real: Path) -> Path:
    os.link(real, world.desk / "hard.csv")
    return world.desk / "hard.csv"


def _copied(world: World) -> Path:
    return Path(shutil.copyfile(world.foreign, world.desk / "mine.csv"))


def _full_folder(world: World) -> Path:
    folder = world.desk / "folder"
    folder.mkdir()
    shutil.copyfile(world.foreign, folder / "mine.csv")
    return folder


def _pipe(world: World) -> Path:
    os.mkfifo(world.desk / "pipe")
    return world.desk / "pipe"


def _side(world: World) -> Path:
    return world.project.with_name(f"{world.project.name}-journal")


TARGETS: Mapping[str, Callable[[World], str | Path]] = {
    "a new name": lambda world: world.desk / "new.csv",
    "a photo": lambda world: world.photo,
    "a link to a photo": lambda world: _link(world, world.photo),
    "a chain of links to a photo": lambda world: _chain(world, world.photo),
    "a photo in an aliased folder": lambda world: world.desk / "alias" / world.photo.name,
    "a hard link to a photo": lambda world: _hard(world, world.photo),
    "a photo by dots": lambda world: f"{world.folder}/photos/shots/../waiting/./{world.photo.name}",
    "a photo relatively": lambda world: os.path.relpath(world.photo),
    "a photo with a slash behind": lambda world: f"{world.photo}/",
    "a photo in other letters": lambda world: world.photo.with_name(world.photo.name.upper()),
    "the folder of photos": lambda world: world.photo.parent,
    "the project": lambda world: world.project,
    "a link to the project": lambda world: _link(world, world.project),
    "a hard link to the project": lambda world: _hard(world, world.project),
    "a side file of the project": _side,
    "another project": lambda world: world.other,
    "a link to another project": lambda world: _link(world, world.other),
    "a backup": lambda world: world.backup,
    "a link to a backup": lambda world: _link(world, world.backup),
    "a file of others": _copied,
    "a link to a file of others": lambda world: _link(world, world.foreign),
    "a hard link to a file of others": lambda world: _hard(world, world.foreign),
    "a link to nothing": lambda world: _link(world, world.folder / "nowhere"),
    "a folder with files of others": _full_folder,
    "a pipe that nobody reads": _pipe,
    "a link to a device": lambda world: _link(world, Path(os.devnull)),
}
"""Creates a target on an empty desk, by name."""
REPLACEABLE = frozenset(
    {"a file of others", "a hard link to a file of others", "a link to nothing"}
)
"""What --overwrite may replace on the desk."""


def _sum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
