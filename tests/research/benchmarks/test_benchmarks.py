"""The benchmarks run at small sizes and give figures; speed is not tested."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from engine.collection.live import LiveCollection
from engine.collection.models import ModelFiles
from engine.config import CacheFolders
from engine.errors import InputError, UsageError
from engine.images.decode import decode_rgb
from research.benchmarks import photos
from research.benchmarks.beside_a_fit import measure_beside_a_fit
from research.benchmarks.collection_stage import measure_collection_stage
from research.benchmarks.decoders import DECODERS, measure_decoders
from research.benchmarks.embedding import EmbedFigures, Peer, measure_embed
from research.benchmarks.embedding_boxes import drawn_boxes, measure_boxes
from research.benchmarks.files import FilesFigures, FilesRun, measure_files
from research.benchmarks.files_steps import StepFigures
from research.benchmarks.many_classes import Size, measure_many_classes
from research.benchmarks.photos import PhotoKind, draw_photos
from research.benchmarks.synthetic import synthetic_embeddings, synthetic_project
from tests.support.backbones import write_tiny_backbone
from tests.support.collections import Collection
from tests.support.command_line import done, protoleaf
from tests.support.images import encoded, picture
from tests.support.raw_photos import raw_photo


@pytest.mark.slow
def test_collection_stage_at_small_size(capsys: pytest.CaptureFixture[str]) -> None:
    """Every part of one more label is timed and printed."""
    rows = {row.name: row for row in measure_collection_stage(1200, 20, rounds=2).rows}
    assert min(row.figure for row in rows.values()) > 0
    assert rows["one label more"].figure >= rows["  fitting and checking"].figure
    asked = ("benchmark", "collection", "--images", "1000", "--classes", "10")
    assert "one label more" in protoleaf(capsys, *asked).out  # speed is not tested


@pytest.mark.slow
def test_many_classes_at_small_size() -> None:
    """A class of many parents is compared with the same project without it."""
    beside = measure_many_classes(Size(classes=60, labels=80, parents=12, images=400))
    assert beside.many.size.parents == 12
    assert beside.one.size.parents == 1
    assert min(beside.time_ratio, beside.memory_ratio) > 0


@pytest.mark.slow
def test_what_a_fit_costs_others_at_small_size() -> None:
    """Labels, guesses and other threads are timed during fits, and so is stopping a fit."""
    rows = {row.name: row for row in measure_beside_a_fit(1200, rounds=2).rows}
    assert (
        min(
            rows[name].figure
            for name in ("taking a label", "laying out a fit", "guessing, an image")
        )
        > 0
    )
    assert rows["other threads wait, longest"].figure >= rows["other threads wait, 99%"].figure
    assert rows["a fit stops, longest"].figure >= 0


def test_synthetic_embeddings_cover_every_class() -> None:
    """Embeddings have unit length; classes are covered and separable; seeds are deterministic."""
    drawn = synthetic_embeddings(400, 48, classes=200)
    np.testing.assert_allclose(np.linalg.norm(drawn.embeddings, axis=1), 1, atol=1e-5)
    assert set(np.bincount(drawn.classes)) == {2}
    np.testing.assert_array_equal(
        drawn.embeddings, synthetic_embeddings(400, 48, classes=200).embeddings
    )
    similarity = drawn.embeddings @ drawn.embeddings.T
    same = drawn.classes[:, None] == drawn.classes[None, :]
    np.fill_diagonal(same, val=False)
    assert similarity[same].mean() > similarity[~same].mean() + 0.2


@pytest.mark.slow
def test_synthetic_project_is_a_project(tmp_path: Path) -> None:
    """It opens, every image has an embedding, each class five shots, and predictions follow."""
    caches = CacheFolders(tmp_path / "cache")
    live = LiveCollection.open(synthetic_project(tmp_path, caches, 1000), caches)
    state = live.load()
    assert set(state.shot_counts.values()) == {5}
    assert len(state.shot_counts) == 200
    assert (state.best_class > 0).all()
    assert live.project.check() == []
    live.close()


@pytest.mark.slow
def test_a_synthetic_project_with_boxes(tmp_path: Path) -> None:
    """Boxes are images with embeddings and labels."""
    caches = CacheFolders(tmp_path / "cache")
    live = LiveCollection.open(synthetic_project(tmp_path, caches, 400, boxes=2), caches)
    state = live.load()
    assert len(state.image_ids) == 1200
    assert set(state.shot_counts.values()) <= {1, 2, 3, 4, 5}
    assert all(
        live.project.images.record(image_id).part for image_id in live.project.labels.by_image()
    )
    assert len(state.items) == 400
    live.close()


def test_photos_with_boxes_at_small_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways are timed in turn, by wall clock and processor time."""
    kind = PhotoKind(160, 120, grain=4, quality=85, pictures=2, copies=2)
    monkeypatch.setitem(photos.KINDS, "small", kind)
    write_tiny_backbone(tmp_path / "tiny.onnx")
    figures = measure_boxes(
        3, files=4, backbone=str(tmp_path / "tiny.onnx"), device="cpu", rounds=2
    )
    assert (figures.photos, figures.boxes) == (4, 3)
    assert [row.unit for row in figures.rows] == ["s"] * 3 + ["s of processors"] * 3
    assert min(row.figure for row in figures.rows if row.unit == "s") > 0
    assert len(set(drawn_boxes(3, 0) + drawn_boxes(3, 1))) == 6


