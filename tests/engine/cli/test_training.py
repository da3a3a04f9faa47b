"""`protoleaf train` and `protoleaf versions`, and the worker's command for the window."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.collection.training.trained import FIGURE_NAMES, adopt, read_trained
from engine.events import Progress
from engine.project import Project
from engine.requests import Train, TrainingResult
from engine.training.curve import TrainingPoint
from engine.worker.client import Died, Ending, Worker
from engine.worker.protocol import Stopped
from tests.support.collections import Collection
from tests.support.command_line import done, refused
from tests.support.served import served
from tests.support.trained import write_tuned

WAIT_S = 60
SETTINGS = ("iterations=4", "validation_episodes=3", "test_episodes=3", "validation_interval=2")
QUICK = [part for setting in SETTINGS for part in ("--setting", setting)]


@pytest.mark.slow
def test_a_version_is_trained_and_used(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """Accuracy before and after is shown, and the version is used by the collection."""
    fields = done(capsys, "train", collection.project, *QUICK, "--choose", "--json").fields
    assert (fields["version"], fields["name"], fields["depth"]) == (
        2,
        "Tuned propagation 1",
        "propagation",
    )
    assert fields["chosen"] is True
    assert set(FIGURE_NAMES) <= fields["figures"].keys()
    assert fields["settings"]["iterations"] == 4
    listed = done(capsys, "versions", collection.project, "--json").fields
    assert listed["in_use"] == 2
    assert [version["trained_from"] for version in listed["versions"]] == [None, 1]
    assert listed["versions"][1]["figures"] == fields["figures"]
    out = collection.folder / "predictions.csv"
    done(capsys, "classify", collection.project, "-o", out)
    assert (
        out.read_text(encoding="utf-8").splitlines()[1].endswith(",ppn+,Tuned propagation 1,false")
    )
    assert "sound" in done(capsys, "check", collection.project).out


@pytest.mark.slow
def test_the_answer_in_words(collection: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """Accuracy beside the previous one, and the command that chooses it."""
    lines = done(capsys, "train", collection.project, *QUICK).out.splitlines()
    assert lines[0].startswith("Trained model version 2, “Tuned propagation 1”: ")
    assert "% before, on 4 images held out" in lines[0]
    assert lines[1] == f"Use it with: protoleaf versions {collection.project} --choose 2"
    listed = done(capsys, "versions", collection.project).out.splitlines()
    assert [line[0] for line in listed] == ["*", " "]
    assert "Tuned propagation 1" in listed[1]
    assert "right on held-out images" in listed[1]
    chosen = done(capsys, "versions", collection.project, "--choose", "2").out.splitlines()
    assert [line[0] for line in chosen] == [" ", "*"]


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("--depth", "deep"), 2, "expected propagation or backbone, found deep"),
        (("--setting", "iterations"), 2, "name=value"),
        (("--setting", "iteration=4"), 2, "there is no such setting"),
        (("--setting", "iterations=some"), 2, "expected a whole number, found “some”"),
        (("--depth", "backbone", "--setting", "ways=1"), 2, "at least 2, found 1"),
        (("--setting", "shots=30"), 1, "too little to learn propagation from"),
    ],
)
def test_refusals(
    arguments: tuple[str, ...],
    status: int,
    message: str,
    collection: Collection,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line, and no version."""
    assert message in refused(capsys, "train", collection.project, *arguments, status=status)
    assert len(done(capsys, "versions", collection.project, "--json").fields["versions"]) == 1


