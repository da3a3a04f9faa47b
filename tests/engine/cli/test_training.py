"""`protoleaf train` and `protoleaf versions`, and the worker's verb for the window."""

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from engine.collection.training.trained import FIGURE_NAMES, adopt, read_trained
from engine.jobs.serve import run_worker
from engine.project import Project
from tests.support.collections import Collection
from tests.support.command_line import done, refused
from tests.support.trained import write_tuned

WAIT_S = 60
SETTINGS = ("iterations=4", "validation_episodes=3", "test_episodes=3", "validation_interval=2")
QUICK = [part for setting in SETTINGS for part in ("--setting", setting)]


def test_a_version_is_trained_and_used(collection: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """Before and after are told, the version is in the project and in use, and the collection is classified by it."""
    fields = done(capsys, "train", collection.project, *QUICK, "--choose", "--json").fields
    assert (fields["version"], fields["name"], fields["depth"]) == (2, "Tuned propagation 1", "propagation")
    assert fields["chosen"] is True
    assert set(FIGURE_NAMES) <= fields["figures"].keys()
    assert fields["settings"]["iterations"] == 4
    listed = done(capsys, "versions", collection.project, "--json").fields
    assert listed["in_use"] == 2
    assert [version["trained_from"] for version in listed["versions"]] == [None, 1]
    assert listed["versions"][1]["figures"] == fields["figures"]
    out = collection.folder / "predictions.csv"
    done(capsys, "classify", collection.project, "-o", out)
    assert out.read_text(encoding="utf-8").splitlines()[1].endswith(",ppn+,Tuned propagation 1")
    assert "sound" in done(capsys, "check", collection.project).out


def test_the_answer_in_words(collection: Collection, capsys: pytest.CaptureFixture[str]) -> None:
    """How good it is, beside what was, and how to use it; then it is chosen by that command."""
    said = done(capsys, "train", collection.project, *QUICK).out.splitlines()
    assert said[0].startswith("Made model version 2, “Tuned propagation 1”: ")
    assert "% before, on 4 images held out" in said[0]
    assert said[1] == f"Use it with: protoleaf versions {collection.project} --choose 2"
    listed = done(capsys, "versions", collection.project).out.splitlines()
    assert [line[0] for line in listed] == ["*", " "]
    assert "Tuned propagation 1" in listed[1]
    assert "right on held-out images" in listed[1]
    chosen = done(capsys, "versions", collection.project, "--choose", "2").out.splitlines()
    assert [line[0] for line in chosen] == [" ", "*"]


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
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
    arguments: tuple[str, ...], status: int, said: str, collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, and no version."""
    assert said in refused(capsys, "train", collection.project, *arguments, status=status)
    assert len(done(capsys, "versions", collection.project, "--json").fields["versions"]) == 1


def test_a_version_whose_files_are_gone_is_not_chosen(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """A project must always have a model that works; nor is there a version 9."""
    with Project.open(collection.project) as project:
        project.add_model_version(backbone_name="own", backbone_hash="00", backbone_path="gone.onnx")
    assert "no such backbone" in refused(capsys, "versions", collection.project, "--choose", "2")
    nine = refused(capsys, "versions", collection.project, "--choose", "9")
    assert "no such model version in the project: expected 1 or 2, found 9" in nine
    assert done(capsys, "versions", collection.project, "--json").fields["in_use"] == 1


def train_request(collection: Collection, out: Path, **settings: Any) -> Mapping[str, Any]:
    """The job that a window gives to a worker."""
    return {
        "verb": "train", "project": str(collection.project), "cache": str(collection.caches.root),
        "depth": "propagation", "settings": settings, "out": str(out),
    }  # fmt: skip


def waiting_after(line: str, end: threading.Event) -> Iterator[bytes]:
    """Standard input that stays open until `end`."""
    yield line.encode() + b"\n"
    end.wait(WAIT_S)


def test_a_worker_trains_beside_the_window(collection: Collection, tmp_path: Path) -> None:
    """While the window holds the project: progress, points and a result; the window adds the version itself."""
    request = train_request(
        collection, tmp_path / "out", iterations=4, validation_interval=2, validation_episodes=3, test_episodes=3
    )
    out, end = io.StringIO(), threading.Event()
    with Project.open(collection.project) as window:
        assert run_worker(waiting_after(json.dumps(request), end), out) == 0
        end.set()
        events = [json.loads(line) for line in out.getvalue().splitlines()]
        points = [event for event in events if event["event"] == "point"]
        assert [point["iteration"] for point in points] == [0, 2, 4]
        assert points[0].keys() == {"event", "iteration", "loss", "validation_loss", "accuracy"}
        assert points[0]["loss"] is None
        assert {event["event"] for event in events} == {"progress", "point", "result"}
        result = events[-1]
        assert result.keys() == {"event", "folder", "name", "figures"}
        assert (result["folder"], result["name"]) == (str(tmp_path / "out"), "Tuned propagation 1")
        assert set(FIGURE_NAMES) <= result["figures"].keys()
        assert len(window.model_versions()) == 1
        assert window.model_version(adopt(window, read_trained(Path(result["folder"])))).name == result["name"]


def test_a_cancelled_worker_leaves_nothing(collection: Collection, tmp_path: Path) -> None:
    """The word "cancel" stops it in the middle: one event, status 0, and no folder."""
    out, reached = io.StringIO(), threading.Event()

    class Listening(io.StringIO):
        def write(self, text: str) -> int:
            if '"point"' in text:
                reached.set()
            return out.write(text)

    def stdin() -> Iterator[bytes]:
        yield json.dumps(train_request(collection, tmp_path / "out", iterations=1_000_000)).encode() + b"\n"
        reached.wait(WAIT_S)
        yield b"cancel\n"

    assert run_worker(stdin(), Listening()) == 0
    assert json.loads(out.getvalue().splitlines()[-1]) == {"event": "cancelled"}
    assert not (tmp_path / "out").exists()


def test_a_refusal_is_one_error_event(collection: Collection, tmp_path: Path) -> None:
    """What is wrong with a setting is a sentence for the window."""
    out, end = io.StringIO(), threading.Event()
    request = train_request(collection, tmp_path / "out", iterations="some")
    assert run_worker(waiting_after(json.dumps(request), end), out) == 1
    end.set()
    (event,) = [json.loads(line) for line in out.getvalue().splitlines()]
    assert (event["event"], "expected a whole number" in event["message"]) == ("error", True)


def test_a_killed_worker_leaves_the_project_sound(collection: Collection, tmp_path: Path) -> None:
    """SIGKILL in the middle of a training: the project has no scratch and no version."""
    request = train_request(collection, tmp_path / "out", iterations=1_000_000)
    with subprocess.Popen(
        [sys.executable, "-m", "engine.jobs.serve"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, encoding="utf-8",
    ) as worker:  # fmt: skip
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        while json.loads(worker.stdout.readline())["event"] != "point":
            pass
        os.kill(worker.pid, signal.SIGKILL)
    with Project.open(collection.project) as project:
        assert project.check() == []
        assert len(project.model_versions()) == 1
        assert adopt(project, write_tuned(tmp_path / "again", project)) == 2


def test_a_killed_training_leaves_nothing_after_the_next_start(
    collection: Collection, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL while its files are being written: the next command takes them away, and a running one's stay."""
    program = (
        "import sys\nfrom engine.cli.main import main\nimport engine.collection.training.train as training\n"
        "def write_and_wait(*_, out, **__):\n"
        "    out.mkdir()\n    (out / 'backbone.onnx').write_bytes(b'half')\n"
        "    print('waits', flush=True)\n    sys.stdin.read()\n"
        "training.train = write_and_wait\nmain(['train', sys.argv[1]])\n"
    )
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    with subprocess.Popen(
        [sys.executable, "-c", program, str(collection.project)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"waits\n"
        done(capsys, "--version")
        assert len(list(temporary.rglob("backbone.onnx"))) == 1
        child.kill()
    done(capsys, "--version")
    assert list(temporary.iterdir()) == []
