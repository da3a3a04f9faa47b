"""Drafts of project files, which SQLite writes by their hidden names: held while they are made, cleared when abandoned.

The lock is the one of open projects, on a byte that SQLite does not use, so SQLite never waits for it.
"""

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

from engine.errors import ProjectLockedError, ProtoleafError
from engine.new_file import SQLITE_DRAFT_SUFFIX
from engine.project.file.file_lock import lock_for_writing

_JUST_MADE_S: Final = 0.25  # a draft exists for a moment before it is held
_SURELY_OVER_S: Final = 24 * 3600  # where the file system has no locks


@contextmanager
def held_draft(draft: Path) -> Iterator[None]:
    """Keep others from taking a draft for an abandoned one, where the file system has locks."""
    with ExitStack() as resources:
        with suppress(ProtoleafError):
            resources.callback(lock_for_writing(draft).release)
        yield


def clear_abandoned_project_drafts(folder: Path) -> None:
    """Remove the drafts of project files and backups that killed programs left in a folder."""
    with suppress(OSError):
        for draft in folder.glob(f".*{SQLITE_DRAFT_SUFFIX}"):
            with suppress(OSError):
                if _is_abandoned(draft):
                    draft.unlink()


def _is_abandoned(draft: Path) -> bool:
    age_s = time.time() - draft.stat().st_mtime
    try:
        lock_for_writing(draft).release()
    except ProjectLockedError:
        return False
    except ProtoleafError:
        return age_s > _SURELY_OVER_S
    return age_s > _JUST_MADE_S
