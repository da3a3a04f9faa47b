"""`protoleaf menu-entry`: adding the program to the desktop's menu, and removing it."""

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
    """The user's data folder, without desktop tools."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path / "data"


def files_in(folder: Path) -> set[Path]:
    """All files below a folder."""
    return {path for path in folder.rglob("*") if path.is_file()}


def started_by(entry: Path) -> list[str]:
    """Words of the entry's command line: the value's escapes are undone first, then quotes."""
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # keys keep their case
    parser.read(entry, encoding="utf-8")
    line = parser["Desktop Entry"]["Exec"].replace("\\\\", "\\")
    found = re.fullmatch(r'"((?:[^"\\`$]|\\.)*)" (%f)', line)
    assert found is not None, line
    return [re.sub(r"\\(.)", r"\1", found[1]).replace("%%", "%"), found[2]]


def test_in_and_out(capsys: pytest.CaptureFixture[str], data: Path) -> None:
    """Files are readable for all.

    Removing leaves nothing and can be repeated.
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
    """Its path is quoted as specified."""
    program = Path("/opt", folder, "protoleaf")
    add_menu_entry(program)
    assert started_by(data / ENTRY) == [str(program), "%f"]


def test_projects_are_known_by_their_head(data: Path) -> None:
    """The MIME type uses the project's magic number."""
    add_menu_entry()
    assert f'value="{APPLICATION_ID:#010x}"' in (data / "mime/packages/protoleaf.xml").read_text(
        encoding="utf-8"
    )


def test_copies_with_photos_open_by_double_click(data: Path) -> None:
    """Their MIME type uses suffix and first entry of the archive, and opens the program."""
    add_menu_entry()
    kinds = (data / "mime/packages/protoleaf.xml").read_text(encoding="utf-8")
    assert f'value="{ABOUT}" offset="30"' in kinds
    assert f'pattern="*{ARCHIVE_SUFFIX}"' in kinds
    entry = (data / "applications/protoleaf.desktop").read_text(encoding="utf-8")
    assert "MimeType=application/x-protoleaf;application/x-protoleaf-copy;" in entry


def test_elsewhere(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """On Windows and macOS the installers do it."""
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "only for Linux" in refused(capsys, "menu-entry", status=2)
