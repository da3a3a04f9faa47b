"""Ctrl+C during work with a safe point."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.cli import output
from engine.cli.output import stoppable
from engine.errors import Cancelled
from engine.events import OnProgress, Progress
from tests.support.backups import labelled_birds
from tests.support.command_line import refused
from tests.support.images import write_jpeg
from tests.support.projects import found_files


def interrupt() -> None:
    """Send Ctrl+C."""
    os.kill(os.getpid(), signal.SIGINT)


def work(*, interruptions: int) -> bool:
    """Send interrupts, and return whether the token is set."""
    with stoppable("go on") as cancel:
        for _ in range(interruptions):
            interrupt()
        return cancel.is_cancelled


def test_first_asks_second_insists() -> None:
    """The first Ctrl+C sets the token, the second interrupts; the handler is restored."""
    before = signal.getsignal(signal.SIGINT)
    assert not work(interruptions=0)
    assert work(interruptions=1)
    with pytest.raises(KeyboardInterrupt):
        work(interruptions=2)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_kill_asks_too() -> None:
    """SIGTERM sets the token, too."""
    with stoppable("go on") as cancel:
        os.kill(os.getpid(), signal.SIGTERM)
        assert cancel.is_cancelled


def stopped() -> None:
    """Cancelled work."""
    with stoppable("go on with: protoleaf") as cancel:
        cancel.cancel()
        cancel.raise_if_cancelled()


def test_the_message_says_how_to_go_on() -> None:
    """The raiser of `Cancelled` need not know the command."""
    with pytest.raises(Cancelled, match="Go on with: protoleaf"):
        stopped()


@contextmanager
def interrupted_in_the_middle(_title: str) -> Iterator[OnProgress]:
    """A progress bar that presses Ctrl+C at the first report of a known total."""
    presses = iter([interrupt])

    def show(progress: Progress) -> None:
        if progress.done < progress.total and (press := next(presses, None)):
            press()

    yield show


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_adding_images_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The project is unchanged, and the message says so."""
    project = labelled_birds(tmp_path)[0]
    project.close()
    write_jpeg(tmp_path / "a.jpg")
    before = project.path.read_bytes()
    monkeypatch.setattr(output, "progress_bar", interrupted_in_the_middle)
    line = refused(capsys, "import-images", project.path, tmp_path / "a.jpg", status=130)
    assert "nothing was added" in line
    assert project.path.read_bytes() == before


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_restore_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The project is unchanged, and the message says so."""
    project, gull, image_ids = labelled_birds(tmp_path)
    with project:
        project.images.add(found_files(tmp_path / "many", 10_000))
        backup = project.backups.take().path
        project.labels.set(image_ids, gull)
    before = project.path.read_bytes()
    monkeypatch.setattr(output, "progress_bar", interrupted_in_the_middle)
    line = refused(capsys, "restore", project.path, backup, "--yes", status=130)
    assert "the project is as it was" in line
    assert project.path.read_bytes() == before
