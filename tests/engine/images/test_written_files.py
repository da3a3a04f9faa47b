"""Files changed since the project recorded them."""

from pathlib import Path

from engine.images.written_files import written_files


def test_a_name_that_no_file_can_have_is_passed_over(tmp_path: Path) -> None:
    """Invalid paths in a project from elsewhere are skipped."""
    (tmp_path / "0.png").write_bytes(b"picture")
    found = written_files(tmp_path, ["a\0b", "0.png"], [1, 1], [1, 1])
    assert list(found) == [1]
