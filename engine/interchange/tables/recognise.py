"""Recognise the roles of a table's columns: by the user's choice, its dialect, its column names.

For class lists and tables of labels.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engine.errors import FormatError, UsageError
from engine.interchange.tables.dialects import DIALECTS, Dialect, TablePurpose
from engine.interchange.tables.roles import (
    RANK_OF,
    RANKS,
    ROLE_OF,
    VERNACULAR_COLUMNS,
    Role,
    column_key,
)
from engine.texts import Message, enumerated, marked

Row = tuple[int, Sequence[str]]  # line number, and cells

NEEDED: Mapping[TablePurpose, tuple[Role, ...]] = {
    TablePurpose.CLASSES: (Role.CLASS, Role.PARENT_NAME, Role.ID, Role.PARENT_ID, Role.RANK),
    TablePurpose.LABELS: (Role.FILE, Role.CLASS),
}
"""Roles in the error about missing columns."""
_REMEDIES: Mapping[TablePurpose, str] = {
    TablePurpose.CLASSES: marked(
        "name them: --column class=NAME, --column parent=NAME or --column id=NAME"
    ),
    TablePurpose.LABELS: marked("name them: --column file=NAME and --column class=NAME"),
}
_CLASS_IN_LABELS = (Role.CLASS, Role.VERNACULAR, Role.PATH)
_COLUMNS_SHOWN = 30
_SCIENTIFIC = ("scientific_name", "canonical_name", "specific_epithet", "species_epithet")
"""Columns of names, with which "class" is a rank in tables of labels, too."""
_IMAGE_FILE = re.compile(
    r"\w\.(?:jpe?g|png|tiff?|gif|bmp|webp|hei[cf]|avif|jp2|dng|cr[23]|nef|arw|raf|rw2|orf)\s*$",
    re.IGNORECASE,
)
_ID_OF_IMAGE = ("image_id",)
_NUMBER = re.compile(r"\s*[\d.,]*\s*")
_LANGUAGE_OF = {
    column_key(name): code for code, names in VERNACULAR_COLUMNS.items() for name in names
}
_IDS = frozenset({Role.ID, Role.PARENT_ID, Role.ACCEPTED_ID})
_PARTS = frozenset({Role.GENUS, Role.SUBGENUS, Role.SPECIES_EPITHET, Role.SUBSPECIES_EPITHET})
"""Roles that a column of a rank may have, too."""


def cell_at(cells: Sequence[str], place: int | None) -> str:
    """A stripped cell of a row; "" if it does not exist."""
    return cells[place].strip() if place is not None and 0 <= place < len(cells) else ""


@dataclass(frozen=True)
class ColumnLayout:
    """Recognised columns of a table, by index."""

    columns: Mapping[Role, int]
    ranks: tuple[tuple[str, int], ...] = ()  # columns of ranks, the highest first
    vernacular: tuple[tuple[str, int], ...] = ()  # columns of names in a language, by its code
    dialect: Dialect | None = None
    has_header: bool = True  # whether the first row has the names of the columns

    def cell(self, cells: Sequence[str], role: Role) -> str:
        """The cell of a row in a role; "" without one. Ids such as 17.0, by pandas, become 17."""
        text = cell_at(cells, self.columns.get(role))
        is_id = role in _IDS or (role is Role.PARENT_NAME and Role.ID in self.columns)
        return text.removesuffix(".0") if is_id and text[:-2].isdigit() else text

    def path(self, cells: Sequence[str]) -> list[tuple[str, str]]:
        """Rank and name of each filled rank, the highest first."""
        return [(rank, name) for rank, at in self.ranks if (name := cell_at(cells, at))]

    def names_in_languages(self, cells: Sequence[str]) -> list[tuple[str, str]]:
        """Language and name of each filled vernacular column."""
        return [(code, name) for code, at in self.vernacular if (name := cell_at(cells, at))]


def recognised(
    columns: Sequence[str],
    sample: Iterable[Row],
    purpose: TablePurpose,
    given: Mapping[str, str] | None = None,
    *,
    name: str = "the table",
) -> ColumnLayout:
    """Recognise the columns.

    Args:
        columns: of the table.
        sample: its first rows, which distinguish columns of ranks and of numbers.
        purpose: of reading it.
        given: column by role or rank, set by the user, "" for none; overrides everything else.
        name: of the table, for errors.

    Raises:
        UsageError: a role or column in `given` does not exist.
        FormatError: needed columns are missing; lists the columns and the roles.
    """
    found = layout_of(columns, sample, purpose, given)
    if found is None:
        raise FormatError(
            "the columns of {name} were not recognised",
            expected="columns for {roles}",
            found="{columns}" if any(columns) else "an empty file",
            remedy=_REMEDIES[purpose],
            name=name,
            roles=enumerated(Message(role.about) for role in NEEDED[purpose]),
            columns=", ".join(f'"{each[:60]}"' for each in columns[:_COLUMNS_SHOWN]),
        )
    return found


def layout_of(
    columns: Sequence[str],
    sample: Iterable[Row],
    purpose: TablePurpose,
    given: Mapping[str, str] | None = None,
) -> ColumnLayout | None:
    """As `recognised`; None if needed columns are missing."""
    layout = partial_layout(columns, sample, purpose, given)
    return layout if _is_enough(layout, purpose) else None


def partial_layout(
    columns: Sequence[str],
    sample: Iterable[Row],
    purpose: TablePurpose,
    given: Mapping[str, str] | None = None,
) -> ColumnLayout:
    """As `recognised`, with or without the needed columns."""
    rows = [cells for _, cells in sample]
    keys = [column_key(each) for each in columns]
    dialect = _dialect_of(columns, keys, purpose)
    if dialect is not None and dialect.first_row:
        numbers = {role: int(names[0]) - 1 for role, names in dialect.columns.items()}
        return ColumnLayout(
            numbers | _given_roles(given or {}, columns), dialect=dialect, has_header=False
        )
    chosen = _given_roles(given or {}, columns)
    if (
        purpose is TablePurpose.LABELS
        and dialect is None
        and (at := _image_column(keys, rows)) is not None
    ):
        chosen.setdefault(Role.FILE, at)
    ranks = _ranks(keys, rows, purpose, dialect)
    ranks = {rank: at for rank, at in ranks.items() if at not in chosen.values()} | _given_ranks(
        given or {}, columns
    )
    dropped = {word for word, name in (given or {}).items() if not name}
    ranks = {rank: at for rank, at in ranks.items() if rank not in dropped}
    roles = _roles(keys, rows, {*ranks.values(), *chosen.values()}, dialect) | chosen
    if (
        purpose is TablePurpose.CLASSES
        and not ranks
        and Role.PARENT_ID not in roles
        and Role.CLASS in roles
    ):
        roles = _with_parents(roles, rows)
    roles = {role: at for role, at in roles.items() if role not in dropped}
    return ColumnLayout(
        roles,
        tuple((rank, ranks[rank]) for rank in RANKS if rank in ranks),
        tuple(
            (_LANGUAGE_OF[key], at)
            for at, key in enumerate(keys)
            if key in _LANGUAGE_OF and at not in roles.values()
        ),
        dialect,
    )


def _dialect_of(
    columns: Sequence[str], keys: Sequence[str], purpose: TablePurpose
) -> Dialect | None:
    there, row = frozenset(keys), "\t".join(columns)
    for each in DIALECTS:
        if purpose not in each.purposes:
            continue
        if each.first_row and re.fullmatch(each.first_row, row):
            return each
        if each.signature and there.issuperset(map(column_key, each.signature)):
            return each
    return None


def _ranks(
    keys: Sequence[str],
    rows: Sequence[Sequence[str]],
    purpose: TablePurpose,
    dialect: Dialect | None,
) -> dict[str, int]:
    """Columns of ranks; a single "class" is a rank only if another column has the name."""
    found: dict[str, int] = {}
    for at, key in enumerate(keys):
        if key in RANK_OF and not _is_of_numbers(rows, at):
            found.setdefault(RANK_OF[key], at)
    if found.keys() == {"species"}:
        return {}  # the name of the class
    own = (*(dialect.columns.get(Role.CLASS, ()) if dialect else ()), *Role.CLASS.names)
    names = _SCIENTIFIC if purpose is TablePurpose.LABELS else (*_SCIENTIFIC, *own)
    has_name = any(column_key(each) in keys for each in names if column_key(each) not in RANK_OF)
    return {} if found.keys() == {"class"} and not has_name else found


def _is_of_numbers(rows: Sequence[Sequence[str]], at: int) -> bool:
    cells = [row[at] for row in rows if at < len(row) and row[at].strip()]
    return bool(cells) and all(_NUMBER.fullmatch(cell) for cell in cells)


def _image_column(keys: Sequence[str], rows: Sequence[Sequence[str]]) -> int | None:
    """The first column of image file names, if no column is called so, except for image ids."""
    if any(column_key(name) in keys for name in Role.FILE.names if name not in _ID_OF_IMAGE):
        return None
    return next(
        (
            at
            for at in range(len(keys))
            if any(at < len(row) and _IMAGE_FILE.search(row[at]) for row in rows)
        ),
        None,
    )


def _roles(
    keys: Sequence[str],
    rows: Sequence[Sequence[str]],
    ranks: Collection[int],
    dialect: Dialect | None,
) -> dict[Role, int]:
    """The column of each role; a column of a rank has no other role but `_PARTS`."""
    found: dict[Role, int] = {}
    own = {} if dialect is None else dialect.columns
    for names_of in (own, {role: role.names for role in Role if own.get(role) != ()}):
        for role, names in names_of.items():
            taken = {*found.values(), *(() if role in _PARTS else ranks)}
            places = [keys.index(key) for key in map(column_key, names) if key in keys]
            free = [place for place in places if place not in taken]
            if free:
                named = (
                    place
                    for place in free
                    if role is not Role.CLASS or not _is_of_numbers(rows, place)
                )
                at = next(named, free[0])  # numbers are the class only as a last resort
                found.setdefault(role, at)
    return found


def _with_parents(roles: Mapping[Role, int], rows: Sequence[Sequence[str]]) -> dict[Role, int]:
    """Add the column of which every cell is the name of another class."""
    names = [cell_at(row, roles[Role.CLASS]) for row in rows]
    for at in sorted({*range(_COLUMNS_SHOWN)} - {*roles.values()}):
        above = [cell_at(row, at) for row in rows]
        is_parent = (
            {*above} - {""} and {*above} <= {*names, ""} and all(map(str.__ne__, above, names))
        )
        if is_parent:
            return {Role.PARENT_NAME: at, **roles}
    return dict(roles)


def _is_enough(layout: ColumnLayout, purpose: TablePurpose) -> bool:
    columns = layout.columns
    has_name = (
        bool(layout.ranks)
        or Role.CLASS in columns
        or {Role.GENUS, Role.SPECIES_EPITHET} <= columns.keys()
    )
    if purpose is TablePurpose.LABELS:
        return Role.FILE in columns and (
            has_name or any(role in columns for role in _CLASS_IN_LABELS)
        )
    return has_name or Role.VERNACULAR in columns


def _given_roles(given: Mapping[str, str], columns: Sequence[str]) -> dict[Role, int]:
    for word in given:
        if word not in ROLE_OF and word not in RANKS:
            raise UsageError(
                'there is no role "{word}"',
                expected="one of {roles}, or a rank such as family",
                remedy="write --column ROLE=NAME",
                word=word,
                roles=enumerated(Role),
            )
    return {
        ROLE_OF[word]: _column_at(name, columns)
        for word, name in given.items()
        if name and word in ROLE_OF
    }


def _given_ranks(given: Mapping[str, str], columns: Sequence[str]) -> dict[str, int]:
    """Ranks that are not roles, such as "family"; "class" and "genus" are roles."""
    return {
        word: _column_at(name, columns)
        for word, name in given.items()
        if name and word not in ROLE_OF
    }


def _column_at(name: str, columns: Sequence[str]) -> int:
    if name in columns:
        return columns.index(name)
    keys = [column_key(each) for each in columns]
    if column_key(name) in keys:
        return keys.index(column_key(name))
    raise UsageError(
        'there is no column "{name}"',
        expected="one of {columns}",
        remedy="write its name as the table has it",
        name=name,
        columns=", ".join(f'"{each[:60]}"' for each in columns[:_COLUMNS_SHOWN]),
    )
