"""Names of backups: project, time and reason, parsed again."""

import os
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.project.backups.place import (
    BackupName,
    BackupReason,
    file_name,
    project_name,
    read_name,
)

WHEN = datetime(2026, 1, 2, 3, 4, 5).astimezone()


def test_a_name_is_readable() -> None:
    name = BackupName("birds", WHEN, BackupReason.QUARTER_HOUR)
    assert file_name(name) == "birds 2026-01-02 03-04-05 (every 15 minutes).protoleaf"
    assert file_name(name, 2) == "birds 2026-01-02 03-04-05 (every 15 minutes) 2.protoleaf"


@pytest.mark.slow
@given(
    st.text(
        st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=300
    ),
    st.sampled_from(BackupReason),
    st.integers(1, 20),
)
def test_every_name_comes_back(project: str, reason: BackupReason, number: int) -> None:
    """For any project name, also one like a backup's.

    The name fits on every file system.
    """
    called = project_name(Path("/x") / f"a{project}.protoleaf")
    name = BackupName(called, WHEN, reason)
    text = file_name(name, number)
    assert len(os.fsencode(text)) <= 255
    assert read_name(Path("/backups") / text) == name


@pytest.mark.parametrize(
    "text",
    [
        "birds.protoleaf",
        "birds 2026-01-02 03-04-05.protoleaf",
        "birds 2026-13-02 03-04-05 (on request).protoleaf",
        "birds 0000-01-02 03-04-05 (on request).protoleaf",
        "birds 2026-01-02 03-04-05 (because).protoleaf",
        "birds 2026-01-02 03-04-05 (on request).protoleaf-journal",
        ".0123.protoleaf-new-db",
        "folders.json",
    ],
)
def test_other_names_are_no_backups(text: str) -> None:
    assert read_name(Path("/backups") / text) is None
