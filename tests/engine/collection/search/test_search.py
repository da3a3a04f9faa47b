"""Search results; updated columns equal those read from the project."""

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from engine.collection.details import as_stored
from engine.collection.search.columns import NO_TIME, ImageColumns, TextColumn, read_columns
from engine.collection.search.metadata import ImageMetadata
from engine.collection.search.query import QueryError
from engine.collection.state import CollectionState, Sorting
from engine.files import FoundFile, PhotoDetails
from engine.image_fields import CAMERA_TRAP, FieldKind, ImageField
from engine.images.details_messages import FileDetails
from engine.project import Change, Project
from engine.project.clock import time_text
from engine.project.clock_corrections import ClockCorrection
from engine.project.records import FileChange, ImageDetails
from tests.support.projects import new_project
from tests.support.states import Picture, state_of

NAMES = (
    "site1/IMG_2.JPG",
    "site1/IMG_10.JPG",
    "Site 2/fuchs.jpg",
    "Site 2/Möwe.png",
    "other/a.tif",
    "top.jpg",
)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    opened = new_project(tmp_path)
    sizes = (100_000, 3_000_000, 2_000_000, 10, 20, 30)
    opened.images.add(
        [FoundFile(tmp_path / name, size, 7) for name, size in zip(NAMES, sizes, strict=True)]
    )
    _, animal = opened.classes.add("Animal")
    _, fox = opened.classes.add("Red fox", (animal,))
    opened.labels.set([1], fox)
    opened.labels.set([2], animal, source="import")
    opened.labels.set([3], None)
    opened.details.store(details())
    opened.notes.set_stars([1, 3], 4)
    opened.notes.set_flagged([2], True)
    opened.notes.set_comment([4], "Blurred wing")
    distance, antlers = (
        ImageField("distance", FieldKind.NUMBER),
        ImageField("antlers", FieldKind.YES_NO),
    )
    opened.fields.define([*CAMERA_TRAP, distance, antlers, ImageField("remark", FieldKind.TEXT)])
    opened.fields.set([1, 2], "count", "12")
    opened.fields.set([3], "count", "2")
    opened.fields.set([1, 4], "sex", "female")
    opened.fields.set([2], "sex", "male")
    opened.fields.set([5], "life stage", "juvenile")
    opened.fields.set([5], "distance", "-1.5")
    opened.fields.set([6], "antlers", "no")
    opened.fields.set([6], "remark", "Left ear torn")
    yield opened
    opened.close()


def details() -> list[ImageDetails]:
    return [
        ImageDetails(
            1,
            7,
            4000,
            3000,
            datetime.fromisoformat("2024-05-03T23:59:59+09:00"),
            "RECONYX HYPERFIRE 2",
            -3.5,
            37.2,
            {"title": "At the feeder", "keywords": "night\nbait"},
        ),
        ImageDetails(
            2,
            7,
            640,
            480,
            datetime.fromisoformat("1899-12-31T12:00:00"),
            "NIKON D70",
            None,
            None,
            {},
        ),
        ImageDetails(
            3, 7, 640, 480, None, "", None, None, {"description": "Ein Fuchs in der Nähe"}
        ),
    ]


@pytest.fixture
def metadata(project: Project) -> ImageMetadata:
    opened = ImageMetadata(project)
    opened.read()
    return opened


def found(metadata: ImageMetadata, project: Project, query: str) -> list[int]:
    return metadata.search(query, searched_state(metadata, project), project.classes.graph).tolist()


def why_nothing(metadata: ImageMetadata, project: Project, query: str) -> str | None:
    return metadata.why_nothing(query, searched_state(metadata, project), project.classes.graph)


