"""Previews of exports use the project's images in any format, without copying them."""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.collection.state import CollectionState
from engine.exporting.export import Which
from engine.exporting.preview import (
    LONGEST_LINE,
    MOST_LINES,
    _places,
    chosen_images,
    preview_export,
)
from engine.graph.codes import BOXED, NO_CLASS, UNKNOWN
from engine.interchange.labelled_images.formats import FORMATS, FormatGroup
from engine.interchange.labelled_images.table_rows import COLUMNS
from tests.support.labelled_images import Labelled
from tests.support.states import Picture, state_of


@pytest.fixture
def state(music: Labelled) -> CollectionState:
    """The project's state."""
    labels = music.project.labels.by_image()

    def picture(image_id: int) -> Picture:
        label, answer = labels.get(image_id), music.answers.get(image_id)
        code = NO_CLASS if label is None else UNKNOWN if label.class_id is None else label.class_id
        if answer is None:
            return Picture(code)
        safe = NO_CLASS if answer.safe_id is None else answer.safe_id
        return Picture(
            code, answer.leaf_id, answer.leaf_score, safe, answer.safe_score, answer.is_unknown
        )

    ids = [image.image_id for image in music.project.images.records()]
    return state_of(
        [picture(image_id) for image_id in ids], first_id=ids[0], folder=music.project.path.parent
    )


def test_how_many_and_how_large(music: Labelled, state: CollectionState) -> None:
    """Counts equal the export's; sizes are those of files."""
    chosen = chosen_images(music.project, state)
    for which in Which:
        gathered = music.gathered(which).images
        assert chosen[which].count == len(gathered)
        assert chosen[which].size_bytes == sum(image.file.stat().st_size for image in gathered)


def test_photos_of_boxes_and_hidden_images_are_not_counted(
    music: Labelled, state: CollectionState
) -> None:
    """The boxes of a photo have its labels; hidden images are not exported."""
    before = {which: one.count for which, one in chosen_images(music.project, state).items()}
    place = int(np.flatnonzero(state.is_labelled)[0])
    codes = state.label_class.copy()
    codes[place] = BOXED
    boxed = replace(state, label_class=codes)
    after = {which: one.count for which, one in chosen_images(music.project, boxed).items()}
    assert after == before | {which: before[which] - 1 for which in (Which.VERIFIED, Which.SURE)}
    hidden = replace(state, hidden=frozenset({int(state.image_ids[place])}))
    assert all(
        one.count == before[which] - 1
        for which, one in chosen_images(music.project, hidden).items()
    )


@pytest.mark.slow
def test_every_format_has_one(
    music: Labelled, state: CollectionState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short, with all kinds of images, and without leftovers."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    for name, one in FORMATS.items():
        shown = preview_export(music.project, state, one, Which.SURE)
        assert shown.images == len(music.gathered(Which.SURE).images), name
        assert bool(shown.rows) == (one.group is FormatGroup.TABLES), name
        assert shown.rows or shown.lines, name
        assert len(shown.lines) <= MOST_LINES + 1, name
        assert all(len(line) <= LONGEST_LINE + 1 for line in shown.lines), name
        assert list(scratch.iterdir()) == [], name


def test_a_table_has_the_first_rows(music: Labelled, state: CollectionState) -> None:
    shown = preview_export(music.project, state, FORMATS["csv"], Which.VERIFIED)
    cells = [dict(zip(shown.columns, row, strict=True)) for row in shown.rows]
    assert shown.columns == COLUMNS
    assert [row["class"] for row in cells] == ["Piano", "Organ", "unknown", "Trio: A/B?"]
    assert [row["labelled_by"] for row in cells][:2] == ["ada", "grace"]


def test_a_folder_has_its_tree(music: Labelled, state: CollectionState) -> None:
    """Folders with their content; tables come last."""
    shown = preview_export(music.project, state, FORMATS["folders"], Which.SURE)
    assert shown.lines[:3] == ("Keyboard/", "    Organ/", "        organ.png")
    assert shown.lines[-2:] == ("classes.csv", "images.csv")


def test_of_many_images_several_classes_are_shown(music: Labelled, state: CollectionState) -> None:
    """Not eight of the first class."""
    many = 200
    ids = np.arange(1, many + 1)
    assert len(state.image_ids) < many
    pictures = [Picture(int(1 + place // 50)) for place in range(many)]
    large = state_of(pictures, first_id=1)
    places = _places(large, Which.VERIFIED, is_varied=True)
    assert [int(ids[place]) for place in places] == [1, 2, 51, 52, 101, 102, 151, 152]


def test_a_project_without_images(music: Labelled) -> None:
    shown = preview_export(music.project, state_of([]), FORMATS["folders"], Which.SURE)
    assert shown.images == 0


def test_archives_and_folders_of_tables_are_shown_from_the_inside(
    music: Labelled, state: CollectionState
) -> None:
    """Names alone would tell nothing about the project."""
    archive = preview_export(music.project, state, FORMATS["darwin-core"], Which.SURE).lines
    assert archive[:2] == ("eml.xml", "identification.csv")
    assert "occurrence.csv:" in archive
    assert any("piano.png" in line for line in archive)
    sidecars = preview_export(music.project, state, FORMATS["xmp"], Which.VERIFIED).lines
    assert sum(line.endswith(".xmp:") for line in sidecars) == 1
    assert any("labelled_by>ada<" in line for line in sidecars)
