"""Sources in ImageNet's layouts."""

import shutil
from pathlib import Path

import pytest

from engine.errors import ImageError, InputError, StorageError
from research.data_sets.source import open_source
from tests.support.small_imagenet import FOLDERS, IMAGES, key, write_small_imagenet, zipped


def test_both_splits_are_used(small_imagenet: Path) -> None:
    """Every image of train and val is found in the folder of its class."""
    with open_source(small_imagenet) as source:
        assert source.folders == tuple(sorted(key(name) for name in FOLDERS))
        assert len(source.names) == IMAGES * len(FOLDERS)
        assert source.images_per_folder == IMAGES
        assert {name.split("/")[0] for name in source.names} == {"train", "val"}
        for name, position in zip(source.names, source.folder_positions, strict=True):
            assert name.split("/")[1] == source.folders[position]


def test_an_archive_is_the_same_source(small_imagenet: Path, tmp_path: Path) -> None:
    """A zip of the folder, packed in another order, gives the same names and bytes."""
    archive = zipped(small_imagenet, tmp_path / "any.zip")
    with open_source(small_imagenet) as folder, open_source(archive) as packed:
        assert packed.names == folder.names
        assert packed.folder_positions.tolist() == folder.folder_positions.tolist()
        assert packed.read(5) == folder.read(5)


def test_images_below_the_class_folder_and_class_folders_alone(tmp_path: Path) -> None:
    """`train/<id>/images/`, as in Tiny ImageNet; folders without a split; others are ignored."""
    root = write_small_imagenet(tmp_path / "root", names=["kind0", "kind2"], images=3)
    images = root / "train" / key("kind0") / "images"
    images.mkdir()
    for path in (root / "train" / key("kind0")).glob("*.JPEG"):
        path.rename(images / path.name)
    (root / "test" / "images").mkdir(parents=True)
    shutil.copy(next(images.iterdir()), root / "test" / "images" / "test_0.JPEG")
    (root / "wnids.txt").write_text("n01443537\n", encoding="utf-8")
    with open_source(root) as source:
        assert len(source.names) == 6
        assert source.names[0] == f"train/{key('kind0')}/images/{key('kind0')}_0.JPEG"
    with open_source(root / "train") as source:
        assert source.folders == (key("kind0"), key("kind2"))
        assert source.names[0].startswith(f"{key('kind0')}/images/")


def test_another_layout_is_refused(tmp_path: Path) -> None:
    """Folders not named by ids are refused; the message has the layout."""
    root = write_small_imagenet(tmp_path / "root", names=["kind0"], images=2)
    (root / "train" / key("kind0")).rename(root / "train" / "apple")
    with pytest.raises(InputError, match="named by WordNet id"), open_source(root / "train"):
        pass


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    """Such as a tar file."""
    path = tmp_path / "imagenet.tar"
    path.write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"imagenet\.tar"), open_source(path):
        pass


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    """The path is neither a folder nor a file."""
    with pytest.raises(StorageError, match="nowhere"), open_source(tmp_path / "nowhere"):
        pass


def test_a_damaged_archive_member_is_an_image_error(small_imagenet: Path, tmp_path: Path) -> None:
    """A flipped byte fails the checksum of the archive; only that image is lost."""
    archive = zipped(small_imagenet, tmp_path / "damaged.zip")
    with open_source(archive) as source:
        wanted = source.read(0)
    data = bytearray(archive.read_bytes())
    data[data.index(wanted) + 50] ^= 255
    archive.write_bytes(data)
    with open_source(archive) as source:
        with pytest.raises(ImageError, match="archive"):
            source.read(0)
        assert source.read(1)