def searched_state(metadata: ImageMetadata, project: Project) -> CollectionState:
    ids = [image_id for image_id, _ in project.images.each_path()]
    classes = {each: label.class_id for each, label in project.labels.by_image().items()}
    state = state_of([Picture()] * len(ids))
    labels = [
        -1 if each not in classes else -2 if classes[each] is None else classes[each]
        for each in ids
    ]
    return replace(
        state,
        image_ids=np.array(ids),
        label_class=np.array(labels, dtype=np.int64),
        best_class=np.array([-1, -1, -1, 2, 2, -1][: len(ids)], dtype=np.int64),
        best_score=np.array([0, 0, 0, 0.9, 0.4, 0][: len(ids)], dtype=np.float32),
        is_unknown=np.zeros(len(ids), dtype=bool),
        fields=metadata.fields,
        field_values=metadata.field_values,
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", [1, 2, 3, 4, 5, 6]),
        ("img", [1, 2]),
        ("name:IMG_1", [2]),
        ("fuchs", [3]),
        ("mowe", [4]),
        ("MÖWE", [4]),
        ("site", [1, 2, 3, 4]),
        ('"site 2"', [3, 4]),
        ("folder:site1", [1, 2]),
        ("folder:img", []),
        ("nähe", [3]),
        ("feeder", [1]),
        ("keyword:bait", [1]),
        ("bait", [1]),
        ("wing", [4]),
        ("comment:blurred", [4]),
        ("date:2024-05", [1]),
        ("date:2024-05-03", [1]),
        ("date:<1900", [2]),
        ("date:2020..", [1]),
        ("-has:date", [3, 4, 5, 6]),
        ("camera:reconyx", [1]),
        ("camera:d70", [2]),
        ("has:camera", [1, 2]),
        ("class:animal", [1, 2, 4, 5]),
        ('class:"Red fox"', [1, 4, 5]),
        ("class:Animal/Red", [1, 4, 5]),
        ("-class:Animal", [3, 6]),
        ("labelled", [1, 2, 3]),
        ("unlabelled", [4, 5, 6]),
        ("unknown", [3]),
        ("flagged", [2]),
        ("stars:4", [1, 3]),
        ("stars:0", [2, 4, 5, 6]),
        ("has:comment", [4]),
        ("has:place", [1]),
        ("size:>2MB", [2]),
        ("size:2MB", [3]),
        ("source:import", [2]),
        ("source:rev", [1, 3]),
        ("score:>=0.9", [4]),
        ("score:<0.9", [5]),
        ("width:>=1000", [1]),
        ("height:<500", [2, 3]),
        ("has:title", [1]),
        ("has:keywords", [1]),
        ("has:description", [3]),
        ("unlabelled -mowe", [5, 6]),
        ("site stars:>=1 -feeder", [3]),
        ("unreadable", []),
        ("count:>3", [1, 2]),
        ("count:2", [3]),
        ("count:1..5", [3]),
        ("has:count", [1, 2, 3]),
        ("sex:female", [1, 4]),
        ("sex:male", [2]),
        ("-has:sex", [3, 5, 6]),
        ("lifestage:juv", [5]),
        ("distance:<0", [5]),
        ("distance:-1.5", [5]),
        ("antlers:no", [6]),
        ("antlers:yes", []),
        ("remark:TORN", [6]),
        ("sex:female count:>3", [1]),
        ("fuchs OR mowe", [3, 4]),
        ("site fuchs OR mowe", [3, 4]),
        ("fuchs OR img_2 OR other", [1, 3, 5]),
        ("fuchs OR mowe -unlabelled", [3]),
        ("fuchs OR -has:date", [3, 4, 5, 6]),
        ('"OR"', []),
        ("or", []),
        ("img*", [1, 2]),
        ("*.jpg", [1, 2, 3, 6]),
        ("img_*0.jpg", [2]),
        ("name:*uch", []),
        ("m*we", [4]),
        ("comment:blur*", [4]),
        ("remark:t*n", [6]),
        ("class:red*", [1, 4, 5]),
        ("class:*imal", [1, 2, 4, 5]),
        ('"site 2" OR top', [3, 4, 6]),
        ("keyword:n*t", [1]),
        ("*", [1, 2, 3, 4, 5, 6]),
    ],
)
def test_search(metadata: ImageMetadata, project: Project, query: str, expected: list[int]) -> None:
    assert found(metadata, project, query) == expected


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("fuchs", None),
        ("fuchs dragon", "Nothing matches “dragon”."),
        ("fuchs mowe", "Each part matches images, but no image matches all of them."),
        ("dragon OR griffin fuchs", "Nothing matches “dragon OR griffin”."),
        ("fuchs or mowe", "Nothing matches “or”. Did you mean OR?"),
        ("fox", "Nothing matches “fox”. Did you mean class:fox?"),
        ("unlabeled", "Nothing matches “unlabeled”. Did you mean unlabelled?"),
        ('"red fox"', 'Nothing matches “"red fox"”. Did you mean class:"red fox"?'),
    ],
)
def test_the_part_that_matches_nothing_is_named(
    metadata: ImageMetadata, project: Project, query: str, expected: str | None
) -> None:
    """With a suggestion: OR, a class, or a fact."""
    assert why_nothing(metadata, project, query) == expected


def test_a_class_that_is_not_there(metadata: ImageMetadata, project: Project) -> None:
    with pytest.raises(QueryError, match="character 5"):
        found(metadata, project, "fox class:Unicorn")


@pytest.mark.parametrize(
    "query", ["colour:red", "sex:neuter", "antlers:perhaps", "distance:far", "has:wings"]
)
def test_values_that_no_field_takes_are_not_searched(
    metadata: ImageMetadata, project: Project, query: str
) -> None:
    with pytest.raises(QueryError):
        found(metadata, project, query)


def test_fields_that_are_defined_later_are_searched(
    metadata: ImageMetadata, project: Project
) -> None:
    metadata.update(project.fields.define([ImageField("site", FieldKind.TEXT)]))
    metadata.update(project.fields.set([2], "site", "North"))
    assert found(metadata, project, "site:north") == [2]


def test_values_of_a_replaced_picture_are_found_no_more(
    metadata: ImageMetadata, project: Project
) -> None:
    later = time_text(datetime.now(UTC) + timedelta(hours=1))
    project.file_changes.record([FileChange(3, 5, 5, b"x", later)])
    metadata.store_details([], has_replaced=True)
    assert found(metadata, project, "has:count") == [1, 2]


