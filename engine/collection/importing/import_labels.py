"""Bring labels back that others gave, in any of the formats: planned first, then taken over as one step.

What a person of this project said is never overwritten: where somebody else says something different, that is listed.
What a model said elsewhere is no label.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from engine.collection.importing.keyword_classes import KeywordClasses
from engine.collection.importing.match_images import ImageMatcher
from engine.errors import AmbiguousClassError, FormatError, GraphError
from engine.files import FoundFile
from engine.graph.category_graph import CategoryGraph
from engine.graph.names import clean_name, join_path
from engine.images.photo_keywords import photo_keywords
from engine.interchange.labelled_images.formats import AUTO, READ_FORMATS, detect, format_named
from engine.interchange.labelled_images.records import ForeignLabel, ForeignLabels
from engine.project import BackupReason, Change, Project
from engine.project.action_texts import counted
from engine.project.backups.keeping import MANY
from engine.project.records import Label

SOURCE: Final = "import"
"""What labels that came from elsewhere say of where they come from."""

ReadLabels = tuple[str, ForeignLabels]
"""The format of a source, and what it says."""
OnMatched = Callable[[], None]


@dataclass(frozen=True)
class LabelConflict:
    """Somebody else says something different.

    Attributes:
        image: its path in the project, or in the source where it says two things itself.
        ours: what the label in the project says, as a path; "" for none of the classes.
        theirs: what the source says.
        who: the person of the source.
    """

    image: str
    ours: str
    theirs: str
    who: str


@dataclass(frozen=True)
class LabelPlan:
    """What importing a source would do.

    Attributes:
        format_name: what the source is.
        labels: those that would be taken over, of images and classes that are there.
        new_classes: classes that are missing, as paths from the top down, with their labels' number.
        suggestions: keywords of photos that name no class, with how many photos have each; of those with a hierarchy
            the classes stand in `new_classes`.
        waiting: labels of classes or images that are missing, which `apply` can make or add.
        already_there: labels that the project has.
        conflicts: where the project says something else.
        contradictions: images of which the source says two things.
        missing_images: images that the project does not have, as the source names them.
        by_machine: answers of a model, which are no labels.
        unlabelled: images of the source without a class.
        problems: what could not be understood, one line each.
    """

    format_name: str
    labels: tuple[Label, ...] = ()
    new_classes: dict[tuple[str, ...], int] = field(default_factory=dict)
    waiting: tuple[ForeignLabel, ...] = ()
    already_there: int = 0
    conflicts: tuple[LabelConflict, ...] = ()
    contradictions: tuple[LabelConflict, ...] = ()
    missing_images: tuple[str, ...] = ()
    by_machine: int = 0
    unlabelled: int = 0
    problems: tuple[str, ...] = ()
    suggestions: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class LabelImport:
    """What came of it.

    Attributes:
        plan: what could be done at the end, for its lists of what was not taken over.
        change: the one undoable step.
        labelled, classes_added, images_added: how many.
    """

    plan: LabelPlan
    change: Change
    labelled: int
    classes_added: int
    images_added: int


def plan_labels(
    project: Project, source: Path, *, format_name: str = AUTO, who: str = "", read: ReadLabels | None = None
) -> LabelPlan:
    """See what importing labels would do; nothing is changed.

    Args:
        project: may be open for reading only.
        source: a file or folder.
        format_name: a key of `FORMATS`; found out by default.
        who: whose labels these are where the source does not say; by default its name.
        read: what `read_labels` found, where the source was read before.

    Raises:
        UsageError, FormatError, StorageError: the source cannot be read.
    """
    name, foreign = read or read_labels(source, format_name)
    return _planned(project, name, foreign, who or source.name)


def import_labels(
    project: Project,
    source: Path,
    *,
    format_name: str = AUTO,
    who: str = "",
    adds_classes: bool = False,
    adds_images: bool = False,
    read: ReadLabels | None = None,
) -> LabelImport:
    """Take labels over as one undoable step.

    Args:
        project: open for writing.
        source, format_name, who, read: see `plan_labels`.
        adds_classes: whether classes that are missing are made.
        adds_images: whether images that are missing are added where their files are found.

    Raises:
        UsageError, FormatError, StorageError: the source cannot be read; nothing is changed.
    """
    name, foreign = read or read_labels(source, format_name)
    whose = who or source.name
    plan = _planned(project, name, foreign, whose)
    notice = project.back_up_before(BackupReason.IMPORT) if len(plan.labels) + len(plan.waiting) > MANY else ""
    with project.one_step("") as step:
        images = _add_images(project, plan) if adds_images else 0
        classes = _add_classes(project, plan) if adds_classes else 0
        if images or classes:
            plan = _planned(project, name, foreign, whose)
        labelled = len(project.import_labels(plan.labels).labelled) if plan.labels else 0
        step.text = f"Imported {counted(labelled, 'label')} from {source.name}"
    return LabelImport(plan, replace(step.change, notice=notice), labelled, classes, images)


def read_labels(source: Path, format_name: str = AUTO) -> ReadLabels:
    """Read a source, and tell its format.

    Raises:
        UsageError, FormatError, StorageError: it cannot be read.
    """
    name = detect(source) if format_name == AUTO else format_name
    one = format_named(name, READ_FORMATS)
    if one.read_photos is not None:
        return name, one.read_photos(source, photo_keywords)
    assert one.read is not None, "one of them"
    return name, one.read(source)


def _planned(project: Project, format_name: str, foreign: ForeignLabels, whose: str) -> LabelPlan:
    planner = _Planner(project, whose)
    for label in foreign.labels:
        planner.take(label)
    return replace(
        planner.plan(format_name),
        unlabelled=foreign.unlabelled,
        problems=(*foreign.problems, *planner.problems()),
    )


class _Planner:
    """Collects labels one after the other."""

    def __init__(self, project: Project, whose: str) -> None:
        self._project = project
        self._graph = project.graph
        self._whose = whose
        self._matcher = ImageMatcher(project)
        self._classes: dict[tuple[str, tuple[str, ...]], int | str | None] = {}
        self._found: dict[int, tuple[int | None, ForeignLabel]] = {}
        self._waiting: list[ForeignLabel] = []
        self._missing: dict[str, None] = {}
        self._new_classes: Counter[tuple[str, ...]] = Counter()
        self._suggestions: Counter[str] = Counter()
        self._contradictions: list[LabelConflict] = []
        self._by_machine = 0
        self._keywords = KeywordClasses(project.graph)
        self._tagged: dict[str, list[int]] = {}
        self._ambiguous: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._problems: list[str] = []

    def take(self, label: ForeignLabel) -> None:
        if label.is_machine:
            self._by_machine += 1
            return
        if label.is_keyword:
            self._take_keyword(label)
            return
        images = self._matcher.images_of(label)
        if not images:
            self._missing[label.image] = None
        class_id = self._class_of(label)
        if isinstance(class_id, str) or not images:
            self._waiting.append(label)
            return
        for image_id in images:
            self._add(image_id, class_id, label)

    def plan(self, format_name: str) -> LabelPlan:
        ours = self._project.labels()
        conflicts = []
        labels = []
        already = 0
        for image_id, (class_id, label) in self._found.items():
            own = ours.get(image_id)
            if own is None:
                when = label.when or datetime.now(UTC)
                labels.append(Label(image_id, class_id, label.who or self._whose, when, SOURCE))
            elif own.class_id == class_id:
                already += 1
            else:
                path = self._project.image(image_id).path
                conflicts.append(
                    LabelConflict(path, self._text(own.class_id), self._text(class_id), label.who or self._whose)
                )
        return LabelPlan(
            format_name,
            tuple(labels),
            dict(self._new_classes),
            tuple(self._waiting),
            already,
            tuple(conflicts),
            tuple(self._contradictions),
            tuple(self._missing),
            self._by_machine,
            suggestions=dict(self._suggestions.most_common()),
        )

    def problems(self) -> list[str]:
        """What could not be understood of the classes."""
        several = (
            f'the keyword "{join_path(names)}" may mean several classes: {", ".join(paths)}'
            for names, paths in self._ambiguous.items()
        )
        return [*self._problems, *several]

    def _add(self, image_id: int, class_id: int | None, label: ForeignLabel) -> None:
        known = self._found.get(image_id)
        if known is None or known[0] == class_id:
            self._found.setdefault(image_id, (class_id, label))
            return
        earlier = known[0]
        if earlier is not None and class_id is not None:
            if earlier in self._graph.ancestors(class_id):
                self._found[image_id] = class_id, label
                return
            if class_id in self._graph.ancestors(earlier):
                return
        self._contradictions.append(
            LabelConflict(label.image, self._text(earlier), self._text(class_id), label.who or self._whose)
        )

    def _take_keyword(self, label: ForeignLabel) -> None:
        """Take a photo's keyword for a label where it names a class; else it is a suggestion."""
        meaning = self._keywords.meaning(label.names)
        if meaning.several:
            self._ambiguous.setdefault(label.names, meaning.several)
            return
        if meaning.missing:
            self._new_classes[meaning.missing] += 1
        elif meaning.class_id is None:
            self._suggestions[label.names[0]] += 1
            return
        if label.image not in self._tagged:
            self._tagged[label.image] = self._matcher.images_of(label)
        images = self._tagged[label.image]
        if not images:
            self._missing[label.image] = None
        if meaning.class_id is None or not images:
            self._waiting.append(label if meaning.class_id is not None else replace(label, names=meaning.missing))
            return
        for image_id in images:
            self._add(image_id, meaning.class_id, label)

    def _class_of(self, label: ForeignLabel) -> int | str | None:
        """The class, None for none of them; a text where it is missing or several fit, which is then told."""
        if not label.names:
            return None
        key = label.source_id, label.names
        if key not in self._classes:
            self._classes[key] = self._find(label)
        found = self._classes[key]
        if found == _MISSING:
            self._new_classes[label.names] += 1
        return found

    def _find(self, label: ForeignLabel) -> int | str:
        if label.source_id and len(by_id := self._graph.fitting(label.source_id)) == 1:
            return by_id[0]
        try:
            return self._graph.find(join_path(label.names))
        except AmbiguousClassError as error:
            self._problems.append(str(error))
            return _SEVERAL
        except GraphError:
            return _MISSING

    def _text(self, class_id: int | None) -> str:
        return "" if class_id is None else self._graph.path_text(class_id)


