from pathlib import Path

import pytest

from engine.errors import InputError, StorageError
from engine.graph.codes import NO_CLASS
from engine.research.transfer.collection import read_collection
from tests.support.images import write_jpeg
from tests.support.transfer import collection_of, small_graph


def write(folder: Path, *names: str) -> None:
    """Write small images below a folder."""
    for seed, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_jpeg(folder / name, seed=seed)


def test_images_of_both_parts_get_the_leaf_of_their_folders(tmp_path: Path) -> None:
    """The graph is that of train; an image in a coarse folder or of a class only val has is not scored."""
    write(tmp_path / "train", "Fruit/Apple/Gala/1.jpg", "Fruit/Apple/Fuji/1.jpg", "Fruit/Apple/0.jpg", "Herb/1.jpg")
    write(tmp_path / "val", "Fruit/Apple/Gala/2.jpg", "Fruit/Pear/1.jpg", "Herb/2.jpg")
    collection = read_collection(tmp_path)
    names = [collection.graph.name(each) if each != NO_CLASS else "-" for each in collection.class_ids.tolist()]
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
    assert sorted(collection.graph.name(each) for each in collection.leaf_ids.tolist()) == ["Fuji", "Gala", "Herb"]


def test_coarse_classes_lie_below_the_roots_and_have_several_children() -> None:
    """Herbs and Trees; not the root, and not the class whose only child says the same."""
    collection = collection_of({3: 1}, {}, small_graph())
    assert [collection.graph.name(each) for each in collection.coarse_ids] == ["Herbs", "Trees"]


def test_identity_tells_collections_apart(tmp_path: Path) -> None:
    """Wherever the folder lies the images tell; one image more is another collection."""
    for name in ("one", "two"):
        write(tmp_path / name / "train", "A/1.jpg", "B/1.jpg")
        write(tmp_path / name / "val", "A/2.jpg")
    one, two = read_collection(tmp_path / "one"), read_collection(tmp_path / "two")
    assert one.identity == two.identity
    write(tmp_path / "two" / "val", "B/2.jpg")
    assert read_collection(tmp_path / "two").identity != one.identity


def test_refuses_what_is_no_such_collection(tmp_path: Path) -> None:
    """One class is nothing to tell apart; a missing part is said."""
    write(tmp_path / "train", "A/1.jpg")
    with pytest.raises(StorageError):
        read_collection(tmp_path)
    write(tmp_path / "val", "A/2.jpg")
    with pytest.raises(InputError, match="nothing to tell apart"):
        read_collection(tmp_path)
