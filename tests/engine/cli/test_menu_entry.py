"""`protoleaf menu-entry`: the program in the desktop's menu, and out of it again."""

import configparser
import re
import sys
from pathlib import Path

import pytest

from engine.archive.layout import ABOUT
from engine.config import ARCHIVE_SUFFIX
from engine.menu_entry import ENTRY, add_menu_entry
from engine.project.schema import APPLICATION_ID
from tests.support.command_line import done, refused

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="a menu of Linux desktops"
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder, and no tools of the desktop."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "data"


def files_in(folder: Path) -> set[Path]:
    """All files below a folder."""
    return {path for path in folder.rglob("*") if path.is_file()}


def started_by(entry: Path) -> list[str]:
    """The words of the entry's line: first a value's own escapes are undone, then those inside of quotes."""
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # keys keep their case
    parser.read(entry, encoding="utf-8")
    line = parser["Desktop Entry"]["Exec"].replace("\\\\", "\\")
    found = re.fullmatch(r'"((?:[^"\\`$]|\\.)*)" (%f)', line)
    assert found is not None, line
    return [re.sub(r"\\(.)", r"\1", found[1]).replace("%%", "%"), found[2]]


def test_in_and_out(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    """Everybody may read what is written.

    Nothing stays behind, and a second time nothing is there.
    """
    written = done(capsys, "menu-entry", "--json").fields["written"]
    assert {Path(path) for path in written} == files_in(data)
    assert all(path.stat().st_mode & 0o444 == 0o444 for path in files_in(data))
    assert started_by(data / ENTRY) == [str(Path(sys.prefix, "bin", "protoleaf")), "%f"]
    assert done(capsys, "menu-entry", "--remove", "--json").fields["removed"]
    assert files_in(data) == set()
    assert "was not in the menu" in done(capsys, "menu-entry", "--remove").out


@pytest.mark.parametrize("folder", ["my programs", "50 % `off`", 'a"b', "$HOME", "back\\slash"])
def test_a_program_may_lie_anywhere(data: Path, folder: str) -> None:
    """Its place is quoted as the specification asks for."""
    program = Path("/opt", folder, "protoleaf")
    add_menu_entry(program)
    assert started_by(data / ENTRY) == [str(program), "%f"]


def test_projects_are_known_by_their_head(data: Path) -> None:
    """The kind of file names the number that our files carry."""
    add_menu_entry()
    assert f'value="{APPLICATION_ID:#010x}"' in (data / "mime/packages/protoleaf.xml").read_text(
        encoding="utf-8"
    )


def test_copies_with_photos_open_by_double_click(data: Path) -> None:
    """Their kind is known by the suffix and by the first file in the archive, and belongs to the program."""
    add_menu_entry()
    kinds = (data / "mime/packages/protoleaf.xml").read_text(encoding="utf-8")
    assert f'value="{ABOUT}" offset="30"' in kinds
    assert f'pattern="*{ARCHIVE_SUFFIX}"' in kinds
    entry = (data / "applications/protoleaf.desktop").read_text(encoding="utf-8")
    assert "MimeType=application/x-protoleaf;application/x-protoleaf-copy;" in entry


def test_elsewhere(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows and macOS have it from their installers."""
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "only Linux" in refused(capsys, "menu-entry", status=2)