def test_a_corrected_clock_moves_dates(metadata: ImageMetadata, project: Project) -> None:
    assert found(metadata, project, "date:2024-05-04") == []
    metadata.update(project.clocks.set(ClockCorrection("site1", seconds=60)))
    assert found(metadata, project, "date:2024-05-04") == [1]
    metadata.store_details(
        [FileDetails(2, 7, PhotoDetails(1, 1, datetime.fromisoformat("2024-05-03T23:59:30")))]
    )
    assert found(metadata, project, "date:2024-05-04") == [1, 2]


def test_sorting(metadata: ImageMetadata) -> None:
    columns = metadata.columns(np.arange(1, 7))

    def order(by: Sorting) -> list[int]:
        return columns.ids[np.argsort(columns.ranks(by))].tolist()

    assert order(Sorting.NAME) == [5, 3, 1, 2, 4, 6]
    assert order(Sorting.TAKEN) == [2, 1, 3, 4, 5, 6]
    assert order(Sorting.FOLDER) == [6, 5, 1, 2, 3, 4]
    assert order(Sorting.SIZE) == [2, 3, 1, 6, 5, 4]


def assert_same(updated: ImageColumns, fresh: ImageColumns) -> None:
    """Check that updated columns equal columns read again."""
    assert updated.ids.tolist() == fresh.ids.tolist()
    assert list(updated.files.names) == list(fresh.files.names)
    assert [updated.files.folders[code] for code in updated.files.folder_code] == [
        fresh.files.folders[code] for code in fresh.files.folder_code
    ]
    assert updated.details.taken.tolist() == fresh.details.taken.tolist()
    assert [updated.details.cameras[code] for code in updated.details.camera_code] == [
        fresh.details.cameras[code] for code in fresh.details.camera_code
    ]
    np.testing.assert_array_equal(updated.details.latitude, fresh.details.latitude)
    assert updated.details.texts == fresh.details.texts
    assert [updated.labels.sources[code] for code in updated.labels.code] == [
        fresh.labels.sources[code] for code in fresh.labels.code
    ]
    assert updated.notes.by_image == fresh.notes.by_image
    assert updated.notes.stars.tolist() == fresh.notes.stars.tolist()


@pytest.mark.slow
def test_columns_are_updated_by_any_change(
    project: Project, metadata: ImageMetadata, tmp_path: Path
) -> None:
    """Actions, undo and redo in random order."""
    chance = random.Random(5)
    metadata.columns(np.arange(1, 7))
    for step in range(60):
        ids = [image_id for image_id, _ in project.images.each_path()]
        some = chance.sample(ids, min(2, len(ids)))
        act = chance.randrange(8)
        if act == 0:
            change: Change | None = project.images.add(
                [FoundFile(tmp_path / f"new{step}/{step}.jpg", step, 1)]
            )
        elif act == 1 and len(ids) > 2:
            change = project.images.remove(some[:1])
        elif act == 2:
            change = project.labels.set(some, None, source=chance.choice(["import", "review"]))
        elif act == 3:
            change = project.labels.remove(some)
        elif act == 4:
            change = project.notes.set_stars(some, chance.randrange(6))
        elif act == 5:
            change = project.notes.set_comment(some, chance.choice(["", "seen", "again"]))
        elif act == 6:
            metadata.store_details(
                [
                    FileDetails(
                        some[0],
                        step,
                        PhotoDetails(
                            step, 1, camera=f"c{step % 3}", fields={"title": "t" * (step % 2)}
                        ),
                    )
                ]
            )
            continue
        else:
            change = project.history.undo() if chance.random() < 0.6 else project.history.redo()
        if change is None:  # nothing to undo or redo
            continue
        metadata.update(change)
        here = np.array([image_id for image_id, _ in project.images.each_path()], dtype=np.int64)
        assert_same(metadata.columns(here), read_columns(project))


def test_text_column() -> None:
    column = TextColumn(["Abc", "", "bcd\nab", "Straße", "x\udc80y"])
    assert column.containing("BC").tolist() == [True, False, True, False, False]
    assert column.containing("strasse").tolist() == [False, False, False, True, False]
    assert column.containing("dab").tolist() == [False] * 5
    assert column.containing("").tolist() == [True] * 5
    assert column.containing("z" * 500).tolist() == [False] * 5
    assert column.is_filled.tolist() == [True, False, True, True, True]
    assert len(TextColumn([])) == 0


def test_dates_are_those_on_the_wall(metadata: ImageMetadata) -> None:
    taken = metadata.columns(np.arange(1, 7)).details.taken
    assert datetime.fromtimestamp(int(taken[0]), UTC).isoformat() == "2024-05-03T23:59:59+00:00"
    assert taken[2] == NO_TIME


@pytest.mark.slow
def test_details_as_they_are_stored(project: Project) -> None:
    stored = as_stored(
        [FileDetails(5, 9, PhotoDetails(3, 4, None, "C", 1.5, -2.5, {"iso": "100"}))]
    )
    project.details.store(stored)
    assert project.details.of(5) == stored[0]
