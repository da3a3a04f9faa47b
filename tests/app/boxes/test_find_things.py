"""Object detection: started from a dialog, run in a child process, accepted by threshold."""

from pathlib import Path

import pytest
from PySide6.QtWidgets import QPushButton

from app.boxes.logic import threshold_choices
from app.importing.controller import Importing
from engine.collection.state import ImageStatus
from tests.support.desk import Desk
from tests.support.detector_networks import picture_of_discs, write_detector
from tests.support.images import encoded


@pytest.mark.slow
def test_boxes_of_a_detector_become_images(
    reviewing: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, size = tmp_path / "discs", (160, 90)
    folder.mkdir()
    for number in range(3):
        disc = (40.0 + 20 * number, 40.0, 12.0, True)
        (folder / f"{number}.png").write_bytes(encoded(picture_of_discs(size, [disc]), "PNG"))
    count = len(reviewing.state.image_ids)
    reviewing.window.of(Importing).take([folder])
    reviewing.wait(lambda: len(reviewing.state.image_ids) == count + 3)
    reviewing.wait(lambda: bool((reviewing.state.status == ImageStatus.READY).all()))
    model = write_detector(tmp_path / "discs.onnx")
    monkeypatch.setattr("app.boxes.controller.open_file", lambda *_arguments: model)
    reviewing.window.registry.trigger("find_things")
    notice = reviewing.window.workspace.notice
    reviewing.wait(lambda: notice.isVisible() and any("box" in text for text in notice.answers))
    text = next(iter(notice.answers))
    reviewing.click(next(each for each in notice.findChildren(QPushButton) if each.text() == text))
    reviewing.wait(lambda: bool(reviewing.state.detections))
    assert "red" in {each.category for each in reviewing.state.detections.values()}
    reviewing.window.registry.trigger("undo")
    reviewing.wait(lambda: len(reviewing.state.image_ids) == count + 3)


def test_thresholds_that_change_nothing_are_not_offered() -> None:
    counts = [(100 - percent, 10) for percent in range(101)]
    assert [percent for percent, _ in threshold_choices(counts)] == [20, 50, 80]
    assert [percent for percent, _ in threshold_choices([(7, 3)] * 101)] == [20]
    assert threshold_choices([(0, 0)] * 101) == []
