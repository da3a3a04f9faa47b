"""Tables of child and parent."""

from pathlib import Path

import pytest

from engine.errors import FormatError, StorageError
from engine.graph.class_attributes import NO_ATTRIBUTES, ClassAttributes
from engine.interchange.imported import LeftOutItem, LeftOutReason
from engine.interchange.taxonomies import class_tables

CONTROLS = "a class name cannot contain control characters or line breaks"
BIRDS = {("Animal", "Bird"), ("Bird", "Gull"), ("Bird", "Puffin"), ("Diver", "Puffin")}


def file_of(folder: Path, text: str, encoding: str = "utf-8") -> Path:
    """Write a table byte by byte as given."""
    path = folder / "birds.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_what_spreadsheets_write(tmp_path: Path, encoding: str, delimiter: str, end: str) -> None:
    """Any delimiter, line end, BOM and order of columns; blank lines and other columns."""
    rows = [
        ["Note", '"Parent"', " CHILD "],
        ["", "Animal", "Bird"],
        [],
        ["seen, twice" if delimiter != "," else "", "Bird", "Gull"],
        ["", "Bird", '"Puffin"'],
        ["", " Diver ", "Puffin"],
        ["", "", ""],
    ]
    text = end.join(delimiter.join(row) for row in rows)
    graph = class_tables.read(file_of(tmp_path, text, encoding))
    assert set(graph.edges) == BIRDS
    assert {each.name for each in graph.classes} == {"Animal", "Bird", "Gull", "Puffin", "Diver"}


def test_roots_and_repeated_rows(tmp_path: Path) -> None:
    """An empty parent makes a root, a short row too; a row that comes twice counts once."""
    graph = class_tables.read(
        file_of(tmp_path, "child,parent\nAnimal,\nPlant\nBird,Animal\nBird,Animal\n")
    )
    assert [each.key for each in graph.classes] == ["Animal", "Plant", "Bird"]
    assert graph.edges == (("Animal", "Bird"),)


def test_quoted_names(tmp_path: Path) -> None:
    """Quotes keep delimiters inside a name."""
    graph = class_tables.read(
        file_of(tmp_path, 'child,parent\n"Gull, great ""black-backed""",Bird\n')
    )
    assert graph.edges == (("Bird", 'Gull, great "black-backed"'),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "were not recognised: .*an empty file"),
        (
            "what,above\na,b\n",
            (
                r'expected columns for name of the class, .*found "what", "above". .*--column '
                r"class=NAME"
            ),
        ),
        ("child,parent\n", "contains no classes"),
        (
            "child,parent\nGull,Bird\nBird,Animal\nAnimal,Gull\n",
            "own ancestor: found .* > .* > .* > ",
        ),
        ("child,parent\nGull,Gull\n", "own ancestor: found Gull > Gull"),
        (
            "child,parent\n" + "x" * 300 + ",\n",
            "contains no classes: found names that no class can have: line 2 of",
        ),
        ("child,parent\n" + "x" * 200_000 + ",Bird\n", "line 2 .*cannot be read as a table"),
        ('child,parent\n"Gull,Bird\nPuffin,Bird\n', "cannot be read as a table"),
    ],
)
def test_what_is_wrong_and_where(tmp_path: Path, text: str, message: str) -> None:
    """Each mistake is reported with its line."""
    with pytest.raises(FormatError, match=message):
        class_tables.read(file_of(tmp_path, text))


@pytest.mark.parametrize(
    ("rows", "classes", "left_out"),
    [
        ("Bird,\n,Animal\n", {"Bird"}, (LeftOutReason.NO_NAME, "line 3 of birds.csv")),
        (
            "Animal,\nGull,Brid\nBird,Animal\n",
            {"Animal", "Gull", "Bird"},
            (LeftOutReason.NO_PARENT, "Gull (Brid)"),
        ),
        (
            "Bird,\nGu\x07ll,Bird\n",
            {"Bird"},
            (LeftOutReason.BAD_NAME, f"line 3 of birds.csv: {CONTROLS}"),
        ),
    ],
)
def test_what_leaves_itself_out(
    tmp_path: Path, rows: str, classes: set[str], left_out: tuple[LeftOutReason, str]
) -> None:
    """One row that says nothing is counted and named; the others come in."""
    graph = class_tables.read(file_of(tmp_path, f"child,parent\n{rows}"))
    assert {each.name for each in graph.classes} == classes
    assert graph.left_out == (LeftOutItem(*left_out),)


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman", "utf-16-le", "utf-16-be"])
def test_other_encodings_are_recognised(tmp_path: Path, encoding: str) -> None:
    """Encodings of Excel in Western countries, on old Macs, and Unicode without a BOM."""
    end = "\r" if encoding == "mac_roman" else "\n"
    graph = class_tables.read(file_of(tmp_path, f"child,parent{end}Möwe,Vögel{end}", encoding))
    assert graph.edges == (("Vögel", "Möwe"),)


@pytest.mark.parametrize(
    ("encoding", "row"), [("cp1251", "чайка,птицы"), ("shift-jis", "鳥類動物,動物")]
)
def test_no_encoding_is_guessed(tmp_path: Path, encoding: str, row: str) -> None:
    """Text in others is refused with the byte and line."""
    text = f"child,parent\n{row}\n"
    with pytest.raises(FormatError, match=r"UTF-8: found byte 0x.. in line 2"):
        class_tables.read(file_of(tmp_path, text, encoding))


def test_no_file(tmp_path: Path) -> None:
    """A missing file and a folder are storage trouble."""
    with pytest.raises(StorageError, match="cannot be read"):
        class_tables.read(tmp_path / "none.csv")
    with pytest.raises(StorageError, match="cannot be read"):
        class_tables.read(tmp_path)


def test_a_column_of_ids(tmp_path: Path) -> None:
    """The id is the child's; if rows of a class disagree, it only numbers them."""
    text = (
        "Id,child,parent\n5,Bird,Animal\n6,Gull,Bird\n,Gull,Diver\n8,Puffin,Bird\n9,Puffin,Diver\n"
    )
    aliases = {
        each.name: each.attributes for each in class_tables.read(file_of(tmp_path, text)).classes
    }
    assert (aliases["Bird"], aliases["Gull"]) == (ClassAttributes("5"), ClassAttributes("6"))
    assert aliases["Animal"] == aliases["Diver"] == aliases["Puffin"] == NO_ATTRIBUTES
    graph = class_tables.read(file_of(tmp_path, "child,parent,id\nGull,Bird,a\x07b\n"))
    assert [each.reason for each in graph.left_out] == [LeftOutReason.ATTRIBUTE]
