"""The map of a project: computed, extended, cached, and exported."""

import csv
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from engine.collection.embed import embed_project
from engine.collection.importing.import_images import import_images
from engine.collection.models import model_of
from engine.collection.new_project import new_project
from engine.errors import Cancelled, InputError, StorageError
from engine.events import CancelToken, Progress
from engine.map.image_map import ImageMap, map_cache, read_map, write_map
from engine.map.make import make_map
from engine.mapped_cache import MappedCache
from engine.project import Project
from tests.support.collections import Collection, write_shape
from tests.support.command_line import done, refused


def made_of(collection: Collection, *, is_from_scratch: bool = False) -> tuple[int, ImageMap]:
    """Number of images that were added to the map of the project, and the map in the cache."""
    with Project.open(collection.project, for_writing=False) as project:
        _made, placed = make_map(project, collection.caches, is_from_scratch=is_from_scratch)
    made = read_map(cache_of(collection))
    assert made is not None
    return placed, made


def cache_of(collection: Collection) -> MappedCache:
    with Project.open(collection.project, for_writing=False) as project:
        return map_cache(project, model_of(project, collection.caches), collection.caches)


@pytest.mark.slow
def test_every_embedded_image_has_a_place(collection: Collection) -> None:
    """Progress reaches the end.

    Computing it again does nothing, and points stay.
    """
    reported: list[Progress] = []
    with Project.open(collection.project, for_writing=False) as project:
        count = project.images.count
        made, placed = make_map(project, collection.caches, on_progress=reported.append)
    assert (len(made.image_ids), placed) == (count, 0)
    assert [each.done for each in reported] == sorted(each.done for each in reported)
    assert reported[-1].done == reported[-1].total
    again, made = made_of(collection)
    assert again == 0
    assert made.later_count == 0
    assert made.places.shape == (count, 2)
    assert np.isfinite(made.places).all()
    assert len(np.unique(made.places, axis=0)) > 0.8 * count  # only near-duplicates overlap


@pytest.mark.slow
def test_new_images_are_placed_and_no_other_moves(collection: Collection, tmp_path: Path) -> None:
    """New images are placed near similar ones and marked until the map is computed again."""
    _placed, before = made_of(collection)
    files = [write_shape(tmp_path / f"{seed}.png", "Red disc", seed=seed) for seed in (91, 92)]
    with Project.open(collection.project) as project:
        import_images(project, files)
        embed_project(project, collection.caches, device="cpu")
        labels = project.labels.by_image()
        red = project.classes.graph.find("Red disc")
    placed, after = made_of(collection)
    assert (placed, after.later_count) == (2, 2)
    kept = np.isin(after.image_ids, before.image_ids)
    assert np.array_equal(after.places[kept], before.places)
    shots = [
        place
        for place, each in enumerate(before.image_ids.tolist())
        if each in labels and labels[each].class_id == red
    ]
    apart = np.linalg.norm(after.places[~kept][:, None] - before.places[None, shots], axis=2).min(
        axis=1
    )
    assert (apart < 25).all()
    assert made_of(collection, is_from_scratch=True)[1].later_count == 0


@pytest.mark.slow
def test_an_image_with_another_content_gets_another_place(collection: Collection) -> None:
    _placed, made = made_of(collection)
    made.contents[3] += np.uint64(1)
    write_map(cache_of(collection), made)
    placed, after = made_of(collection)
    assert placed == 1
    assert np.flatnonzero(after.is_later).tolist() == [3]


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"no map", b"protoleaf arrays nor this"])
def test_a_damaged_file_is_made_anew(collection: Collection, content: bytes) -> None:
    _placed, made = made_of(collection)
    (file,) = collection.caches.maps.glob("*.map")
    file.write_bytes(content)
    assert read_map(cache_of(collection)) is None
    assert len(made_of(collection)[1].image_ids) == len(made.image_ids)


@pytest.mark.slow
def test_strange_numbers_are_no_map(collection: Collection) -> None:
    """NaN coordinates, unordered ids, arrays of other lengths are ignored."""
    for spoilt in ("places", "image_ids"):
        _placed, other = made_of(collection, is_from_scratch=True)
        values = getattr(other, spoilt)
        values[0] = np.nan if spoilt == "places" else 10**9
        write_map(cache_of(collection), other)
        assert read_map(cache_of(collection)) is None


def test_a_cancel_leaves_what_was_there_and_an_empty_project_says_what_to_do(
    collection: Collection, tmp_path: Path
) -> None:
    with Project.open(collection.project, for_writing=False) as project:
        token = CancelToken()
        token.cancel()
        with pytest.raises(Cancelled):
            make_map(project, collection.caches, is_from_scratch=True, cancel=token)
    with (
        new_project(tmp_path / "new.protoleaf") as project,
        pytest.raises(InputError, match="no image is embedded"),
    ):
        make_map(project, collection.caches)


@pytest.mark.slow
def test_a_map_that_cannot_be_saved_is_an_error(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "engine.mapped_cache.shutil.disk_usage", lambda _folder: SimpleNamespace(free=0)
    )
    with pytest.raises(StorageError, match="the disk is full"):
        made_of(collection)


# -- the command


@pytest.mark.slow
def test_the_command_writes_each_kind(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row or point for each image, prototypes with names; its own file is replaced."""
    outs = {suffix: tmp_path / f"map.{suffix}" for suffix in ("csv", "npz", "svg", "png")}
    for out in (*outs.values(), outs["csv"], outs["png"], outs["npz"], outs["svg"]):
        fields = done(capsys, "map", collection.project, "-o", out, "--json").fields
        assert fields["file"] == str(out)
    with outs["csv"].open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == fields["images"]
    assert {"Red/Red disc", "Blue/Blue checks"} <= {row["class"] for row in rows}
    with np.load(outs["npz"], allow_pickle=False) as arrays:
        assert arrays["xy"].shape == (len(rows), 2)
        assert [f"{x:.4f}" for x in arrays["xy"][:, 0].tolist()] == [row["x"] for row in rows]
    drawing = outs["svg"].read_text("utf-8")
    assert all(f">{name}</text>" in drawing for name in ("Red", "Green", "Blue"))
    assert drawing.count("<path ") > 8
    assert outs["png"].read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_command_refuses(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An unknown format, and a file of another program."""
    assert ".csv or .npz or .svg or .png" in refused(
        capsys, "map", collection.project, "-o", tmp_path / "map.pdf", status=2
    )
    own = tmp_path / "own.csv"
    own.write_text("mine\n", encoding="utf-8")
    assert "not an earlier output" in refused(capsys, "map", collection.project, "-o", own)
    assert own.read_text("utf-8") == "mine\n"
    done(capsys, "map", collection.project, "-o", own, "--overwrite")
