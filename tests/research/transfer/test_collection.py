from pathlib import Path

import pytest

from engine.errors import InputError, StorageError, UnknownClassError
from engine.graph.codes import NO_CLASS
from research.transfer.collection import Selection, read_collection
from tests.support.graphs import graph_of
from tests.support.images import write_jpeg
from tests.support.transfer import collection_of, small_graph


def write(folder: Path, *names: str) -> None:
    """Write small images into a folder."""
    for seed, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_jpeg(folder / name, seed=seed)


def test_images_of_both_parts_get_the_leaf_of_their_folders(tmp_path: Path) -> None:
    """The graph is that of train; images without a leaf of train are not scored."""
    write(
        tmp_path / "train",
        "Fruit/Apple/Gala/1.jpg",
        "Fruit/Apple/Fuji/1.jpg",
        "Fruit/Apple/0.jpg",
        "Herb/1.jpg",
    )
    write(tmp_path / "val", "Fruit/Apple/Gala/2.jpg", "Fruit/Pear/1.jpg", "Herb/2.jpg")
    collection = read_collection(tmp_path)
    names = [
        collection.graph.name(each) if each != NO_CLASS else "-"
        for each in collection.class_ids.tolist()
    ]
    images = ["/".join(file.path.relative_to(tmp_path).parts[:-1]) for file in collection.files]
    assert dict(zip(images, names, strict=True)) == {
        "train/Fruit/Apple": "-",
        "train/Fruit/Apple/Gala": "Gala",
        "train/Fruit/Apple/Fuji": "Fuji",
        "train/Herb": "Herb",
        "val/Fruit/Apple/Gala": "Gala",
        "val/Fruit/Pear": "-",
        "val/Herb": "Herb",
    }
    assert collection.is_train.tolist() == [True] * 4 + [False] * 3
    assert sorted(collection.graph.name(each) for each in collection.leaf_ids.tolist()) == [
        "Fuji",
        "Gala",
        "Herb",
    ]


def test_coarse_classes_lie_below_the_roots_and_have_several_children() -> None:
    """Herbs and Trees; not the root, and not the class with a single child."""
    collection = collection_of({3: 1}, {}, small_graph())
    assert [collection.graph.name(each) for each in collection.coarse_ids] == ["Herbs", "Trees"]


def test_roots_are_coarse_classes_where_nothing_else_is() -> None:
    """Superclass folders of class folders; not a single root."""
    two = collection_of(
        {3: 1},
        {},
        graph_of(
            {
                "Trees": [],
                "Fish": [],
                "Oak": ["Trees"],
                "Pine": ["Trees"],
                "Eel": ["Fish"],
                "Cod": ["Fish"],
            }
        ),
    )
    assert [two.graph.name(each) for each in two.coarse_ids] == ["Trees", "Fish"]
    assert (
        collection_of(
            {2: 1}, {}, graph_of({"Trees": [], "Oak": ["Trees"], "Pine": ["Trees"]})
        ).coarse_ids
        == ()
    )


def write_wordnet(folder: Path) -> Path:
    """Folders named by ids, with their hierarchy in another file."""
    for part, count in (("train", 4), ("val", 3)):
        for leaf in ("n00000003", "n00000004", "n00000005", "n00000007"):
            write(folder / part, *(f"{leaf}/{number}.jpg" for number in range(count)))
    hierarchy = folder / "wordnet.is_a.txt"
    edges = ["1 2", "2 3", "2 4", "2 5", "1 6", "6 7", "6 8"]
    lines = [" ".join(f"n{int(each):08}" for each in edge.split()) for edge in edges]
    hierarchy.write_text("\n".join(lines), encoding="utf-8")
    words = ["thing", "herb", "basil", "mint", "sage", "tree", "oak", "pine"]
    (folder / "words.txt").write_text(
        "\n".join(f"n{number:08}\t{word}" for number, word in enumerate(words, start=1)),
        encoding="utf-8",
    )
    return hierarchy


def test_a_hierarchy_beside_the_folders(tmp_path: Path) -> None:
    """Folders are found by id; the graph has their ancestors, and coarse classes are of it."""
    hierarchy = write_wordnet(tmp_path)
    collection = read_collection(tmp_path, Selection(hierarchy))
    assert {collection.graph.name(each) for each in collection.leaf_ids.tolist()} == {
        "basil",
        "mint",
        "sage",
        "oak",
    }
    assert [collection.graph.name(each) for each in collection.coarse_ids] == ["herb"]
    assert collection.identity != read_collection(tmp_path).identity


def test_some_leaves_and_images_of_a_big_data_set(tmp_path: Path) -> None:
    """The same ones each time, in both parts; others are not in the collection or its graph."""
    hierarchy = write_wordnet(tmp_path)
    collection = read_collection(tmp_path, Selection(hierarchy, classes=3, images=2))
    again = read_collection(tmp_path, Selection(hierarchy, classes=3, images=2))
    assert len(collection.leaf_ids) == len(collection.graph.leaves()) == 3
    assert collection.files == again.files
    assert (len(collection.files), int(collection.is_train.sum())) == (3 * 2 * 2, 3 * 2)
    assert set(collection.class_ids.tolist()) == set(collection.leaf_ids.tolist())
    assert len(read_collection(tmp_path, Selection(classes=2)).files) == 2 * (4 + 3)


def test_a_folder_that_the_hierarchy_does_not_know(tmp_path: Path) -> None:
    """The message has the folder."""
    hierarchy = write_wordnet(tmp_path)
    write(tmp_path / "train", "n00000099/1.jpg")
    with pytest.raises(UnknownClassError, match="n00000099"):
        read_collection(tmp_path, Selection(hierarchy))


def test_identity_tells_collections_apart(tmp_path: Path) -> None:
    """It depends on the images, not on the path of the folder."""
    for name in ("one", "two"):
        write(tmp_path / name / "train", "A/1.jpg", "B/1.jpg")
        write(tmp_path / name / "val", "A/2.jpg")
    one, two = read_collection(tmp_path / "one"), read_collection(tmp_path / "two")
    assert one.identity == two.identity
    write(tmp_path / "two" / "val", "B/2.jpg")
    assert read_collection(tmp_path / "two").identity != one.identity


def test_refuses_what_is_no_such_collection(tmp_path: Path) -> None:
    """A single class and a missing part are errors."""
    write(tmp_path / "train", "A/1.jpg")
    with pytest.raises(StorageError):
        read_collection(tmp_path)
    write(tmp_path / "val", "A/2.jpg")
    with pytest.raises(InputError, match="nothing to tell apart"):
        read_collection(tmp_path)