SMALL_KIND = PhotoKind(200, 150, grain=4, quality=85, pictures=3, copies=2)


@contextmanager
def peer_of_ten(_model: ModelFiles, paths: Sequence[Path]) -> Iterator[Peer]:
    """A peer that always reports ten images a second."""
    assert len(paths) == 6
    yield lambda: 10.0


def test_embed_benchmark_on_a_few_pictures(collection: Collection) -> None:
    """Decoding, backbone, pipeline and plain decoders are timed on the given files."""
    figures = measure_embed([collection.shots], device="cpu", rounds=1, most=6)
    assert (figures.images, figures.device, figures.peer, figures.over_peer) == (
        6,
        "CPU",
        None,
        None,
    )
    rates = (
        figures.decode,
        figures.inference,
        figures.pipeline,
        figures.share_of_limit,
        figures.share_of_reachable,
        figures.best_decode,
        figures.share_of_best_decode,
    )
    assert all(math.isfinite(value) and value > 0 for value in rates)
    assert figures.best_decoder in DECODERS


def test_embed_benchmark_beside_a_peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Generated photos with a backbone from a file; the ratio is to the peer's rate."""
    monkeypatch.setitem(photos.KINDS, "small", SMALL_KIND)
    write_tiny_backbone(tmp_path / "tiny.onnx")
    figures = measure_embed(
        backbone=str(tmp_path / "tiny.onnx"), device="cpu", rounds=1, open_peer=peer_of_ten
    )
    assert (figures.images, figures.peer) == (6, 10.0)
    assert figures.over_peer == pytest.approx(figures.pipeline / 10)


