"""Modified image files: their current state, and whether their picture was replaced.

Not journaled. Labels older than the current picture are outdated: see `engine.project.labels`.
"""

import json
from collections.abc import Iterable, Sequence
from typing import final

from engine.project.clock import now_text
from engine.project.connection import Connection
from engine.project.records import FileChange, ImageId
from engine.project.store import ProjectPart

_COLUMNS = "SELECT image_id, size_bytes, modified_ns, seen_hash, found_at FROM image_change"
_STORE = """INSERT OR REPLACE INTO image_change
    (image_id, size_bytes, modified_ns, seen_hash, found_at)
    SELECT image_id, ?2, ?3, ?4, ?5 FROM image WHERE image_id = ?1"""


@final
class ProjectFileChanges(ProjectPart):
    """Facts about changed files; most images have no entry."""

    def of(self, image_ids: Sequence[ImageId]) -> dict[ImageId, FileChange]:
        """The entries of these images."""
        rows = self._connection.rows(
            f"{_COLUMNS} WHERE image_id IN (SELECT value FROM json_each(?))",  # noqa: S608
            (json.dumps([int(image_id) for image_id in image_ids]),),
        )
        return {row[0]: FileChange(*row) for row in rows}

    def record(self, changes: Iterable[FileChange]) -> None:
        """Store entries in place of earlier ones; removed images are skipped."""
        rows = [
            (each.image_id, each.size_bytes, each.modified_ns, each.seen_hash, each.found_at)
            for each in changes
        ]
        if rows:
            self._store.write_facts(_STORE, rows)


def present(connection: Connection) -> str:
    """The present, and no earlier than another computer with a clock of its own found a change."""
    return max(now_text(), connection.value("SELECT max(found_at) FROM image_change") or "")
