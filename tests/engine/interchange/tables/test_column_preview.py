"""The first rows of a table, and what its columns are taken for."""

from pathlib import Path

import pytest

from engine.errors import UsageError
from engine.interchange.tables.dialects import TablePurpose
from engine.interchange.tables.read_table import preview_columns

ODD = "Bild;Tier;Wer\nfuchs.jpg;Fuchs;Ada\nhase.jpg;Hase;\n"


def written(folder: Path, name: str, text: str) -> Path:
    """A file of the folder."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_of_ranks_and_names(tmp_path: Path) -> None:
    """Each with its meaning, and the first rows; a short row is filled up."""
    path = written(
        tmp_path,
        "list.csv",
        "family,genus,scientificName,rank,x\nLaridae,Larus,Larus canus,species\n",
    )
    found = preview_columns(path, TablePurpose.CLASSES)
    assert found is not None
    assert found.is_clear
    assert found.columns == ("family", "genus", "scientificName", "rank", "x")
    assert found.rows == (("Laridae", "Larus", "Larus canus", "species", ""),)
    assert found.meanings == ("rank:family", "rank:genus", "class", "rank", "")


def test_what_a_person_names_makes_an_unclear_table_clear(tmp_path: Path) -> None:
    """A role that no column has can be named, too."""
    path = written(tmp_path, "labels.csv", ODD)
    found = preview_columns(path, TablePurpose.LABELS)
    assert found is not None
    assert not found.is_clear
    assert found.columns == ("Bild", "Tier", "Wer")
    assert found.rows[0] == ("fuchs.jpg", "Fuchs", "Ada")
    assert found.meanings == ("file", "", "")
    named = preview_columns(
        path, TablePurpose.LABELS, {"file": "Bild", "class": "Tier", "annotator": "Wer"}
    )
    assert named is not None
    assert (named.is_clear, named.meanings) == (True, ("file", "class", "annotator"))
    path = written(tmp_path, "clear.csv", "image,class,annotator\na.jpg,Fox,Ada\n")
    without = preview_columns(path, TablePurpose.LABELS, {"annotator": ""})
    assert without is not None
    assert without.meanings == ("file", "class", "")


def test_what_is_no_table_has_no_columns(tmp_path: Path) -> None:
    """Folders, other formats, and a plain list."""
    assert preview_columns(tmp_path, TablePurpose.CLASSES) is None
    assert (
        preview_columns(written(tmp_path, "list.json", '[{"name": "Gull"}]'), TablePurpose.CLASSES)
        is None
    )
    assert preview_columns(written(tmp_path, "empty.csv", ""), TablePurpose.CLASSES) is None


def test_a_role_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """As it is where the table is read."""
    with pytest.raises(UsageError, match="no role"):
        preview_columns(
            written(tmp_path, "labels.csv", ODD), TablePurpose.LABELS, {"colourful": "Tier"}
        )
