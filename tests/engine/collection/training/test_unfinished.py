"""A cancelled or killed training resumes with identical results."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from engine.collection.training.settings import BackboneSettings, Chosen, with_chosen
from engine.collection.training.starts import start_of
from engine.collection.training.train import train
from engine.collection.training.trained import (
    TrainedFiles,
    Unfinished,
    forget,
    open_run,
    unfinished,
)
from engine.errors import Cancelled
from engine.events import CancelToken, Progress
from engine.project import Project
from engine.training.curve import CHECKPOINT_NAME, kept_iteration
from tests.support.collections import Collection, class_ids
from tests.support.stopped_training import leave_stopped

QUICK: Chosen = {"iterations": 4, "points": 2, "device": "cpu", "side": 32}


def _train(project: Project, collection: Collection, name: str, cancel_at: int = 0) -> TrainedFiles:
    cancel = CancelToken()

    def listen(progress: Progress) -> None:
        if cancel_at and progress.unit == "iterations" and progress.done >= cancel_at:
            cancel.cancel()

    out = collection.folder / name
    return train(
        project, collection.caches, "backbone", QUICK, out=out, on_progress=listen, cancel=cancel
    )


@pytest.mark.slow
def test_a_stopped_training_goes_on_to_the_same_numbers(
    project: Project, collection: Collection
) -> None:
    """Weights, curve and figures equal an uninterrupted training; checkpoints are removed."""
    whole = _train(project, collection, "whole")
    assert unfinished(project, collection.caches) is None
    with pytest.raises(Cancelled):
        _train(project, collection, "stopped", cancel_at=1)
    found = unfinished(project, collection.caches)
    assert found is not None
    assert (found.iterations, dict(found.chosen)) == (4, dict(QUICK))
    assert 1 <= found.done < 4
    resumed = _train(project, collection, "resumed")
    assert whole.backbone is not None
    assert resumed.backbone is not None
    assert resumed.backbone.read_bytes() == whole.backbone.read_bytes()
    assert resumed.history == whole.history
    assert resumed.figures == {**whole.figures, "resumed_iteration": found.done}
    assert unfinished(project, collection.caches) is None
    assert not list((collection.caches.root / "unfinished-trainings").glob("*/*"))


def _stopped(project: Project, collection: Collection, chosen: Chosen) -> Path:
    return leave_stopped(project, collection.caches, chosen, done=3)


def test_what_is_kept_is_reported(project: Project, collection: Collection) -> None:
    """Progress and settings are reported, and it can be discarded."""
    assert unfinished(project, collection.caches) is None
    run = _stopped(project, collection, QUICK)
    assert kept_iteration(run / CHECKPOINT_NAME) == 3
    assert unfinished(project, collection.caches) == Unfinished(3, 4, QUICK)
    forget(run)
    assert unfinished(project, collection.caches) is None


@pytest.mark.parametrize("change", ["label", "unlabel", "class", "model"])
def test_another_training_starts_anew(
    change: str, project: Project, collection: Collection
) -> None:
    """Other labels, classes or models start from the beginning."""
    run = _stopped(project, collection, QUICK)
    ids, labelled = class_ids(project), sorted(project.labels.by_image())
    if change == "label":
        project.labels.set(labelled[:1], ids["Blue disc"])
    elif change == "unlabel":
        project.labels.remove(labelled[:1])
    elif change == "class":
        project.classes.link(ids["Red"], [ids["Blue disc"]])
    else:
        version = project.models.add(
            backbone_name="leafnet", backbone_hash="00ff", backbone_path="gone.onnx"
        )
        project.models.choose(version.version_id)
    assert unfinished(project, collection.caches) is None
    if change != "model":
        _reopened(project, collection, QUICK)
        assert not (run / CHECKPOINT_NAME).exists()


def _reopened(
    project: Project, collection: Collection, chosen: Mapping[str, int | float | str | None]
) -> Path:
    settings = start_of(project, collection.caches, "current").filled_in(
        with_chosen(BackboneSettings(), chosen)
    )
    return open_run(project, collection.caches, settings, chosen)


def test_other_settings_start_anew_and_the_same_go_on(
    project: Project, collection: Collection
) -> None:
    """Device and curve points may change."""
    run = _stopped(project, collection, QUICK)
    assert _reopened(project, collection, {**QUICK, "device": "auto", "points": 9}) == run
    assert (run / CHECKPOINT_NAME).exists()
    assert _reopened(project, collection, {**QUICK, "iterations": 5}) == run
    assert not (run / CHECKPOINT_NAME).exists()


@pytest.mark.parametrize("content", [b"", b"\xff" * 20, b"\x02\0\0\0\0\0\0\0{}"])
def test_a_torn_checkpoint_is_none(
    content: bytes, project: Project, collection: Collection
) -> None:
    """A damaged checkpoint is not offered."""
    run = _stopped(project, collection, QUICK)
    (run / CHECKPOINT_NAME).write_bytes(content)
    assert unfinished(project, collection.caches) is None


def test_old_ones_are_swept(project: Project, collection: Collection) -> None:
    """Checkpoints older than a month are removed by the next training of any project."""
    other = collection.caches.root / "unfinished-trainings" / "other"
    other.mkdir(parents=True)
    os.utime(other, (time.time() - 40 * 86_400,) * 2)
    _stopped(project, collection, QUICK)
    assert not other.exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_training_goes_on(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """After SIGKILL the same command resumes and says where."""
    from tests.support.command_line import done

    words = ["train", str(collection.project), "--depth", "backbone"]
    for name, value in {**QUICK, "iterations": 3}.items():
        words += ["--setting", f"{name}={value}"]
    program = (
        "import os, signal, sys\nfrom engine.cli.main import main\nfrom engine.training import "
        "checkpoints\n"
        "write = checkpoints.write\n"
        "def write_and_die(*arguments):\n    write(*arguments)\n    os.kill(os.getpid(), "
        "signal.SIGKILL)\n"
        "checkpoints.write = write_and_die\nmain(sys.argv[1:])\n"
    )
    child = subprocess.run([sys.executable, "-c", program, *words], check=False)
    assert child.returncode == -signal.SIGKILL
    output = done(capsys, *words).out
    assert "A stopped training was resumed after 1 of 3 iterations." in output
