"""Folder trees as category graphs."""

from pathlib import Path

import pytest

from engine.errors import FormatError, StorageError
from engine.interchange import nested_folders


def folders(root: Path, *paths: str) -> Path:
    """Make files (paths with a dot in the last name) and folders (the others) below a folder."""
    for path in paths:
        target = root / path
        is_file = "." in target.name[1:] or target.name.startswith(".")
        (target.parent if is_file else target).mkdir(parents=True, exist_ok=True)
        if is_file:
            target.write_bytes(b"x")
    return root


def test_folders_are_classes_and_files_are_not(tmp_path: Path) -> None:
    """The tree without its root; an empty folder is a class that waits for images."""
    root = folders(
        tmp_path, "Fruit/Apple/Granny-Smith/1.jpg", "Fruit/Apple/2.jpg", "Fruit/Pear", "notes.txt"
    )
    graph = nested_folders.read(root)
    assert {each.key: each.name for each in graph.classes} == {
        "Fruit": "Fruit",
        "Fruit/Apple": "Apple",
        "Fruit/Pear": "Pear",
        "Fruit/Apple/Granny-Smith": "Granny-Smith",
    }
    assert set(graph.edges) == {
        ("Fruit", "Fruit/Apple"),
        ("Fruit", "Fruit/Pear"),
        ("Fruit/Apple", "Fruit/Apple/Granny-Smith"),
    }


def test_hidden_things_are_no_classes(tmp_path: Path) -> None:
    """Hidden folders, and those of only hidden files, are skipped; others are classes."""
    root = folders(
        tmp_path,
        ".git/objects",
        "__MACOSX/Fruit",
        "Left/.DS_Store",
        "Notes/.hidden",
        "Notes/read.txt",
        "A/B/.x",
    )
    assert [each.key for each in nested_folders.read(root).classes] == ["A", "Notes"]


def test_names_from_other_systems(tmp_path: Path) -> None:
    """A decomposed name gives the composed class; both together give one class."""
    root = folders(tmp_path, "Pa\u0301jaro/x.jpg", "P\u00e1jaro/y.jpg", "海鸥/😀")
    assert {each.key for each in nested_folders.read(root).classes} == {
        "P\u00e1jaro",
        "海鸥",
        "海鸥/😀",
    }


def test_links_do_not_go_in_circles(tmp_path: Path) -> None:
    """A link up the tree is no class; a link to another branch is a class of its own there."""
    root = folders(tmp_path, "A/B/1.jpg", "C")
    (root / "A" / "B" / "up").symlink_to(root)
    (root / "C" / "also").symlink_to(root / "A" / "B")
    assert {each.key for each in nested_folders.read(root).classes} == {"A", "A/B", "C", "C/also"}


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """No folder, a file, no folders inside, and a name that cannot be one are reported."""
    with pytest.raises(StorageError, match="cannot be read"):
        nested_folders.read(tmp_path / "none")
    with pytest.raises(FormatError, match="contains no classes"):
        nested_folders.read(folders(tmp_path, "1.jpg"))
    with pytest.raises(FormatError, match="is a file"):
        nested_folders.read(tmp_path / "1.jpg")
    (tmp_path / "line\nbreak").mkdir()
    with pytest.raises(FormatError, match=r"line\\nbreak.*control characters"):
        nested_folders.read(tmp_path)


def test_a_deep_tree(tmp_path: Path) -> None:
    """A hundred folders inside one another are a hundred levels."""
    root = folders(tmp_path, "/".join(["d"] * 100))
    assert len(nested_folders.read(root).edges) == 99
