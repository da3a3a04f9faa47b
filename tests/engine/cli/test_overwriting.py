"""Outputs replace their own earlier ones, other files with --overwrite, some files never."""

from pathlib import Path

import pytest

from engine.errors import TakenError
from research.cli.figures_file import check_figures, write_figures
from tests.support.collections import Collection
from tests.support.command_line import done, refused

COMMANDS = (("export", "csv"), ("classify", "-o"), ("export-graph", "--format", "dot"))


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_files_of_others(
    collection: Collection,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    command: tuple[str, ...],
) -> None:
    """One line says what exists and how to replace it.

    Then it is replaced, also again without the option.
    """
    out = tmp_path / "out"
    out.write_text("theirs", encoding="utf-8")
    words: tuple[str | Path, ...] = (command[0], collection.project, *command[1:], out)
    assert "another file" in refused(capsys, *words)
    assert out.read_text(encoding="utf-8") == "theirs"
    done(capsys, *words, "--overwrite")
    done(capsys, *words)
    shot = next(collection.shots.rglob("*.png"))
    before = shot.read_bytes()
    out.unlink()
    out.symlink_to(shot)
    assert "an image of the project" in refused(capsys, *words, "--overwrite")
    assert shot.read_bytes() == before


def test_figures_of_experiments(tmp_path: Path) -> None:
    out = tmp_path / "figures.json"
    write_figures(out, {"figure": 1})
    check_figures(out, is_overwriting=False)
    out.write_text("{}", encoding="utf-8")
    with pytest.raises(TakenError):
        check_figures(out, is_overwriting=False)
    check_figures(out, is_overwriting=True)
    check_figures(None, is_overwriting=False)