_MISSING: Final = "missing"
_SEVERAL: Final = "several"


def images_on_disk(plan: LabelPlan) -> dict[str, FoundFile]:
    """Files of images that are missing in the project, where the source tells them, by what it calls them."""
    missing = set(plan.missing_images)
    places = {label.image: label.file for label in plan.waiting if label.file is not None and label.image in missing}
    return {
        image: found for image, path in places.items() if path.is_file() and (found := FoundFile.at(path)) is not None
    }


def _add_images(project: Project, plan: LabelPlan) -> int:
    files = list({found.path: found for found in images_on_disk(plan).values()}.values())
    return len(project.add_images(files).images_added) if files else 0


def _add_classes(project: Project, plan: LabelPlan) -> int:
    before = len(project.graph)
    for names in plan.new_classes:
        _make(project, project.graph, [_clean(name) for name in names])
    return len(project.graph) - before


def _make(project: Project, graph: CategoryGraph, names: Iterable[str]) -> None:
    parent: int | None = None
    for name in names:
        child = graph.child_named(parent, name)
        parent = project.add_class(name, () if parent is None else (parent,))[1] if child is None else child


def _clean(name: str) -> str:
    try:
        return clean_name(name)
    except GraphError as error:
        raise FormatError(
            f"a class of the source cannot be made: {error.what}", found=error.found, remedy=error.remedy
        ) from error
