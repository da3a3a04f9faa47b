"""Finds the mark of a project in bare bytes, where SQLite cannot read the file any more.

The row of `file_state` is short and of a fixed shape, so it is recognised wherever its page came to lie: in the file,
in a journal, in a write-ahead log.
"""

import re
import stat
from pathlib import Path
from typing import Final

from engine.project.file.file_state import MARK_BYTES, FileMark
from engine.regular_file import open_regular

_ROW: Final = re.compile(
    rb"[\x1d\x3d]\x01"  # bytes of the record; number of the row
    rb"\x05\x00\x3c[\x08\x09][\x00\x4c]"  # its header: row_id, 24 bytes of mark, 0 or 1, and a digest or none
    rb"(.{16}\x00\x00.{6})",  # nobody makes 2^48 commits
    re.DOTALL,
)
_ROW_BYTES: Final = 7 + MARK_BYTES  # what the pattern matches
_BLOCK_BYTES: Final = 4 * 1024 * 1024  # read at once


def marks_in(path: Path) -> list[FileMark]:
    """The marks of all projects that the bytes of a file name, each with its highest generation.

    Args:
        path: of any file; [] where it cannot be read.
    """
    generations: dict[bytes, int] = {}
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return []
        with open_regular(path) as file:
            before = b""
            while block := file.read(_BLOCK_BYTES):
                content = before + block
                for found in _ROW.finditer(content):
                    mark = FileMark.from_bytes(found[1])
                    generations[mark.identity] = max(mark.generation, generations.get(mark.identity, 0))
                before = content[-_ROW_BYTES + 1 :]
    except OSError:
        return []
    return [FileMark(identity, generation) for identity, generation in generations.items()]
