"""A run of a detector over files."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from engine.detection.detector import ObjectDetector
from engine.detection.find_things import find_things
from engine.detection.messages import DetectionSummary, FoundThings, SearchedFile
from engine.errors import Cancelled
from engine.events import CancelToken
from engine.images.read_file import file_hash
from tests.support.detector_networks import picture_of_discs
from tests.support.detectors import opened_detector
from tests.support.fake_gpu import FAKE_GPU, install_fake_gpu
from tests.support.images import encoded


def write_photos(folder: Path, count: int = 5) -> list[SearchedFile]:
    """Photos with none, one, two ... discs, the second of them high."""
    files = []
    for number in range(count):
        size = (200, 320) if number == 1 else (320, 200)
        discs = [(40 + 60 * place, 60.0, 15.0, False) for place in range(number)]
        path = folder / f"{number}.jpg"
        path.write_bytes(encoded(picture_of_discs(size, discs), "JPEG", quality=95))
        files.append(SearchedFile(100 + number, path))
    return files


def run(
    detector: ObjectDetector, files: Iterable[SearchedFile]
) -> tuple[list[FoundThings], DetectionSummary]:
    """What is found, by image."""
    found: list[FoundThings] = []
    summary = find_things(files, detector, found.extend)
    return sorted(found, key=lambda each: each.file.image_id), summary


def test_files_and_failures(tmp_path: Path) -> None:
    """A file that cannot be read is a line, and the others go on."""
    files = write_photos(tmp_path)
    (tmp_path / "3.jpg").write_bytes(b"no picture")
    files.append(SearchedFile(200, tmp_path / "gone.jpg"))
    found, summary = run(opened_detector(tmp_path / "discs.onnx"), files)
    assert [len(each.detections) for each in found] == [0, 1, 2, 0, 4, 0]
    assert [bool(each.failure) for each in found] == [False, False, False, True, False, True]
    assert [each.is_unreachable for each in found][3:] == [False, False, True]
    assert found[2].content_hash == file_hash(files[2].path)
    assert (summary.searched, summary.with_things, summary.boxes, summary.failure_count) == (
        4,
        3,
        7,
        2,
    )
    assert dict(summary.failed)[files[-1]].startswith("the file is not there")
    assert (summary.device_name, summary.notice) == ("CPU", "")


@pytest.mark.slow
def test_a_cancel_keeps_what_was_found(tmp_path: Path) -> None:
    """The next run is given the files that are left."""
    files, cancel = write_photos(tmp_path, 12), CancelToken()
    detector = opened_detector(tmp_path / "discs.onnx")
    found: list[FoundThings] = []

    def until_cancelled() -> Iterator[SearchedFile]:
        yield from files[:6]
        cancel.cancel()
        yield from files[6:]

    with pytest.raises(Cancelled):
        find_things(until_cancelled(), detector, found.extend, cancel=cancel, total=len(files))
    assert 0 < len(found) < len(files)
    done = {each.file for each in found}
    rest, summary = run(detector, [file for file in files if file not in done])
    assert summary.searched == len(files) - len(found)
    assert {each.file for each in rest} | done == set(files)


@pytest.mark.slow
def test_batches_beside_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same is found, with pictures of one size in one run."""
    install_fake_gpu(monkeypatch)
    files = [*write_photos(tmp_path), SearchedFile(300, tmp_path / "gone.jpg")]
    sides = ("height", "width")
    alone, _ = run(opened_detector(tmp_path / "discs.onnx", sides=sides), files)
    detector = opened_detector(tmp_path / "discs.onnx", choice=FAKE_GPU, sides=sides)
    assert detector.is_on_gpu
    detector.batch_size = 3
    together, summary = run(detector, files)
    assert together == alone
    assert summary.device_name == "GPU 1"


@pytest.mark.slow
def test_a_gpu_that_fails_gives_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CPU takes over, and the run says so."""
    install_fake_gpu(monkeypatch, runs=1)
    files = write_photos(tmp_path)
    detector = opened_detector(tmp_path / "discs.onnx", choice=FAKE_GPU)
    found, summary = run(detector, files)
    assert [len(each.detections) for each in found] == [0, 1, 2, 3, 4]
    assert summary.device_name == "CPU"
    assert "continuing on the CPU" in summary.notice


@pytest.mark.slow
def test_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One run at a time, which all cores share, finds the same."""
    files = write_photos(tmp_path)
    usual, _ = run(opened_detector(tmp_path / "discs.onnx"), files)
    monkeypatch.setattr(
        psutil, "virtual_memory", lambda: SimpleNamespace(available=1 << 20, total=1 << 33)
    )
    detector = opened_detector(tmp_path / "discs.onnx")
    assert detector.runs_at_once == 1
    found, _ = run(detector, files)
    assert found == usual
