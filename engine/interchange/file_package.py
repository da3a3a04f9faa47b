"""Packages: a ZIP archive or folder of files with one that describes the others."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, final

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

_UTF_8 = frozenset({"", "utf-8", "utf8"})


@dataclass(frozen=True)
class ArchiveTable:
    """A table of a package by its description."""

    row_type: str  # term of what a row is
    file: str  # name in the package; "" if the description has none
    columns: Mapping[int, str]  # term by index; the first column may be the id without a term
    separator: str = ","
    quote: str = '"'  # "" for none
    header_lines: int = 1  # to be skipped
    encoding: str = "UTF-8"
    id_index: int = 0  # of the column with the id that joins tables

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
        names: of its files, relative to the folder that contains all of them.
        opened: opens a file; FormatError if it is outside of the package or too large, KeyError if
            an archive lacks it.
    """

    names: tuple[str, ...]
    opened: Callable[[str], AbstractContextManager[IO[bytes]]]

    def data(self, name: str, limit: limits.Limit = limits.DOCUMENT_BYTES) -> bytes:
        """Read a file; FormatError if it is too large."""
        with self.opened(name) as file:
            data = file.read(limit.most + 1)
        limit.check(len(data), name)
        return data

    def rows(
        self, table: ArchiveTable, fallback: str = WESTERN, *, is_strict: bool = False
    ) -> Iterator[Row]:
        """Read the rows of a table below its header.

        Args:
            table: its encoding is used if the text is not UTF-8.
            fallback: encoding if the table has none; see `encoding_of_text`.
            is_strict: whether unclosed quotes are errors.
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
        source: the archive or folder.
        description: name of the file that describes the others; in an archive it may be in a
            folder, which then contains all files.
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
