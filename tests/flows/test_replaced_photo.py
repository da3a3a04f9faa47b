"""A labelled photo replaced by another file: detected by F5, asked about, settled."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt

from app.inspector.image_page import ImagePage
from app.moved_images.controller import MovedImages
from tests.support.collections import Collection
from tests.support.desk import Desk

pytestmark = pytest.mark.slow

CTRL = Qt.KeyboardModifier.ControlModifier
LABELLED = "shots/Red/Red disc/0.png"


def write_photo(path: Path, seed: int) -> None:
    """Write random smooth colours as a photo with another modification time."""
    generator = np.random.default_rng(seed)
    coarse = Image.fromarray(generator.integers(0, 256, (6, 8, 3)).astype(np.uint8))
    later_ns = path.stat().st_mtime_ns + 10**9
    coarse.resize((320, 240), Image.Resampling.BICUBIC).save(path)
    os.utime(path, ns=(later_ns, later_ns))


@pytest.fixture
def asked(desk: Desk, collection: Collection) -> tuple[Desk, int]:
    """A replaced photo after F5; returns window and image, which is selected."""
    desk.open(collection.project)
    desk.wait_until_read()
    write_photo(collection.folder / LABELLED, 5)
    desk.press(Qt.Key.Key_F5)
    desk.wait(lambda: len(desk.state.outdated) == 1)
    desk.wait_until_read()
    (image_id,) = desk.state.outdated
    notice = desk.window.workspace.replaced_notice
    desk.wait(notice.isVisible)
    notice.answer(next(iter(notice.answers)))
    desk.wait(lambda: desk.grid.model().rowCount() == 1)
    assert desk.choose(0) == image_id
    return desk, image_id


def page_of(desk: Desk) -> ImagePage:
    """The image page of the inspector."""
    page = desk.window.inspector.findChild(ImagePage)
    assert isinstance(page, ImagePage)
    return page


def detail_of(desk: Desk, image_id: int) -> str:
    """The second line of a card."""
    card = desk.window.workspace.model.card_of(image_id)
    assert card is not None
    return card.detail


def test_the_label_is_confirmed_by_mouse(asked: tuple[Desk, int]) -> None:
    """Until then the label does not count; undo asks again."""
    desk, image_id = asked
    assert desk.label_of(image_id) == ""
    assert detail_of(desk, image_id) == "Photo replaced"
    label = page_of(desk).label
    desk.wait(label.confirm.isVisible)
    desk.click(label.confirm)
    desk.wait(lambda: desk.label_of(image_id) == "Red disc")
    assert not desk.state.outdated
    assert detail_of(desk, image_id) != "Photo replaced"
    desk.press_for_change(Qt.Key.Key_Z, CTRL)
    assert set(desk.state.outdated) == {image_id}
    assert desk.label_of(image_id) == ""


def test_it_is_asked_again(asked: tuple[Desk, int]) -> None:
    """The label is removed by a button; undo asks again."""
    desk, image_id = asked
    desk.wait(page_of(desk).label.remove.isVisible)
    desk.click(page_of(desk).label.remove)
    desk.wait(lambda: not desk.state.outdated)
    desk.wait(lambda: desk.window.session.is_settled)
    assert desk.label_of(image_id) == ""
    desk.press_for_change(Qt.Key.Key_Z, CTRL)
    assert set(desk.state.outdated) == {image_id}


def test_a_digit_labels_the_new_photo(asked: tuple[Desk, int]) -> None:
    """A digit labels as for any unlabelled image, and settles the question."""
    desk, image_id = asked
    desk.press_for_change(Qt.Key.Key_1)
    assert desk.label_of(image_id)
    assert not desk.state.outdated


def test_reopening_looks_too(desk: Desk, collection: Collection, tmp_path: Path) -> None:
    """Replaced while the project was closed; restoring the old photo settles it automatically."""
    path, kept = collection.folder / LABELLED, tmp_path / "kept.png"
    shutil.copyfile(path, kept)
    write_photo(path, 6)
    desk.open(collection.project)
    desk.wait(lambda: len(desk.state.outdated) == 1)
    desk.wait_until_read()
    later_ns = path.stat().st_mtime_ns + 10**9
    shutil.copyfile(kept, path)
    os.utime(path, ns=(later_ns, later_ns))
    desk.window.of(MovedImages).read_images()
    desk.wait(lambda: not desk.state.outdated)
    assert not desk.window.workspace.replaced_notice.isVisible()
