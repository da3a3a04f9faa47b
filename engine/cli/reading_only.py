"""Commands that go on without writing where a project is read-only or open in another program."""

from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.output import note
from engine.errors import ProjectLockedError, ProjectReadOnlyError

if TYPE_CHECKING:
    from engine.project import Project


def open_or_read(path: Path, *, without_writing: str) -> "Project":
    """Open a project for writing, or for reading only where that is refused; then say so.

    Args:
        path: the project file.
        without_writing: what becomes of that which would have been written into the project, as the end of a sentence.

    Raises:
        ProjectError: it cannot be opened at all; see `Project.open`.
    """
    from engine.project import Project

    try:
        return Project.open(path)
    except (ProjectLockedError, ProjectReadOnlyError) as error:
        opened = Project.open(path, for_writing=False)
        note(f"{error.what}, so it is only read; {without_writing}")
        return opened
