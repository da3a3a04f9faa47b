"""`protoleaf backbone use`, and the worker's command for the window."""

from pathlib import Path

import pytest

from engine.backbones.library import BackboneLibrary
from engine.collection.backbone_change import PreparedChange
from engine.embedding.messages import EmbedBatch
from engine.events import CancelToken, OnProgress, Progress
from engine.project import Project
from engine.requests import PrepareChange
from engine.worker.protocol import Stopped
from tests.support import onnx_models as models
from tests.support.backbone_jobs import SMALL, store_catalogue
from tests.support.collections import Collection, cache_of_test
from tests.support.command_line import done, refused
from tests.support.other_backbones import add_to_library, own_backbone
from tests.support.served import is_progress, served

WAIT_S = 60


@pytest.fixture
def tinyleaf(tmp_path: Path) -> Path:
    """Another backbone."""
    return own_backbone(tmp_path / "own models")


@pytest.mark.slow
def test_without_a_yes_nothing_changes(
    collection: Collection, tinyleaf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without confirmation figures are shown and nothing changes; the next run uses the cache."""
    content = collection.project.read_bytes()
    output = done(capsys, "backbone", "use", collection.project, tinyleaf, "--device", "cpu").out
    assert "Nothing was changed" in output
    assert "each held out once" in output
    assert "on 23 labels" in output  # a copy is held out with its duplicate
    with Project.open(collection.project, for_writing=False) as project:
        assert len(project.models.versions()) == 1
    assert collection.project.read_bytes() == content
    fields = done(capsys, "backbone", "use", collection.project, tinyleaf, "--json").fields
    assert (fields["changed"], fields["embedded"]) == (False, 0)


@pytest.mark.slow
def test_with_a_yes_it_is_used(
    collection: Collection, tinyleaf: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A new version is in use, with accuracy before and after on the same labels."""
    fields = done(
        capsys,
        "backbone",
        "use",
        collection.project,
        tinyleaf,
        "--yes",
        "--device",
        "cpu",
        "--json",
    ).fields
    assert (fields["changed"], fields["version"], fields["name"]) == (True, 2, "tinyleaf")
    assert fields["shots"] == 23
    assert fields["gained"] - fields["lost"] == pytest.approx(
        23 * (fields["after"] - fields["before"])
    )
    low, high = fields["interval"]
    assert low <= fields["after"] - fields["before"] <= high
    assert done(capsys, "versions", collection.project, "--json").fields["in_use"] == 2
    assert "sound" in done(capsys, "check", collection.project).out
    output = done(capsys, "backbone", "use", collection.project, "leafnet", "--yes").out
    assert output.startswith("The project now uses leafnet; undo reverts this.")
    assert done(capsys, "versions", collection.project, "--json").fields["in_use"] == 1


@pytest.mark.slow
def test_a_file_is_kept_first(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An ONNX file is examined as by `new`: options apply, guesses are printed, the file may go."""
    path = models.write_vectors(tmp_path / "net.onnx", side=models.SIDE)
    command = (
        "backbone",
        "use",
        collection.project,
        path,
        "--range",
        "symmetric",
        "--device",
        "cpu",
    )
    assert "Nothing was changed" in done(capsys, *command).out
    added = BackboneLibrary().entry("net")
    assert (added.card.mean, added.card.input_side) == ((0.5, 0.5, 0.5), models.SIDE)
    output = done(capsys, *command, "--yes").out
    assert output.startswith("The project now uses net; undo reverts this.")
    assert "Preprocessing: -1 to 1, as chosen." in output
    assert BackboneLibrary().entry("net") == added
    path.unlink()
    with Project.open(collection.project, for_writing=False) as project:
        assert project.models.current.backbone_hash == added.backbone_hash
    assert "sound" in done(capsys, "check", collection.project).out


@pytest.mark.slow
def test_a_published_network_is_asked_about_first(
    collection: Collection,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As by `new`: size and licence are shown, and nothing is downloaded without --yes.

    A local one is used at once.
    """
    store_catalogue(cache_of_test(), [SMALL])
    content = collection.project.read_bytes()
    line = refused(capsys, "backbone", "use", collection.project, "torchvision:smallnet", status=2)
    assert "smallnet with weights IMAGENET1K_V1 must be downloaded: 4.8 MB" in line
    assert "--yes" in line
    assert collection.project.read_bytes() == content
    assert BackboneLibrary().names() == ()
    add_to_library(tmp_path, name=SMALL.library_name)
    fields = done(
        capsys,
        "backbone",
        "use",
        collection.project,
        "torchvision:smallnet",
        "--yes",
        "--device",
        "cpu",
        "--json",
    ).fields
    assert (fields["changed"], fields["name"]) == (True, SMALL.library_name)


@pytest.mark.slow
def test_refusals(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line each, and the library is unchanged."""
    use = ("backbone", "use", collection.project)
    assert "uses this backbone already" in refused(capsys, *use, "leafnet")
    assert "no such backbone" in refused(capsys, *use, "nowhere")
    assert "not there" in refused(capsys, *use, "nowhere.onnx")
    assert "ONNX file only" in refused(capsys, *use, "leafnet", "--preset", "caffe", status=2)
    for backbone in ("leafnet", "nowhere.onnx"):
        line = refused(capsys, *use, backbone, "--proxy", "http://here:1", status=2)
        assert "a proxy is only for the download of a published network" in line
    wrong = tmp_path / "picture.onnx"
    wrong.write_bytes(b"\x89PNG\r\n")
    assert "a PNG picture" in refused(capsys, *use, wrong)
    path = models.write_vectors(tmp_path / "net.onnx", side=models.SIDE)
    gone = collection.folder / "gone.protoleaf"
    assert "no project file" in refused(capsys, "backbone", "use", gone, path)
    assert BackboneLibrary().names() == ()


def request(collection: Collection, backbone: Path) -> PrepareChange:
    """A request of the window to a worker."""
    return PrepareChange(collection.project, collection.caches.root, str(backbone), "cpu")


@pytest.mark.slow
def test_a_worker_prepares_beside_the_window(collection: Collection, tinyleaf: Path) -> None:
    """While the window holds the project: progress, facts of images, and figures.

    Nothing is changed.
    """
    lost = next(path for path in sorted(collection.unsorted.rglob("*.png")))
    lost.unlink()
    with Project.open(collection.project) as window:
        answer = served(request(collection, tinyleaf))
        assert answer.status == 0
        assert len(window.models.versions()) == 1
    assert {type(event) for event in answer.events} == {Progress, EmbedBatch}
    ((row,),) = [batch.results for batch in answer.of(EmbedBatch)]
    assert row.content_hash  # the previous one stays known
    assert row.failure
    prepared = answer.ending
    assert isinstance(prepared, PreparedChange)
    shots = prepared.comparison.shots
    assert (prepared.name, prepared.embedded, shots) == ("tinyleaf", 63, 23)
    assert [failure.path for failure in prepared.failed] == [lost]


def test_a_cancelled_worker_changes_nothing(
    collection: Collection, tinyleaf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled while embedding: status 0, and the project file unchanged."""
    content = collection.project.read_bytes()

    def embed_until_cancelled(
        *_arguments: object, cancel: CancelToken, on_progress: OnProgress, **_: object
    ) -> None:
        on_progress(Progress(0, 1))
        assert cancel._event.wait(WAIT_S)  # noqa: SLF001 (engine code only polls)
        cancel.raise_if_cancelled()

    monkeypatch.setattr("engine.embedding.pipeline.embed_files", embed_until_cancelled)
    answer = served(request(collection, tinyleaf), cancel_at=is_progress)
    assert (answer.status, answer.ending) == (0, Stopped())
    assert collection.project.read_bytes() == content
