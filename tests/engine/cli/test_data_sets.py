"""A data set embedded on the command line and opened as a project."""

from pathlib import Path

import pytest

from tests.support.command_line import done, refused
from tests.support.data_sets import embedded, some_rows, write_data_set
from tests.support.images import write_jpeg


@pytest.mark.slow
def test_a_project_of_a_data_set(
    own_caches: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """`classify` works once there are classes.

    An existing project and a backbone are refused.
    """
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
    assert "its own backbone" in refused(
        capsys, "new", other, "--data-set", folder, "--backbone", "fast", status=2
    )
    assert "not a data set" in refused(capsys, "new", other, "--data-set", tmp_path)
    assert not other.exists()


@pytest.mark.slow
def test_a_project_of_a_sample(
    own_caches: None, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The number requested, embedded once.

    The same seed gives the same images, another method others.
    """
    (tmp_path / "photos").mkdir()
    for number in range(12):
        write_jpeg(tmp_path / "photos" / f"{number}.jpg", seed=number)
    folder = embedded([tmp_path / "photos"], tmp_path / "set").folder
    drawn = []
    for name, options in (
        ("a", ()),
        ("b", ()),
        ("c", ("--by", "random")),
        ("d", ("--by", "random", "--seed", "1")),
    ):
        path = tmp_path / f"{name}.protoleaf"
        fields = done(capsys, "sample", folder, "5", "--out", path, *options, "--json").fields
        assert (fields["images"], fields["embedded"], fields["doubles"]) == (5, 5, 0)
        assert done(capsys, "embed", path, "--one-view", "--json").fields["from_cache"] == 5
        drawn.append(
            [image["image"] for image in done(capsys, "images", path, "--json").fields["images"]]
        )
    assert drawn[0] == drawn[1]
    assert len({frozenset(each) for each in drawn}) == 3
    assert "already there" in refused(capsys, "sample", folder, "5", "--out", path)


@pytest.mark.usefixtures("own_caches")
@pytest.mark.parametrize(
    ("words", "message", "status"),
    [
        (
            ("SET", "100"),
            "expected from 1 to 60, the number of its images with an embedding, found 100",
            1,
        ),
        (("SET", "0"), "Invalid value for 'N'", 2),
        (("SET", "5", "--by", "magic"), "expected teach-first or random, found magic", 2),
        (("EMPTY", "5"), "this is not a data set", 1),
        (("NOWHERE", "5"), "this is not a data set", 1),
        (("PROJECT", "5"), "`protoleaf suggest PROJECT --count N` lists the images", 2),
    ],
)
def test_samples_that_cannot_be(
    words: tuple[str, ...],
    message: str,
    status: int,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    """One line and no project."""
    (tmp_path / "empty").mkdir()
    done(capsys, "new", tmp_path / "a.protoleaf")
    places = {
        "SET": write_data_set(tmp_path / "set", [some_rows(70, 384)]).folder,
        "EMPTY": tmp_path / "empty",
        "NOWHERE": tmp_path / "nowhere",
        "PROJECT": tmp_path / "a.protoleaf",
    }
    out = tmp_path / "out.protoleaf"
    assert message in refused(
        capsys, "sample", *(places.get(word, word) for word in words), "--out", out, status=status
    )
    assert not out.exists()
