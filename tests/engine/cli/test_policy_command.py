"""`protoleaf policy`, and what a locked class list refuses."""

from pathlib import Path

import pytest

from engine.project import ClassPolicy, Project
from tests.support.command_line import done, refused
from tests.support.labelled_images import draw
from tests.support.projects import new_project


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Bird above Gull."""
    with new_project(tmp_path) as opened:
        _, bird = opened.classes.add("Bird")
        opened.classes.add("Gull", [bird])
        return opened.path


def test_rules_are_set_and_listed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a class and of the project; other settings stay."""
    assert "Classes of any level are predicted." in done(capsys, "policy", project).out
    done(capsys, "policy", project, "Gull", "--confidence", "0.9", "--no-broader", "--key", "4")
    done(capsys, "policy", project, "Bird/Gull", "--no-subclasses", "--level", "1", "--lock")
    text = done(capsys, "policy", project).out
    assert "The class list is locked.\nNo coarse class above level 1 is predicted.\n" in text
    assert "Bird/Gull: minimum confidence 0.90, no subclasses, no broader classes, key 4" in text
    done(capsys, "policy", project, "Gull", "--confidence", "parent", "--broader", "--key", "0")
    fields = done(capsys, "policy", project, "--unlock", "--level", "0", "--json").fields
    assert (fields["class_list_locked"], fields["broadest_level"]) == (False, 0)
    with Project.open(project, for_writing=False) as opened:
        assert opened.policies.by_class() == {2: ClassPolicy(is_deepest=True)}


@pytest.mark.parametrize(
    ("words", "status", "reason"),
    [
        (("--no-broader",), 2, "a rule for a class needs a class"),
        (("Gull", "--confidence", "much"), 2, "this is not a confidence"),
        (("Gull", "--confidence", "7"), 1, "a confidence threshold must be a probability"),
        (("Gul", "--key", "1"), 1, 'Did you mean "Gull"'),
    ],
)
def test_what_is_no_rule_is_refused(
    words: tuple[str, ...],
    status: int,
    reason: str,
    project: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert reason in refused(capsys, "policy", project, *words, status=status)


def test_folders_make_no_classes_in_a_locked_list(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is added; folders with names of classes work as always."""
    done(capsys, "policy", project, "--lock")
    draw(tmp_path / "photos" / "Bird" / "Auk" / "1.png", 40)
    err = refused(capsys, "import-images", project, tmp_path / "photos", "--folders-as-classes")
    assert "the class list is locked" in err.lower()
    with Project.open(project, for_writing=False) as opened:
        assert (len(opened.classes.graph), opened.images.count) == (2, 0)
    (tmp_path / "photos" / "Bird" / "Auk").rename(tmp_path / "photos" / "Bird" / "Gull")
    assert (
        "Added 1 image"
        in done(capsys, "import-images", project, tmp_path / "photos", "--folders-as-classes").out
    )
