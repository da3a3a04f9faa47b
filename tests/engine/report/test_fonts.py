"""Fonts of the PDF: system fonts by preference, else the library's own."""

from pathlib import Path

import pytest

from engine.report.pdf import fonts


def _write(folder: Path, *names: str) -> None:
    folder.mkdir(parents=True)
    for name in names:
        (folder / name).write_bytes(b"no font at all")


def test_fonts_are_found_in_pairs_best_first(tmp_path: Path) -> None:
    """A font needs its bold face; nested folders are searched to a limit."""
    _write(
        tmp_path / "a" / "truetype" / "liberation",
        "LiberationSans-Regular.ttf",
        "LiberationSans-Bold.ttf",
    )
    _write(tmp_path / "b", "NotoSans-Regular.ttf", "NotoSans-Bold.ttf", "DejaVuSans.ttf")
    _write(tmp_path / "c" / "1" / "2" / "3" / "4", "DejaVuSans-Bold.ttf")
    found = fonts.system_fonts(
        iter((tmp_path / "a", tmp_path / "b", tmp_path / "c", tmp_path / "missing"))
    )
    assert [(regular.name, bold.name) for regular, bold in found] == [
        ("NotoSans-Regular.ttf", "NotoSans-Bold.ttf"),
        ("LiberationSans-Regular.ttf", "LiberationSans-Bold.ttf"),
    ]


@pytest.mark.parametrize("names", [(), ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")])
def test_without_a_readable_font_the_librarys_own_is_used(
    names: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing or damaged font does not prevent a report."""
    from reportlab.pdfbase.ttfonts import TTFont

    _write(tmp_path / "fonts", *names)
    monkeypatch.setattr(fonts, "font_folders", lambda: iter((tmp_path / "fonts",)))
    found = fonts.readable_fonts()
    assert [Path(file).name for file in found] == ["Vera.ttf", "VeraBd.ttf"]
    assert TTFont("trial", found[0]).face.charToGlyph[ord("é")]


def test_signs_of_languages() -> None:
    """Full-width characters use the Chinese font.

    A space missing in a font is replaced.
    """
    fonts.load_fonts()
    assert fonts.runs_of("\u9519\u8bef\uff1a\u65e0", fonts.REGULAR) == [
        ("STSong-Light", "\u9519\u8bef\uff1a\u65e0")
    ]
    assert fonts.runs_of("97\u3000%", fonts.REGULAR) in (
        [(fonts.REGULAR, "97 %")],
        [(fonts.REGULAR, "97\u3000%")],
    )
