"""Data sets, built from a small source."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.errors import Cancelled, InputError, UsageError
from engine.events import CancelToken, Progress
from research.data_sets.build import _assert_sound, build, data_set_name
from research.data_sets.class_graph import ClassGraph
from research.data_sets.recipe import Recipe
from research.data_sets.sampling import DrawnImages
from research.data_sets.stored import load, read_facts
from tests.support.small_imagenet import RECIPE, write_small_imagenet, zipped


def files_of(folder: Path) -> dict[str, bytes]:
    """Contents by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_pixels_are_those_of_the_images(built_once: Path, small_imagenet: Path) -> None:
    """Each row of the file has the pixels of its image."""
    data, names = load(built_once), read_facts(built_once)["image_names"]
    assert data.pixels.shape == (len(names), 8, 8, 3)
    for name, pixels in zip(names, data.pixels, strict=True):
        with Image.open(small_imagenet / name) as image:
            wanted = np.asarray(image).reshape(-1, 3).mean(axis=0)
        assert np.abs(pixels.reshape(-1, 3).mean(axis=0) - wanted).max() < 3


def test_the_training_part(built_once: Path) -> None:
    """Only training images and edges above training classes; test classes have neither."""
    data = load(built_once)
    training = data.training_set()
    assert isinstance(training.pixels, np.memmap)
    assert len(training.pixels) == (~data.is_test).sum() == len(training.class_positions)
    assert training.few_shot.tolist() == data.training_few_shot.tolist()
    assert set(np.flatnonzero(data.part_classes(test=False))) >= set(
        training.edge_index.ravel().tolist()
    )
    assert not np.isin(training.class_positions, data.test_few_shot).any()
    assert not np.isin(training.edge_index, data.test_few_shot).any()
    assert set(training.edge_index[1].tolist()) >= set(data.training_few_shot.tolist())


def test_few_shot_classes_have_their_images(built_once: Path) -> None:
    """Every few-shot class of both parts has at least the requested images."""
    data = load(built_once)
    counts = np.bincount(data.class_positions, minlength=len(data.class_keys))
    assert counts[data.levels == 7].min() >= RECIPE.fewest_images


def test_same_seed_same_bytes(
    built_once: Path, small_imagenet: Path, wordnet: Path, tmp_path: Path
) -> None:
    """A folder and an archive of it give the same files; another seed gives others."""
    archive = zipped(small_imagenet, tmp_path / "packed.zip")
    build(archive, wordnet / "wordnet.is_a.txt", tmp_path / "again", RECIPE, side=8)
    assert files_of(tmp_path / "again") == files_of(built_once)
    other = Recipe("pure", factor=8.0, seed=1, fewest_images=5)
    build(small_imagenet, wordnet, tmp_path / "other", other, side=8)
    ours, theirs = files_of(built_once), files_of(tmp_path / "other")
    assert ours["pixels.npy"] != theirs["pixels.npy"]
    assert ours["data_set.json"] != theirs["data_set.json"]


@pytest.mark.parametrize(
    ("few_shot", "images", "is_test", "breach"),
    [
        (([1], [1]), [0, 1], [False, True], "class is in both parts"),
        (([1], [2]), [0, 0], [False, True], "image is in two classes"),
        (([1], [2]), [0, 1], [True, True], "training shots in test"),
        (([1], [2]), [0, 1], [False, False], "test shots in training"),
    ],
)
def test_what_the_experiments_rest_on_is_asserted(
    few_shot: tuple[list[int], list[int]], images: list[int], is_test: list[bool], breach: str
) -> None:
    """A class above a training and a test class with images in two parts is a bug."""
    training, test = (np.array(part, dtype=np.int64) for part in few_shot)
    edges = np.array([[0, 0], [1, 2]])
    graph = ClassGraph(
        ("a", "b", "c"), ("a", "b", "c"), np.array([6, 7, 7]), edges, training, test, ()
    )
    with pytest.raises(AssertionError, match=breach):
        _assert_sound(graph, DrawnImages(np.array(images), np.array([1, 2]), np.array(is_test)))


def test_mix_draws_more(
    built_once: Path, small_imagenet: Path, wordnet: Path, tmp_path: Path
) -> None:
    """The same few-shot classes, more images."""
    mix = build(small_imagenet, wordnet, tmp_path / "mix", Recipe("mix", fewest_images=5), side=8)
    pure = load(built_once)
    assert (mix.name, mix.variant) == ("WS-ImageNet16-Mix", "mix")
    assert mix.class_keys == pure.class_keys
    assert mix.test_few_shot.tolist() == pure.test_few_shot.tolist()
    assert len(mix.pixels) > len(pure.pixels)


def test_only_the_papers_source_gets_the_papers_name() -> None:
    """The name depends on the source."""
    pure, boosted = Recipe("pure", factor=1.0), Recipe("mix", factor=2.5)
    assert data_set_name(1000, pure) == "WS-ImageNet-Pure"
    assert data_set_name(1000, boosted) == "WS-ImageNet1000-Mix"
    assert data_set_name(200, boosted) == "WS-TinyImageNet-Mix"


def test_progress_and_stop(small_imagenet: Path, wordnet: Path, tmp_path: Path) -> None:
    """Each image counts as progress; a cancelled build leaves no files."""
    seen: list[Progress] = []
    data = build(
        small_imagenet, wordnet, tmp_path / "data", RECIPE, side=8, on_progress=seen.append
    )
    assert (seen[0].done, seen[-1].done, seen[-1].total) == (0, len(data.pixels), len(data.pixels))
    token = CancelToken()

    def stop(_progress: Progress) -> None:
        token.cancel()

    with pytest.raises(Cancelled):
        build(
            small_imagenet, wordnet, tmp_path / "no", RECIPE, side=8, on_progress=stop, cancel=token
        )
    assert [
        path.name for path in tmp_path.iterdir() if "data" in path.name or "no" in path.name
    ] == ["data"]


def test_what_is_in_the_way_is_kept(small_imagenet: Path, wordnet: Path, tmp_path: Path) -> None:
    """A folder with other files is refused before anything is read."""
    (tmp_path / "thesis.txt").write_text("years of work", encoding="utf-8")
    with pytest.raises(InputError, match="in the way"):
        build(small_imagenet, wordnet, tmp_path, RECIPE, side=8)
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "years of work"


def test_a_source_without_enough_classes_is_refused(wordnet: Path, tmp_path: Path) -> None:
    """Four class folders are too few; no folder is left."""
    few = write_small_imagenet(tmp_path / "few", names=["kind0", "kind2", "kind3", "kind4"])
    with pytest.raises(InputError, match="too few classes"):
        build(few, wordnet, tmp_path / "out", RECIPE, side=8)
    assert not (tmp_path / "out").exists()


def test_a_tiny_side_is_refused(small_imagenet: Path, wordnet: Path, tmp_path: Path) -> None:
    """Four pixels are too few."""
    with pytest.raises(UsageError, match="found 4"):
        build(small_imagenet, wordnet, tmp_path / "out", RECIPE, side=4)
