"""Texts of the backups panel."""

from datetime import datetime
from pathlib import Path

from app.backups.wording import counts, details, failed_text, reason_text, since_line
from engine.project import BackupReason
from engine.project.backups.contents import Changes
from engine.project.backups.listing import Backup

WHEN = datetime(2026, 1, 2, 3, 4, 5).astimezone()
BACKUP = Backup(
    Path("/b/birds 2026.protoleaf"),
    WHEN,
    BackupReason.DAY,
    1_234_567,
    classes=1,
    images=204,
    labels=88,
)


def test_counts_read_as_words() -> None:
    assert counts(BACKUP) == "1 class  ·  204 images  ·  88 labels"


def test_every_reason_has_its_words() -> None:
    assert len({reason_text(reason) for reason in BackupReason}) == len(BackupReason)


def test_what_changed_since() -> None:
    """Added, changed and removed labels are summed; undone actions are counted separately."""
    assert since_line(Changes()) == "Same as now"
    changes = Changes(
        labels_added=1,
        labels_changed=2,
        labels_removed=3,
        classes_changed=1,
        steps=130,
        steps_undone=1,
    )
    assert (
        since_line(changes)
        == "Since then: 6 labels  ·  1 class  ·  130 actions  ·  1 action undone"
    )


def test_the_latest_actions_are_named() -> None:
    texts = tuple(f"Labelled 1 image as {name}" for name in "ABCDEFG")
    lines = details(BACKUP, Changes(steps=9, texts=texts)).splitlines()
    assert lines[0] == "Restoring undoes:"
    assert lines[1:7] == [*(f"• {text}" for text in texts[:5]), "… and 4 actions before them"]
    assert lines[7] == "birds 2026.protoleaf  ·  1.2\u00a0MB"
    assert details(BACKUP, None) == lines[7]


def test_a_failure_is_a_sentence() -> None:
    assert failed_text("the disk is full").endswith("saved in the project. The disk is full")
