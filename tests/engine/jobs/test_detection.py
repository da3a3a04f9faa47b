"""What the worker finds in files, as the window asks."""

from pathlib import Path

from engine.detection.messages import DetectionSummary, FindThings, FoundBatch, SearchedFile
from tests.support.detector_networks import picture_of_discs, write_detector
from tests.support.detectors import examined_detector, farthest_edge
from tests.support.images import encoded
from tests.support.served import served


def test_things_in_files(tmp_path: Path) -> None:
    """Boxes, failures and counts arrive as they were sent."""
    disc, size = (60.0, 50.0, 12.0, True), (160, 100)
    photo = tmp_path / "disc.png"
    photo.write_bytes(encoded(picture_of_discs(size, [disc]), "PNG"))
    model = write_detector(tmp_path / "discs.onnx")
    files = SearchedFile(3, photo), SearchedFile(4, tmp_path / "gone.png")
    answer = served(FindThings(files, model, examined_detector(model), 0.3, "cpu"))
    assert answer.status == 0
    assert isinstance(answer.ending, DetectionSummary)
    assert (answer.ending.searched, answer.ending.boxes, answer.ending.failure_count) == (1, 1, 1)
    found = {each.file.image_id: each for batch in answer.of(FoundBatch) for each in batch.files}
    assert "not there" in found[4].failure
    (detection,) = found[3].detections
    assert detection.category == "red"
    assert farthest_edge(detection, disc, size) <= 2