def test_a_version_whose_files_are_gone_is_not_chosen(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """A version without its files is refused, as is an unknown version."""
    with Project.open(collection.project) as project:
        project.models.add(backbone_name="own", backbone_hash="00", backbone_path="gone.onnx")
    assert "no such backbone" in refused(capsys, "versions", collection.project, "--choose", "2")
    nine = refused(capsys, "versions", collection.project, "--choose", "9")
    assert "no such model version in the project: expected 1 or 2, found 9" in nine
    assert done(capsys, "versions", collection.project, "--json").fields["in_use"] == 1


def train_request(collection: Collection, out: Path, **settings: int | str) -> Train:
    """A request of the window to a worker."""
    return Train(collection.project, collection.caches.root, "propagation", out, settings)


@pytest.mark.slow
def test_a_worker_trains_beside_the_window(collection: Collection, tmp_path: Path) -> None:
    """While the window holds the project: progress, curve points, result.

    The window adds the version.
    """
    request = train_request(
        collection,
        tmp_path / "out",
        iterations=4,
        validation_interval=2,
        validation_episodes=3,
        test_episodes=3,
    )
    with Project.open(collection.project) as window:
        answer = served(request)
        assert answer.status == 0
        points = answer.of(TrainingPoint)
        assert [point.iteration for point in points] == [0, 2, 4]
        assert points[0].loss is None
        assert {type(event) for event in answer.events} == {Progress, TrainingPoint}
        assert isinstance(answer.ending, TrainingResult)
        assert (answer.ending.folder, answer.ending.name) == (
            tmp_path / "out",
            "Tuned propagation 1",
        )
        assert set(FIGURE_NAMES) <= answer.ending.figures.keys()
        assert len(window.models.versions()) == 1
        assert (
            window.models.version(adopt(window, read_trained(answer.ending.folder))).name
            == answer.ending.name
        )


@pytest.mark.slow
def test_a_cancelled_worker_leaves_nothing(collection: Collection, tmp_path: Path) -> None:
    """Status 0, and no folder."""
    request = train_request(collection, tmp_path / "out", iterations=1_000_000)
    answer = served(request, cancel_at=lambda message: isinstance(message, TrainingPoint))
    assert (answer.status, answer.ending) == (0, Stopped())
    assert not (tmp_path / "out").exists()


def test_a_refusal_is_a_sentence(collection: Collection, tmp_path: Path) -> None:
    """An invalid setting is reported to the window."""
    answer = served(train_request(collection, tmp_path / "out", iterations="some"))
    assert (answer.status, answer.events) == (1, ())
    assert "expected a whole number" in answer.ending.message


@pytest.mark.slow
def test_a_killed_worker_leaves_the_project_sound(collection: Collection, tmp_path: Path) -> None:
    """After SIGKILL the project has no temporary files and no version."""

    def kill_at_point(event: object) -> None:
        if isinstance(event, TrainingPoint):
            worker.kill()

    endings: list[Ending] = []
    worker = Worker()
    worker.send(
        train_request(collection, tmp_path / "out", iterations=1_000_000),
        kill_at_point,
        endings.append,
    )
    assert worker.join(WAIT_S)
    assert isinstance(endings[0], Died)
    with Project.open(collection.project) as project:
        assert project.check() == []
        assert len(project.models.versions()) == 1
        assert adopt(project, write_tuned(tmp_path / "again", project)) == 2


@pytest.mark.slow
def test_a_killed_training_leaves_nothing_after_the_next_start(
    collection: Collection,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Temporary files of a killed training are removed by the next command, not a running one's."""
    program = (
        "import sys\nfrom engine.cli.main import main\nimport engine.collection.training.train as "
        "training\ndef write_and_wait(*_, out, **__):\n    out.mkdir()\n    (out / "
        "'backbone.onnx').write_bytes(b'half')\n    print('waits', flush=True)\n    "
        "sys.stdin.read()\ntraining.train = write_and_wait\nmain(['train', sys.argv[1]])\n"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with subprocess.Popen(
        [sys.executable, "-c", program, str(collection.project)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"waits\n"
        done(capsys, "--version")
        assert len(list(temporary.rglob("backbone.onnx"))) == 1
        child.kill()
    done(capsys, "--version")
    assert list(temporary.iterdir()) == []
