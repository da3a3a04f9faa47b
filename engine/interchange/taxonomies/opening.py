"""The beginning of a file, by which its format is told."""

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final, final

from engine.errors import StorageError
from engine.interchange.archives import opened_archive
from engine.interchange.text_file import encoding_of
from engine.regular_file import open_regular

LOOKED_AT_BYTES: Final = 1 << 16
"""Of a file whose format is not known yet; licences of some kilobytes stand above the first word of some. Chosen."""
_ROOT: Final = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]")
"""The outermost element of an XML document: instructions and comments begin with another sign."""
_COMMENT: Final = re.compile(r"<!--.*?-->|<\?.*?\?>", re.DOTALL)


@final
@dataclass(frozen=True)
class Opening:
    """What the beginning of a file says."""

    name: str  # of the file
    text: str  # its first characters, without blanks before them; "" for an archive
    members: tuple[str, ...] = ()  # the files of a zip archive; () for any other file

    @classmethod
    def of(cls, source: Path) -> "Opening":
        """Look at a file.

        Raises:
            StorageError: it cannot be read.
        """
        try:
            with open_regular(source) as file:
                head = file.read(LOOKED_AT_BYTES)
                members = _members(source) if head.startswith(b"PK") else ()
        except OSError as error:
            reason = error.strerror or str(error)
            raise StorageError(
                '"{source}" cannot be read', found=reason, remedy="check the path", source=source
            ) from error
        return cls(source.name, "" if members else head.decode(encoding_of(head), "replace").lstrip(), members)

    @property
    def first_line(self) -> str:
        """The first line that is not blank."""
        return self.text.split("\n", 1)[0].strip()

    @property
    def xml_root(self) -> str:
        """The name of the outermost element, without its prefix; "" where the text is no XML."""
        if not self.text.startswith("<"):
            return ""
        found = _ROOT.search(_COMMENT.sub("", self.text))
        return found[1] if found else ""

    def has(self, pattern: re.Pattern[str]) -> bool:
        """Whether the beginning holds what this pattern describes."""
        return pattern.search(self.text) is not None


def _members(source: Path) -> tuple[str, ...]:
    try:
        with opened_archive(source) as archive:
            return tuple(archive.namelist())
    except (zipfile.BadZipFile, ValueError, RuntimeError):
        return ()
