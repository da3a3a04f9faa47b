"""Collections with class tables."""

from pathlib import Path

import pytest

from engine.errors import FormatError
from research.transfer.tables_of_classes import has_tables, read_tables
from tests.support.collections import write_shape


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Two leaves of one class, with four pictures, one coarse label and one of no class."""
    for number in range(6):
        write_shape(tmp_path / "photos" / f"{number}.png", "Red disc", seed=number)
    (tmp_path / "edges.csv").write_text(
        "child,parent\nRed,\nDisc,Red\nChecks,Red\n", encoding="utf-8"
    )
    (tmp_path / "shots.csv").write_text(
        "image,class\nphotos/0.png,Disc\nphotos/1.png,Checks\nphotos/4.png,Red\n", encoding="utf-8"
    )
    (tmp_path / "truth.csv").write_text(
        "image,class\nphotos/2.png,Disc\nphotos/3.png,Checks\nphotos/5.png,\n", encoding="utf-8"
    )
    return tmp_path


def test_images_of_leaves_are_read_from_both_tables(source: Path) -> None:
    """Each may be drawn as a shot; coarse labels and images of no class are left out."""
    assert has_tables(source)
    collection = read_tables(source)
    names = {class_id: collection.graph.name(class_id) for class_id in collection.leaf_ids.tolist()}
    files = [file.path.name for file in collection.files]
    assert list(zip(files, map(names.__getitem__, collection.class_ids.tolist()), strict=True)) == [
        ("0.png", "Disc"),
        ("1.png", "Checks"),
        ("2.png", "Disc"),
        ("3.png", "Checks"),
    ]
    assert collection.is_train.all()


def test_folders_of_classes_have_no_tables(source: Path) -> None:
    """All three tables are required."""
    (source / "truth.csv").unlink()
    assert not has_tables(source)


def test_a_class_that_is_not_there_is_refused(source: Path) -> None:
    """The message has the line of the table."""
    (source / "truth.csv").write_text("image,class\nphotos/2.png,Blue\n", encoding="utf-8")
    with pytest.raises(FormatError, match="Blue"):
        read_tables(source)
