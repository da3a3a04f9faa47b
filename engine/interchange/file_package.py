"""Files that belong together, with one that describes the others: a ZIP archive, or the folder that it becomes."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final, final

from engine.interchange import limits
from engine.interchange.archives import (
    checked_name,
    file_within,
    is_system_file,
    member,
    opened_archive,
    reading,
)
from engine.interchange.tables.read_table import text_rows
from engine.interchange.tables.recognise import Row
from engine.interchange.text_file import (
    SURROGATES,
    UTF_8,
    WESTERN,
    encoding_of_text,
    opened_file,
    text_lines,
)

_UTF_8: Final = frozenset({"", "utf-8", "utf8"})


@dataclass(frozen=True)
class ArchiveTable:
    """A table of a package, as that is described."""

    row_type: str  # what a row is, as a term
    file: str  # its name in the package; "" where the description names none
    columns: Mapping[int, str]
    """Term of each column, by its number; the first column is the occurrence's id where it has no term."""
    separator: str = ","  # between cells
    quote: str = '"'  # around them; "" for none
    header_lines: int = 1  # to be passed over
    encoding: str = "UTF-8"  # of its text
    id_index: int = (
        0  # number of the column with the occurrence's id, by which tables belong together
    )

    @property
    def names(self) -> tuple[str, ...]:
        """Short names of the columns, for the header."""
        return tuple(
            self.columns.get(index, "coreid").rsplit("/", 1)[-1]
            for index in range(max(self.columns) + 1)
        )


@final
@dataclass(frozen=True)
class FilePackage:
    """The files of an archive or a folder.

    Attributes:
        names: of its files, without the folder around all of them.
        opened: opens one of them; FormatError where its name leads elsewhere or it is too large, KeyError where an
            archive does not have it.
    """

    names: tuple[str, ...]
    opened: Callable[[str], AbstractContextManager[IO[bytes]]]

    def data(self, name: str, limit: limits.Limit = limits.DOCUMENT_BYTES) -> bytes:
        """The bytes of a file; FormatError where there are too many."""
        with self.opened(name) as file:
            data = file.read(limit.most + 1)
        limit.check(len(data), name)
        return data

    def rows(
        self, table: ArchiveTable, fallback: str = WESTERN, *, is_strict: bool = False
    ) -> Iterator[Row]:
        """The rows of a table below its header.

        Args:
            table: its encoding is that of text which is no UTF-8.
            fallback: such an encoding where the package names none; see `encoding_of_text`.
            is_strict: whether quotes without an end are refused.
        """
        name, encoding = table.file, table.encoding.casefold()
        with self.opened(name) as file:
            used = encoding_of_text(file, name, fallback if encoding in _UTF_8 else encoding)
            errors = SURROGATES if used == UTF_8 and fallback == SURROGATES else "strict"
            with closing(text_lines(file, name, used, errors=errors)) as lines:
                rows = text_rows(lines, name, table.separator, table.quote, is_strict=is_strict)
                yield from limits.at_most(
                    (row for row in rows if row[0] > table.header_lines), name
                )


@contextmanager
def opened_package(
    source: Path, description: str, limit: limits.Limit = limits.TABLE_BYTES
) -> Iterator[FilePackage]:
    """Open an archive or a folder.

    Args:
        description: the file that describes the others. In an archive all may lie in a folder around it.
        limit: of the bytes of each file.
    """
    if source.is_dir():
        names = sorted(path.name for path in source.iterdir() if path.is_file())
        yield FilePackage(
            tuple(names),
            lambda name: opened_file(file_within(source, name, description), name, limit),
        )
        return
    with (
        reading(source, "{source} is not an archive that can be read"),
        opened_archive(source) as archive,
    ):
        names = [
            name
            for name in archive.namelist()
            if not is_system_file(name) and not name.endswith("/")
        ]
        described = [name for name in names if PurePosixPath(name).name == description]
        around = min(described, key=lambda name: (name.count("/"), name), default="").removesuffix(
            description
        )
        yield FilePackage(
            tuple(name.removeprefix(around) for name in names),
            lambda name: member(archive, around + checked_name(name, description), limit),
        )
