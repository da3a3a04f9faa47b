"""Folds of a real project: equal bytes, copies by fingerprint, bursts by time."""

import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from engine.collection.classify import classify_project
from engine.collection.embed import embed_project
from engine.collection.find_folds import (
    FoldInput,
    burst_seconds,
    find_folds,
    sequence_names,
    set_burst_seconds,
)
from engine.collection.folding.partitions import ALONE
from engine.collection.folding.sequences import ShotTimes
from engine.collection.importing.import_images import import_images
from engine.collection.live import LiveCollection
from engine.collection.project_folds import folds_of_project
from engine.evaluation.evaluate import Evaluation, evaluate
from engine.evaluation.truth_file import read_truth
from engine.images.fingerprint_cache import Fingerprints
from engine.project import ImageDetails, Project
from tests.support.collections import Collection, cache_of_test

NOON = datetime(2024, 5, 1, 12)  # noqa: DTZ001 (cameras have no time zone)


def _taken(
    project: Project, image_ids: list[int], step_s: float = 1, camera: str = "Reconyx"
) -> None:
    project.details.store(
        ImageDetails(image_id, 1, 48, 48, NOON + timedelta(seconds=place * step_s), camera)
        for place, image_id in enumerate(image_ids)
    )


@pytest.mark.slow
def test_same_bytes_and_bursts_fold(collection: Collection) -> None:
    """A copied file folds with its original; three shots within seconds fold, not a later one."""
    copy = collection.unsorted / "copy.png"
    original = collection.unsorted / "024.png"
    shutil.copy(original, copy)
    with Project.open(collection.project) as project:
        (copied,) = import_images(project, [copy]).change.images_added
        embed_project(project, cache_of_test(), device="cpu")
        twin = project.images.find(original)
        others = [each for each in list(project.images.table().ids)[30:34] if each != twin]
        _taken(project, others[:3])
        folds = folds_of_project(project, cache_of_test(), looks=False)
        assert folds.members(int(folds.of(np.array([copied]))[0])) == (twin, copied)
        assert {frozenset(members): kind for members, kind in folds.each()} == {
            frozenset({twin, copied}): "copies",
            frozenset(others[:3]): "burst",
        }
        assert folds.sequence_of(others[0]) is not None
        assert folds.sequence_of(copied) is None
        assert folds.image_ids.tolist() == np.unique([twin, copied, *others[:3]]).tolist()
        image_ids = np.array(project.images.table().ids)
        firsts = folds.one_of_each(image_ids)
        assert set(image_ids) - set(firsts) == {copied, *others[1:3]}
        assert set(folds.one_of_each(image_ids[::-1])) == set(firsts)


def test_the_seconds_are_the_projects_and_can_be_undone(collection: Collection) -> None:
    with Project.open(collection.project) as project:
        ids = list(project.images.table().ids)[:3]
        _taken(project, ids, step_s=30)
        assert burst_seconds(project) == 5
        assert sequence_names(project) == {}
        assert (
            str(set_burst_seconds(project, 60).action)
            == "Set the maximum gap in a burst to 60 seconds"
        )
        assert sequence_names(project) == dict.fromkeys(ids, f"s{ids[0]}")
        project.history.undo()
        assert sequence_names(project) == {}


@pytest.mark.parametrize("value", [-3, "many", None, float("nan"), True, 10**9])
def test_any_stored_seconds_are_bearable(collection: Collection, value: object) -> None:
    with Project.open(collection.project) as project:
        if value == value:  # noqa: PLR0124 (NaN is no plain value)
            project.policies.set_setting("burst_seconds", value)
        assert 0 <= burst_seconds(project) <= 86_400


def test_times_with_zones_and_nonsense_in_the_file(collection: Collection) -> None:
    """Times are compared as local times; invalid times are ignored."""
    with Project.open(collection.project) as project:
        ids = list(project.images.table().ids)[:3]
        project.details.store(
            [
                ImageDetails(ids[0], 1, 1, 1, NOON.replace(tzinfo=UTC)),
                ImageDetails(ids[1], 1, 1, 1, NOON),
            ]
        )
        assert sequence_names(project) == dict.fromkeys(ids[:2], f"s{ids[0]}")


