"""Builders of backups, and a clock set by tests."""

import threading
from datetime import datetime, timedelta
from pathlib import Path

from engine.project import ClassId, ImageId, Project
from engine.project.backups.keeping import ProjectBackups
from engine.project.backups.listing import Backup, backups_of
from tests.support.projects import bird_project

NOON = datetime(2026, 6, 1, 12).astimezone()


class Clock:
    """A clock set by the test."""

    def __init__(self, now: datetime = NOON) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The time."""
        return self.now

    def pass_by(self, **units: float) -> None:
        """Advance the clock."""
        self.now += timedelta(**units)


def backups_with(project: Project, clock: Clock) -> ProjectBackups:
    """The project's backups with the test's clock."""
    own = project.backups
    return ProjectBackups(project.path, own.project_id, own._identity, clock)  # noqa: SLF001


def labelled_birds(folder: Path, images: int = 4) -> tuple[Project, ClassId, list[ImageId]]:
    """A project in which every second image is labelled by an action of its own."""
    project, gull, image_ids = bird_project(folder, images)
    for image_id in image_ids[::2]:
        project.labels.set([image_id], gull)
    return project, gull, list(image_ids)


def all_backups(project: Project) -> list[Backup]:
    """All backups with their contents, newest first."""
    return backups_of(project.path, project.backups.project_id, is_verified=True)


class Writer(threading.Thread):
    """Labels continuously on a thread until it is stopped."""

    def __init__(self, project: Project, class_id: ClassId, image_ids: list[ImageId]) -> None:
        super().__init__(name="writer")
        self.acknowledged = 0
        self.error: Exception | None = None
        self._project = project
        self._class_id = class_id
        self._image_ids = image_ids
        self._stop_asked = threading.Event()
        self.has_begun = threading.Event()

    def run(self) -> None:
        """Label and unlabel alternately."""
        try:
            while not self._stop_asked.is_set():
                for image_id in self._image_ids:
                    self._project.labels.set([image_id], self._class_id)
                    self._project.labels.remove([image_id])
                    self.acknowledged += 2
                    self.has_begun.set()
        except Exception as error:  # noqa: BLE001 (reported by the test)
            self.error = error
            self.has_begun.set()

    def finish(self) -> None:
        """Stop and join."""
        self._stop_asked.set()
        self.join()
        if self.error is not None:
            raise self.error
