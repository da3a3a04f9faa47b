"""Labels of photos replaced in the other copy are listed, not merged."""

from pathlib import Path

import pytest

from engine.merging.merge import merge
from engine.project import Project
from tests.support.copies import labels_of, replace_photo, stranger, two_copies


def listed(ours: Project, theirs: Project) -> list[tuple[str, str, str]]:
    """Image, class and author of each label listed as outdated."""
    return [
        (Path(each.image).name, each.theirs, each.who)
        for each in merge(ours, theirs.path).plan.outdated
    ]


@pytest.mark.parametrize(("class_id", "path"), [(2, "Bird/Gull"), (None, "")])
def test_it_is_listed_and_not_brought_over(tmp_path: Path, class_id: int | None, path: str) -> None:
    ada, ben = two_copies(tmp_path)
    ben.labels.set([3], class_id, who="ben")
    replace_photo(ben, 3)
    assert listed(ada, ben) == [("IMG_000002.jpg", path, "ben")]
    assert 3 not in labels_of(ada)


def test_what_was_here_before_is_not_listed(tmp_path: Path) -> None:
    """Image 1 was labelled before the fork.

    The label of image 3 came from an earlier merge.
    """
    ada, ben = two_copies(tmp_path)
    ben.labels.set([3], 2, who="ben")
    assert listed(ada, ben) == []
    replace_photo(ben, 1)
    replace_photo(ben, 3)
    assert listed(ada, ben) == []
    assert labels_of(ada)[3] == ("Bird/Gull", "ben")


def test_another_decision_about_the_old_photo_is_listed(tmp_path: Path) -> None:
    """Our label stays."""
    ada, ben = two_copies(tmp_path)
    ben.labels.set([1], 1, who="ben")
    replace_photo(ben, 1)
    assert listed(ada, ben) == [("IMG_000000.jpg", "Bird", "ben")]
    assert labels_of(ada)[1] == ("Bird/Gull", "ada")


def test_of_another_project_and_of_images_that_are_not_here(tmp_path: Path) -> None:
    """An unrelated photo of another path, and one missing here."""
    ada, _ben = two_copies(tmp_path, images=6)
    other = stranger(tmp_path / "cleo", images=8)
    _, bird = other.classes.add("Bird")
    other.labels.set([4, 7], bird, who="cleo")
    replace_photo(other, 4)
    replace_photo(other, 7)
    assert [(image, who) for image, _, who in listed(ada, other)] == [
        ("IMG_000003.jpg", "cleo"),
        ("IMG_000006.jpg", "cleo"),
    ]


def test_confirmed_there_it_comes_in(tmp_path: Path) -> None:
    """As the label of the current photo, whose image here has the same content."""
    ada, ben = two_copies(tmp_path)
    ben.labels.set([3], 2, who="ben")
    for project in (ada, ben):
        replace_photo(project, 3)
    assert listed(ada, ben) == [("IMG_000002.jpg", "Bird/Gull", "ben")]
    ben.labels.confirm([3], who="ben")
    assert listed(ada, ben) == []
    assert labels_of(ada)[3] == ("Bird/Gull", "ben")