@pytest.mark.slow
def test_copies_are_found_once_pictures_were_looked_at(
    collection: Collection, tmp_path: Path
) -> None:
    """A resized, recompressed copy folds with its original; the sharper one represents both."""
    rng = np.random.default_rng(3)
    coarse = Image.fromarray(rng.integers(0, 255, (9, 12, 3), dtype=np.uint8)).resize(
        (480, 360), Image.Resampling.BICUBIC
    )
    folder = tmp_path / "photos"
    folder.mkdir()
    coarse.resize((240, 180)).save(folder / "small.jpg", quality=40)
    coarse.save(folder / "whole.jpg", quality=95)
    with Project.open(collection.project) as project:
        added = import_images(project, [folder]).change.images_added
        embed_project(project, cache_of_test(), device="cpu")
        assert (
            folds_of_project(project, cache_of_test(), looks=False).of(np.array(added)).tolist()
            == [ALONE] * 2
        )
        folds = folds_of_project(project, cache_of_test())
        assert set(added) in [set(members) for members, _ in folds.each()]
        assert not np.isnan(folds.sharpness).any()
        again = folds_of_project(project, cache_of_test(), looks=False)
        assert again.is_same(folds)
        assert again.is_as_sharp(folds)


@pytest.mark.slow
def test_evaluate_counts_twins_of_labelled_images(collection: Collection) -> None:
    """Two images of the truth are in the sequence of a labelled one."""
    with Project.open(collection.project) as project:
        ids = list(project.images.table().ids)
        labelled, free = ids[0], ids[30:32]
        project.details.store(
            ImageDetails(each, 1, 1, 1, NOON + timedelta(seconds=place), "")
            for place, each in enumerate(free)
        )
        before = _evaluated(project, collection)
        assert (before.twins, before.top1_without_twins) == (0, before.top1)
        (path,) = project.images.table([labelled]).paths
        assert not path.startswith("unsorted")  # another folder is another sequence
        project.labels.set(free[:1], project.labels.of(labelled).class_id)  # type: ignore[union-attr]
        after = _evaluated(project, collection)
        assert after.twins == 1
        assert after.images == before.images - 1


def _evaluated(project: Project, collection: Collection) -> Evaluation:
    classified = classify_project(project, cache_of_test())
    truth = read_truth(collection.truth, project.classes.graph)
    return evaluate(project, classified, truth)


@pytest.mark.slow
def test_adopted_folds_are_shown_and_cause_a_fit_only_where_labels_are_concerned(
    collection: Collection,
) -> None:
    with Project.open(collection.project) as project:
        live = LiveCollection(project, cache_of_test())
        live.load()
        ids = live.state.image_ids
        assert live.state.folds.count == 0
        unlabelled = ids[live.state.label_class < 0][:2].tolist()
        _taken(project, unlabelled)
        live.adopt_folds(folds_of_project(project, cache_of_test(), looks=False))
        assert live.state.folds.of(np.array(unlabelled)).tolist() == [0, 0]
        assert not live.is_behind
        labelled = ids[live.state.label_class >= 0][:2].tolist()
        _taken(project, labelled)
        live.adopt_folds(folds_of_project(project, cache_of_test(), looks=False))
        assert live.is_behind == (live.state.folds.of(np.array(labelled)) != ALONE).all()
        live.embedded.close()


def test_bursts_are_of_one_camera_by_moments(collection: Collection) -> None:
    """Different serial numbers are different cameras; a clock change does not end a burst."""
    with Project.open(collection.project) as project:
        ids = list(project.images.table().ids)[:4]
        summer, winter = (NOON.replace(tzinfo=timezone(timedelta(hours=hours))) for hours in (2, 1))
        details = (
            (ids[0], summer, "SN-1"),
            (ids[1], winter - timedelta(hours=1), "SN-1"),
            (ids[2], summer, "SN-2"),
            (ids[3], winter, "SN-1"),
        )
        project.details.store(
            ImageDetails(image_id, 1, 1, 1, when, "Trap", fields={"serial": serial})
            for image_id, when, serial in details
        )
        assert sequence_names(project) == dict.fromkeys(ids[:2], f"s{ids[0]}")


def test_pages_and_frames_that_look_alike_are_no_copies() -> None:
    """Pages share a layout and frames a background, so only equal files are duplicates."""
    paths, parts = (
        ["a.pdf", "a.pdf", "b.pdf", "c.mp4", "d.mp4"],
        ["page=1", "page=2", "page=1", "t=0", "t=0"],
    )
    keys = np.array([b"1" * 16, b"2" * 16, b"1" * 16, b"3" * 16, b"4" * 16], dtype="S16")
    count = len(paths)
    given = FoldInput(
        np.arange(count),
        paths,
        parts,
        keys,
        ShotTimes.unknown(count),
        np.full(count, -1),
        np.zeros((0, 2), np.int16),
        0,
    )
    prints = replace(Fingerprints.none(count), bits=np.full(count, 2**40 + 77, dtype=np.uint64))
    folds = find_folds(given, prints)
    assert folds.image_ids.tolist() == [0, 2]
    whole = find_folds(replace(given, parts=()), prints)
    assert whole.image_ids.tolist() == [0, 1, 2, 3, 4]
