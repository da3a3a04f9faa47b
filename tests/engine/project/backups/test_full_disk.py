"""Backups on a full disk: an error, no partial files, an unchanged project."""

import os
from pathlib import Path

import pytest

from engine.errors import StorageError
from engine.project import BackupReason
from engine.project.backups.listing import offer_for
from engine.project.backups.restoring import restore
from tests.support.backups import NOON, all_backups, labelled_birds
from tests.support.full_disk import full_disk_after
from tests.support.projects import dump

pytestmark = pytest.mark.skipif(os.name != "posix", reason="limits of POSIX")


@pytest.mark.parametrize("limit_bytes", [0, 5_000, 60_000])
def test_a_backup_on_a_full_disk(tmp_path: Path, limit_bytes: int) -> None:
    """No partial backup is left, at whichever write the disk becomes full."""
    with labelled_birds(tmp_path)[0] as project:
        folder = project.backups.take().path.parent
        names = sorted(folder.iterdir())
        with full_disk_after(limit_bytes), pytest.raises(StorageError):
            project.backups.take()
        assert sorted(folder.iterdir()) == names
        assert [backup.fault for backup in all_backups(project)] == [""]


@pytest.mark.parametrize("limit_bytes", [0, 5_000, 60_000])
def test_restoring_on_a_full_disk(tmp_path: Path, limit_bytes: int) -> None:
    """If the safety backup or the restored file does not fit, the project is unchanged."""
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        made = project.backups.take(BackupReason.DAY)
        project.labels.set(image_ids, gull)
        present = dump(project)
    with full_disk_after(limit_bytes), pytest.raises(StorageError):
        restore(project.path, made.path, when=NOON)
    with project.open(project.path, is_backed_up=False) as opened:
        assert dump(opened) == present
    assert [each.name for each in tmp_path.iterdir()] == [project.path.name]
    assert [backup.path for backup in offer_for(project.path).all] == [made.path]
