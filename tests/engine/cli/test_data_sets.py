"""A data set embedded on the command line and opened as a project."""

from pathlib import Path

import pytest

from tests.support.command_line import done, refused
from tests.support.data_sets import embedded
from tests.support.images import write_jpeg


def test_a_project_of_a_data_set(own_caches: None, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Everything is there for `classify` once there are classes; a second time it is refused, and so is a backbone."""
    (tmp_path / "photos").mkdir()
    for number in range(4):
        write_jpeg(tmp_path / "photos" / f"{number}.jpg", seed=number)
    folder = embedded([tmp_path / "photos"], tmp_path / "set").folder
    path = tmp_path / "a.protoleaf"
    fields = done(capsys, "new", path, "--data-set", folder, "--json").fields
    assert (fields["images"], fields["embedded"], fields["doubles"]) == (4, 4, 0)
    assert done(capsys, "embed", path, "--one-view", "--json").fields["from_cache"] == 4
    assert "already there" in refused(capsys, "new", path, "--data-set", folder)
    other = tmp_path / "b.protoleaf"
    assert "a backbone of its own" in refused(
        capsys, "new", other, "--data-set", folder, "--backbone", "fast", status=2
    )
    assert "not a data set" in refused(capsys, "new", other, "--data-set", tmp_path)
    assert not other.exists()
