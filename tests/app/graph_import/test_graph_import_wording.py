"""Texts of the card of a class list, and its preview."""

from pathlib import Path

import pytest

from app.graph_import.logic import SHOWN_CHILDREN, file_patterns, first_levels, survey_graph
from app.graph_import.wording import (
    besides_text,
    format_title,
    import_button,
    kind_text,
    levels_text,
    section_rows,
    section_title,
    stayed_text,
    summary_text,
    update_note,
)
from engine.collection.importing.import_graph import GraphImport, GraphPreview
from engine.errors import CycleError
from engine.interchange.detect import FORMATS
from engine.interchange.versions.plan import (
    REPORT_KINDS,
    Clash,
    ImportReport,
    ReportKind,
    ReportLine,
)
from engine.project import Change
from tests.support.projects import named, new_project
from tests.support.sources import source_of


def report(
    *levels: int, is_update: bool = True, same: int = 0, completed: int = 0, **counts: int
) -> ImportReport:
    """A report with these counts; the others are 0."""
    whole: dict[ReportKind, int] = {kind: counts.get(kind, 0) for kind in REPORT_KINDS}
    return ImportReport("birds.csv", sum(levels), 1, levels, is_update, same, completed, whole, {})


def preview(
    of: ImportReport, *, noted: int = 0, changes: bool = True, known_name: str = ""
) -> GraphPreview:
    """A preview of that report."""
    return GraphPreview(
        of, known_name, is_alike=True, changes=changes, noted=noted, gone_unlabelled=0
    )


@pytest.mark.parametrize(
    ("figures", "expected"),
    [
        ({"new": 1}, "1 new class"),
        (
            {"new": 12, "renamed": 2, "merged": 1, "moved": 3},
            "12 new classes, 2 renamed, 1 merged, 3 moved",
        ),
        ({"gone": 4}, "Nothing new"),
        ({"completed": 2}, "Synonyms of 2 classes"),
    ],
)
def test_summaries(figures: dict[str, int], expected: str) -> None:
    """Counts that are not zero; removed classes are not counted, since they stay."""
    assert summary_text(preview(report(3, **figures))) == expected  # type: ignore[arg-type]


def test_a_list_that_only_links_or_notes() -> None:
    """Adding never moves classes; notes are counted only if nothing else changes."""
    assert summary_text(preview(report(3, is_update=False, moved=2))) == "2 linked"
    assert (
        section_title("moved", report(3, is_update=False, moved=1)) == "1 class gets another parent"
    )
    assert summary_text(preview(report(3), noted=1)) == "Notes of 1 class"


def test_levels_and_kinds() -> None:
    """A few levels are listed with their counts; each format has a short name."""
    assert levels_text(report(7)) == "1 level"
    assert levels_text(report(1, 12, 140)) == "3 levels with 1, 12 and 140 classes"
    assert levels_text(report(*range(1, 15))) == "14 levels"
    assert all(len(format_title(name)) < 40 for name in FORMATS)
    assert all(pattern.startswith("*.") or "." in pattern for pattern in file_patterns().split())


def test_every_list_has_a_title_for_one_and_for_many() -> None:
    """Titles have singular and plural, and each reason for a conflict has a text."""
    for kind in REPORT_KINDS:
        titles = {section_title(kind, report(1, **{kind: count})) for count in (1, 120)}  # type: ignore[arg-type]
        assert len(titles) == 2
        assert any("120" in title for title in titles)
    for clash in Clash:
        ((path, theirs, why),) = section_rows(
            "kept", (ReportLine("Bird/Gull", "Larus", clash.value),)
        )
        assert (path, theirs) == ("Bird/Gull", "Larus")
        assert why
    gone = (ReportLine("Gull", labels=12), ReportLine("Tern"))
    assert section_rows("gone", gone) == [("Gull", "12"), ("Tern", "")]


def test_buttons_and_what_stayed() -> None:
    """The number of new classes; why a class could not be merged."""
    assert import_button(preview(report(3, is_update=False, new=3))) == "Import 3 classes"
    assert import_button(preview(report(3, is_update=False, moved=3))) == "Import"
    assert import_button(preview(report(3, new=3))) == "Update"
    change = Change(named("Updated from a.csv: 1 moved"))
    done = GraphImport(change, 0, 0, stayed=("Auk: it has labels",))
    assert stayed_text(done) == "Updated from a.csv: 1 moved. Kept: Auk: it has labels"
    done = GraphImport(
        Change(named("Updated from a.csv: 1 moved")),
        0,
        0,
        stayed=("Auk: it has labels", "Tern: it, too"),
    )
    assert (
        stayed_text(done)
        == "Updated from a.csv: 1 moved. Kept: 2 classes, such as Auk: it has labels"
    )


def test_how_a_list_begins() -> None:
    """Three levels and the first children; the others are counted, each descendant once."""
    wide = {f"Leaf {number}": ["Fruit"] for number in range(SHOWN_CHILDREN + 3)}
    top = first_levels(
        source_of(
            {"Food": [], "Fruit": ["Food"], "Red": ["Food"], **wide, "Leaf 0/x": ["Leaf 0", "Red"]}
        )
    )
    (food,) = top.children
    assert (food.name, food.below, food.more) == ("Food", len(wide) + 3, 0)
    fruit, red = food.children
    assert (fruit.below, len(fruit.children), fruit.more) == (len(wide) + 1, SHOWN_CHILDREN, 3)
    assert (red.below, red.children[0].children) == (1, ())


def survey_of(project: Path, source: Path, content: str) -> str:
    """All that is reported of a list, apart from its changes."""
    source.write_text(content, encoding="utf-8")
    survey = survey_graph(project, source)
    assert survey.adding is not None
    return "|".join((kind_text(survey, survey.adding.report), besides_text(survey, survey.adding)))


def test_a_list_that_is_here_already_is_remembered(tmp_path: Path) -> None:
    """Reported in advance; the preview writes nothing."""
    with new_project(tmp_path) as project:
        _, bird = project.classes.add("Bird")
        project.classes.add("Gull", [bird])
    before = project.path.read_bytes()
    text = survey_of(project.path, tmp_path / "birds.csv", "child,parent\nGull,Bird\n")
    assert text == (
        "Table, 2 classes, 1 edge|2 classes are in the project already. "
        "The list is remembered, to compare its next version with it."
    )
    survey = survey_graph(project.path, tmp_path / "birds.csv")
    assert survey.updating is not None
    assert update_note(survey).startswith("Many of these classes are in the project.")
    assert project.path.read_bytes() == before


def test_a_circle_with_what_is_here(tmp_path: Path) -> None:
    """An unrelated list is rejected; otherwise it can still be taken as an update."""
    with new_project(tmp_path) as project:
        _, life = project.classes.add("Life")
        _, bird = project.classes.add("Bird", [life])
        project.classes.add("Diver", [life, bird])
        for name in "ABCD":
            project.classes.add(name)
    content = "child,parent\nLife,\nDiver,Life\nBird,Life\nBird,Diver\n"
    (tmp_path / "near.csv").write_text(content, encoding="utf-8")
    survey = survey_graph(project.path, tmp_path / "near.csv")
    assert survey.adding is None
    assert "Diver" in survey.failure
    assert survey.updating is not None
    assert survey.updating.report.counts["moved"] == 2
    (tmp_path / "far.csv").write_text(
        content + "".join(f"New {number},\n" for number in range(9)), encoding="utf-8"
    )
    with pytest.raises(CycleError):
        survey_graph(project.path, tmp_path / "far.csv")