def test_embed_benchmark_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text has every limit; JSON has all figures."""
    monkeypatch.setitem(photos.KINDS, "large", SMALL_KIND)
    monkeypatch.setattr(EmbedFigures, "is_kept", True)  # six pictures are too few to be fast
    write_tiny_backbone(tmp_path / "tiny.onnx")
    asked = (
        "--photos",
        "large",
        "--no-peer",
        "--rounds",
        "1",
        "--device",
        "cpu",
        "--backbone",
        tmp_path / "tiny.onnx",
    )
    out = done(capsys, "benchmark", "embed", *asked).out
    assert "6 images" in out
    assert "limit 0.9 for 12-megapixel photos" in out
    assert "torch" not in out
    assert done(capsys, "benchmark", "embed", *asked, "--json").fields["peer"] is None


def test_plain_decoders_take_every_kind(tmp_path: Path) -> None:
    """Plain decoders also read HEIC and RAW files."""
    data = {
        "a.heic": encoded(picture(), "HEIF"),
        "b.cr3": raw_photo("CR3", encoded(picture(600, 400), "JPEG")),
    }
    for name, content in data.items():
        (tmp_path / name).write_bytes(content)
    rates = measure_decoders([tmp_path / name for name in data], 16, workers=2)
    assert set(rates) == set(DECODERS)
    assert all(rate > 0 for rate in rates.values())


def test_embed_benchmark_without_pictures(tmp_path: Path) -> None:
    """A folder without images and an unknown kind of photos are errors."""
    (tmp_path / "bare").mkdir()
    with pytest.raises(InputError, match="no images"):
        measure_embed([tmp_path / "bare"], device="cpu")
    with pytest.raises(UsageError, match="small, large"):
        measure_embed(photos="huge")


def test_drawn_photos(tmp_path: Path) -> None:
    """Files have the requested number and size, different contents, and are deterministic."""
    paths = draw_photos(tmp_path / "one", SMALL_KIND)
    contents = [path.read_bytes() for path in paths]
    assert len(set(contents)) == len(paths) == 6
    assert {decode_rgb(content).shape for content in contents} == {(150, 200, 3)}
    assert [path.read_bytes() for path in draw_photos(tmp_path / "two", SMALL_KIND)] == contents


@pytest.mark.parametrize("name", sorted(DECODERS))
def test_plain_decoders_decode_small(name: str) -> None:
    """A large JPEG becomes a small picture of at least the requested side."""
    pixels = picture(1600, 1200)
    decoded = DECODERS[name](encoded(pixels, "JPEG", quality=90), 128)
    assert 128 <= min(decoded.shape[:2]) < 320
    assert np.abs(decoded.mean(axis=(0, 1)) - pixels.mean(axis=(0, 1))).max() < 3


@pytest.mark.slow
def test_memory_benchmark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Every number of files is embedded in a process of its own, the smallest first."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    asked = ("--files", "40", "--files", "5", "--backbone", tmp_path / "tiny.onnx", "--large", "0")
    fields = done(capsys, "benchmark", "embed-memory", *asked, "--json").fields
    assert [run["files"] for run in fields["runs"]] == [5, 40]
    assert all(run["peak_mib"] > 20 and run["images_per_s"] > 0 for run in fields["runs"])
    assert 0.8 < fields["growth"] < 1.25
    assert fields["with_large"] is None


@pytest.mark.slow
def test_memory_benchmark_with_a_large_picture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A PNG of 49 megapixels, 600 MiB when decoded at once, takes a fraction of that."""
    write_tiny_backbone(tmp_path / "tiny.onnx")
    asked = (
        "benchmark",
        "embed-memory",
        "--files",
        "5",
        "--backbone",
        tmp_path / "tiny.onnx",
        "--large",
        "49",
    )
    fields = done(capsys, *asked, "--json").fields
    assert (fields["with_large"]["files"], fields["with_large"]["large_megapixels"]) == (6, 49)
    assert fields["with_large"]["peak_mib"] - fields["runs"][0]["peak_mib"] < 200


@pytest.mark.slow
def test_backup_benchmark_at_small_size(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Backups are made while labels are set, and both are timed."""
    monkeypatch.setattr("research.benchmarks.backup.LABELS_ALONE", 10)
    asked = ("benchmark", "backup", "--images", "400", "--labels", "100", "--rounds", "1")
    fields = done(capsys, *asked, "--json").fields
    assert (fields["images"], fields["labels"]) == (400, 100)
    assert fields["beside_longest_ms"] >= fields["beside_p99_ms"] >= fields["beside_median_ms"] > 0
    assert "beside backups" in done(capsys, *asked).out


@pytest.mark.slow
def test_files_at_small_size(capsys: pytest.CaptureFixture[str]) -> None:
    """Every step runs with every number of images, and the costs per image are compared."""
    figures = measure_files((40, 80), only=("scan", "relink"))
    assert [run.images for run in figures.runs] == [40, 80]
    assert [step.name for step in figures.runs[0].steps] == ["scan", "relink"]
    assert all(
        step.seconds > 0 and step.peak_mib >= step.start_mib > 0
        for run in figures.runs
        for step in run.steps
    )
    assert figures.growth.keys() == {"scan", "relink"}
    assert "export parquet" in done(capsys, "benchmark", "files", "--images", "30").out


def test_an_image_that_costs_more_in_a_large_collection_is_missed() -> None:
    """Ten times the images in eleven times the time pass; in twenty times the time they do not."""
    few, many, worse = (
        FilesRun(images, 0, (StepFigures("scan", cpu_s, cpu_s, 1, 1, "", 1, 1),))
        for images, cpu_s in ((10, 1.0), (100, 11.0), (100, 20.0))
    )
    assert FilesFigures((few, many)).are_kept
    assert not FilesFigures((few, worse)).are_kept
