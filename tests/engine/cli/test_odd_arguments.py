"""Invalid names, system errors, and repeated interrupts: one line and the right exit status."""

import os
import signal
import threading
from pathlib import Path

import pytest

from engine.cli import project_commands
from engine.cli.main import main
from engine.project import Project
from tests.support.collections import Collection
from tests.support.command_line import done, refused

OVERLONG = "x" * 5000


@pytest.mark.parametrize(
    "words",
    [("check", OVERLONG), ("new", f"{OVERLONG}.protoleaf"), ("import-images", OVERLONG, ".")],
    ids=["check", "new", "import-images"],
)
def test_names_that_no_file_has(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    """A too long name is refused in one line of limited length."""
    assert len(refused(capsys, *words)) < 1000


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_the_status_of_a_stop(
    number: signal.Signals,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """SIGINT and SIGTERM have different statuses.

    Handlers are restored.
    """

    def killed(*_arguments: object) -> None:
        os.kill(os.getpid(), number)

    before = signal.getsignal(number)
    monkeypatch.setattr(project_commands, "print_result", killed)
    assert "what was finished is kept" in refused(
        capsys, "new", tmp_path / "a.protoleaf", status=status
    )
    assert signal.getsignal(number) is before


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_stop_that_a_library_takes_for_an_error_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As compiled modules raise it while they load."""

    def loaded(*_arguments: object) -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        except KeyboardInterrupt:
            raise ImportError("initialization failed") from None

    monkeypatch.setattr(project_commands, "print_result", loaded)
    assert "what was finished is kept" in refused(
        capsys, "new", tmp_path / "a.protoleaf", status=143
    )


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_stop_while_an_object_is_cleared_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python ignores an exception in a finalizer and prints it.

    The command stops with one line.
    """

    class Dying:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    def clear(*_arguments: object) -> None:
        Dying()
        threading.Event().wait(10.0)

    monkeypatch.setattr(project_commands, "print_result", clear)
    message = refused(capsys, "new", tmp_path / "a.protoleaf", status=130)
    assert message.count("\n") == 1


def test_a_second_stop_while_the_first_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A second interrupt gives no traceback."""

    def interrupted(*_arguments: object, **_more: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(project_commands, "print_result", interrupted)
    monkeypatch.setattr("engine.cli.main._complain", interrupted)
    assert main(["new", str(tmp_path / "a.protoleaf")]) == 130


@pytest.mark.slow
def test_what_if_works_beside_an_open_window(
    collection: Collection, capsys: pytest.CaptureFixture[str]
) -> None:
    """It only reads, so another process may write."""
    before = collection.project.read_bytes()
    with Project.open(collection.project) as opened:
        child = next(
            each for each in opened.classes.graph.classes() if opened.classes.graph.parents(each)
        )
        parent = next(iter(opened.classes.graph.parents(child)))
        edit = f"{opened.classes.graph.path_text(child)}={opened.classes.graph.path_text(parent)}"
        assert (
            "Nothing was changed"
            in done(capsys, "what-if", collection.project, "--unlink", edit).out
        )
    assert collection.project.read_bytes() == before
