"""Files of phones, cameras, scanners and microscopes, from the drop to the image view."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import Qt

from engine.collection.state import ImageStatus
from tests.support.desk import Desk
from tests.support.images import encoded, exif_with_orientation, picture
from tests.support.new_project import begin_with
from tests.support.raw_photos import raw_photo
from tests.support.widgets import texts

Key = Qt.Key
READ = {"IMG_1.HEIC", "IMG_2.avif", "P1.RW2", "P2.cr3", "P4.JPG", "cells.tif", "scan.tiff"}
REFUSED = {"IMG_3.heic": "Damaged HEIC", "P3.NEF": "RAW photo without a preview"}


@pytest.fixture
def card(tmp_path: Path) -> Path:
    """Six images, two unreadable files, a RAW photo with its JPEG, and a video."""
    folder = tmp_path / "card"
    folder.mkdir()
    frames = [Image.fromarray(picture(600, 400, seed=seed)) for seed in range(3)]
    heic = encoded(frames[0], "HEIF", exif=exif_with_orientation(6), quality=90)
    preview = encoded(frames[1], "JPEG")
    contents = {
        "IMG_1.HEIC": heic,
        "IMG_2.avif": encoded(frames[1], "AVIF"),
        "IMG_3.heic": heic[:400],
        "P1.RW2": raw_photo("RW2", preview, orientation=8),
        "P2.cr3": raw_photo("CR3", preview + b"\x00"),
        "P3.NEF": raw_photo("NEF"),
        "P4.NEF": raw_photo("NEF", preview),
        "P4.JPG": preview + b"\x01",
        "cells.tif": encoded(np.arange(256 * 256, dtype=np.uint16).reshape(256, 256) // 16, "TIFF"),
        "scan.tiff": encoded(frames[2], "TIFF", save_all=True, append_images=frames[:2]),
        "clip.WMV": b"x",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.slow
def test_a_card_of_many_kinds(desk: Desk, card: Path) -> None:
    """Read, or with a reason; a photo stored twice is added once; three pages are three images."""
    begin_with(desk, [card])
    desk.wait(lambda: "1 WMV was skipped" in desk.window.toast.message)
    assert (
        "1 RAW photo was skipped: the camera stored it as JPEG or HEIC, too"
        in desk.window.toast.message
    )
    desk.wait_until_read()
    status = {
        Path(path).name: state
        for path, state in zip(desk.state.paths, desk.state.status.tolist(), strict=True)
    }
    assert {name for name, state in status.items() if state == ImageStatus.FAILED} == set(REFUSED)
    assert set(status) == READ | REFUSED.keys()
    assert len(desk.state.image_ids) == len(status) + 2
    cards = {
        Path(path).name: int(image_id)
        for path, image_id in zip(desk.state.paths, desk.state.image_ids, strict=True)
    }
    for name, reason in REFUSED.items():
        choose(desk, cards[name])
        assert reason in texts(desk.window.inspector)
    view = desk.window.workspace.image_view
    for name in sorted(cards.keys() - REFUSED.keys()):
        choose(desk, cards[name])
        desk.press(Key.Key_Space)
        desk.wait(lambda: view.has_image)
        if name == "scan.tiff":
            desk.wait(lambda: "scan.tiff, page 3" in texts(view.bar))
        desk.press(Key.Key_Escape)


def choose(desk: Desk, image_id: int) -> None:
    """Select the card of an image."""
    row = desk.window.workspace.model.row_of(image_id)
    assert row is not None
    desk.choose(row)
