"""Import labels in any of the formats: plan first, then apply as one action.

Labels of the project are never overwritten: conflicts are listed. Predictions are not imported.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from engine.collection.importing.class_reading import (
    ClassReader,
    ClassReading,
    KeywordClasses,
    PathSpelling,
    make_classes,
)
from engine.collection.importing.import_graph import known_sources
from engine.collection.importing.label_plan import (
    ClassConflict,
    ContentConflict,
    LabelConflict,
    LabelPlan,
    LooselySpelled,
    ReadLabels,
    read_labels,
)
from engine.collection.importing.match_fields import FieldMatcher, fields_of
from engine.collection.importing.match_images import (
    FileContents,
    ImageMatcher,
    PartMatcher,
    PermittedImages,
    add_parts,
)
from engine.detection.detections import THRESHOLD
from engine.errors import GraphError, reason_of
from engine.file_parts import WHOLE_FILE
from engine.files import FoundFile, shown
from engine.graph.codes import EMPTY, UNKNOWN, label_path
from engine.graph.names import clean_path, join_path
from engine.interchange.labelled_images.foreign_labels import (
    ForeignLabel,
    ForeignLabels,
    problem_at,
)
from engine.interchange.labelled_images.formats import AUTO
from engine.project import BackupReason, Change, Project
from engine.project.actions import action
from engine.project.backups.keeping import MANY
from engine.project.records import Label, Note
from engine.project.schema import LONGEST_TEXT
from engine.texts import Message, enumerated, marked

SOURCE = "import"  # source of imported labels


@dataclass(frozen=True)
class LabelImport:
    """The result of an import."""

    plan: LabelPlan  # final, with lists of what was not imported
    change: Change  # one action
    labelled: int
    classes_added: int
    images_added: int
    boxes_added: int = 0  # boxes, pages and moments
    noted: int = 0  # images that got stars, a flag or a comment


def plan_labels(
    project: Project,
    source: Path,
    *,
    format_name: str = AUTO,
    columns: Mapping[str, str] | None = None,
    who: str = "",
    read: ReadLabels | None = None,
    contents: FileContents | None = None,
) -> LabelPlan:
    """Plan an import of labels; nothing is changed.

    Args:
        format_name: a key of `FORMATS`; detected by default.
        columns: see `read_labels`.
        who: default annotator; by default the name of the source.
        read: the source, if it was read before.
        contents: cached content hashes; also cancels reading.

    Raises:
        UsageError, FormatError, StorageError: the source cannot be read.
        Cancelled: `contents.cancel` was set.
    """
    name, foreign = read or read_labels(source, format_name, columns)
    return _planned(project, name, foreign, who or _name_of(source), contents or FileContents())


def import_labels(
    project: Project,
    source: Path,
    *,
    format_name: str = AUTO,
    columns: Mapping[str, str] | None = None,
    who: str = "",
    adds_classes: bool = False,
    adds_images: bool = False,
    threshold: float = THRESHOLD,
    read: ReadLabels | None = None,
    contents: FileContents | None = None,
    image_folders: Sequence[Path] = (),
) -> LabelImport:
    """Import labels as one action; see `plan_labels`.

    Args:
        adds_classes: whether to make missing classes.
        adds_images: whether to add missing images whose files are found and permitted.
        threshold: least score, 0..1, of detected boxes; drawn ones are always added.
        image_folders: further folders to add images from; see `PermittedImages`.

    Raises:
        UsageError, FormatError, StorageError: the source cannot be read; nothing is changed.
        GraphError: its classes do not fit into the graph; nothing is changed.
    """
    name, foreign = read or read_labels(source, format_name, columns)
    whose, read_files = who or _name_of(source), contents or FileContents()
    plan = _planned(project, name, foreign, whose, read_files)
    backup = BackupReason.IMPORT if len(plan.labels) + len(plan.waiting) > MANY else None
    with project.history.one_step(backup=backup) as step:
        files, refused = (
            images_on_disk(plan, PermittedImages(project, source, image_folders))
            if adds_images
            else ({}, [])
        )
        distinct = list({found.path: found for found in files.values()}.values())
        images = len(project.images.add(distinct).images_added) if distinct else 0
        classes = make_classes(project, plan.new_classes) if adds_classes else 0
        if images or classes:
            plan = _planned(project, name, foreign, whose, read_files)
        boxes = add_parts(project, plan.new_parts, threshold)
        if boxes:
            plan = _planned(project, name, foreign, whose, read_files)
        labelled = len(project.labels.add_missing(plan.labels).labelled) if plan.labels else 0
        noted = len(project.notes.add_missing(plan.notes).noted) if plan.notes else 0
        if plan.field_values:
            project.fields.add_missing(plan.field_values, fields_of(plan.field_values))
        counts = {"boxes": boxes} if boxes else {}
        step.action = action(
            "labels_imported_from", labels=labelled, source=_name_of(source), **counts
        )
    plan = replace(plan, problems=(*plan.problems, *refused))
    return LabelImport(plan, step.change, labelled, classes, images, boxes, noted)


def _name_of(source: Path) -> str:
    return source.name or source.absolute().name


def _planned(
    project: Project, format_name: str, foreign: ForeignLabels, whose: str, contents: FileContents
) -> LabelPlan:
    planner = _Planner(project, whose, contents)
    for label in foreign.labels:
        planner.take(label)
    for noted in foreign.noted:
        planner.take_note(noted)
    return replace(
        planner.plan(format_name),
        table=foreign.table,
        unlabelled=foreign.unlabelled,
        problems=(*foreign.problems, *planner.problems()),
    )


class _Planner:
    """Collects labels one by one."""

    def __init__(self, project: Project, whose: str, contents: FileContents) -> None:
        self._project = project
        self._graph = project.classes.graph
        self._whose = whose
        self._matcher, self._parts = ImageMatcher(project, contents), PartMatcher(project)
        self._fields = FieldMatcher(whose)
        self._reader = ClassReader(project.classes.graph, lambda: known_sources(project))
        self._spelling = PathSpelling(project.classes.graph)
        self._loosely_spelled: Counter[tuple[str, int]] = Counter()
        self._as_none: Counter[str] = Counter()
        self._ambiguous_images: dict[str, tuple[str, ...]] = {}
        self._found: dict[int, tuple[int | None, ForeignLabel]] = {}
        self._waiting: list[ForeignLabel] = []
        self._missing: dict[str, None] = {}
        self._new_classes: Counter[tuple[str, ...]] = Counter()
        self._suggestions: Counter[str] = Counter()
        self._contradictions: list[LabelConflict] = []
        self._by_machine = self._new_labels = 0
        self._keywords = KeywordClasses(project.classes.graph)
        self._tagged: dict[str, tuple[int, ...]] = {}
        self._ambiguous: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._impossible: list[str] = []
        self._class_conflicts: dict[ClassConflict, None] = {}
        self._content_conflicts: dict[str, ContentConflict] = {}
        self._notes: dict[int, Note] = {}

    def take(self, label: ForeignLabel) -> None:
        if label.is_machine:
            self._by_machine += not label.is_box_alone
            if label.part != WHOLE_FILE:
                self._parts.images_of(label, self._images_of(label))
            return
        if label.is_keyword:
            self._take_keyword(label)
            return
        reading = ClassReading()
        if label.names:
            reading = self._reader.read(
                label.names, label.source_id, label.other_names, ignores_synonyms=label.may_be_none
            )
        if reading.is_conflict:
            self._class_conflicts[self._unclear(label, reading)] = None
            return
        files = self._images_of(label)
        if (
            files or label.image in self._missing
        ):  # else it is another photo of the same name, or one of several
            self._take_of_images(
                label, reading, self._parts.images_of(label, files), has_file=bool(files)
            )

    def _take_of_images(
        self, label: ForeignLabel, reading: ClassReading, images: tuple[int, ...], *, has_file: bool
    ) -> None:
        if label.may_be_none and reading.class_id is None:
            self._as_none[join_path(label.names)] += not label.is_empty
            label = replace(label, names=())
        is_missing = bool(label.names) and reading.class_id is None
        if is_missing:
            label = replace(
                label, names=self._spelling.spelled(label.names, keeps_new=label.is_ours)
            )
            if not self._can_be_made(label.names, label):
                return
        elif reading.class_id is not None and reading.is_loosely_spelled:
            self._loosely_spelled[join_path(label.names), reading.class_id] += 1
        if is_missing or not has_file:
            self._waiting.append(label)
            return
        self._new_labels += not images
        for image_id in images:
            self._add(image_id, reading.class_id, label)
            self._fields.take(image_id, label)

    def take_note(self, noted: ForeignLabel) -> None:
        """Collect stars, flag and comment of an image of the project."""
        given = noted.note
        if given is None:
            return
        for image_id in self._matcher.match(noted).images:
            when = given.when or datetime.now(UTC)
            note = Note(
                image_id,
                given.stars,
                given.is_flagged,
                given.comment[:LONGEST_TEXT],
                given.who or self._whose,
                when,
            )
            self._notes.setdefault(image_id, note)

    def plan(self, format_name: str) -> LabelPlan:
        ours = self._project.labels.by_image()
        noted = self._project.notes.by_image() if self._notes else {}
        conflicts = []
        labels = []
        already = 0
        for image_id, (class_id, label) in self._found.items():
            own = ours.get(image_id)
            if own is None:
                when = label.when or datetime.now(UTC)
                is_empty = _code(class_id, label) == EMPTY
                labels.append(
                    Label(
                        image_id,
                        class_id,
                        label.who or self._whose,
                        when,
                        SOURCE,
                        is_empty=is_empty,
                    )
                )
            elif own.code == _code(class_id, label):
                already += 1
            else:
                path = self._project.images.record(image_id).path
                conflicts.append(self._conflict(path, own.code, class_id, label))
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
            class_conflicts=tuple(self._class_conflicts),
            content_conflicts=tuple(self._content_conflicts.values()),
            notes=tuple(
                note for image_id, note in sorted(self._notes.items()) if image_id not in noted
            ),
            loosely_spelled={
                name: LooselySpelled(self._graph.path_text(class_id), count)
                for (name, class_id), count in self._loosely_spelled.items()
            },
            as_none=dict(+self._as_none),
            new_labels=self._new_labels,
            new_parts=self._parts.new,
            field_values=self._fields.values,
            ambiguous_images=self._ambiguous_images,
        )

    def problems(self) -> list[str]:
        """Ambiguous keywords, and labels of invalid classes."""
        template = marked('the keyword "{keyword}" may mean several classes: {paths}')
        several: list[str] = [
            Message(template, {"keyword": join_path(names), "paths": enumerated(paths)})
            for names, paths in self._ambiguous.items()
        ]
        return [*several, *self._impossible, *self._parts.problems]

    def _add(self, image_id: int, class_id: int | None, label: ForeignLabel) -> None:
        earlier, first = self._found.setdefault(image_id, (class_id, label))
        if _code(earlier, first) == _code(class_id, label):
            return
        if earlier is not None and class_id is not None:
            if earlier in self._graph.ancestors(class_id):
                self._found[image_id] = class_id, label
                return
            if class_id in self._graph.ancestors(earlier):
                return
        self._contradictions.append(
            self._conflict(label.image, _code(earlier, first), class_id, label)
        )

    def _can_be_made(self, names: tuple[str, ...], label: ForeignLabel) -> bool:
        """Count a label of a missing class, or report an invalid class."""
        try:
            clean_path(names)
        except GraphError as error:
            self._impossible.append(problem_at(label.image, reason_of(error)))
            return False
        self._new_classes[names] += 1
        return True

    def _take_keyword(self, label: ForeignLabel) -> None:
        """Collect a keyword as a label if it names a class, else as a suggestion."""
        meaning = self._keywords.meaning(label.names)
        if meaning.several:
            self._ambiguous.setdefault(label.names, meaning.several)
            return
        missing = self._spelling.spelled(meaning.missing)
        if missing and not self._can_be_made(missing, label) and meaning.class_id is None:
            return
        if not meaning.missing and meaning.class_id is None:
            self._suggestions[label.names[0]] += 1
            return
        if label.image not in self._tagged:
            self._tagged[label.image] = self._images_of(label)
        images = self._tagged[label.image]
        if meaning.class_id is None or not images:
            self._waiting.append(
                label if meaning.class_id is not None else replace(label, names=missing)
            )
            return
        for image_id in images:
            self._add(image_id, meaning.class_id, label)

    def _images_of(self, label: ForeignLabel) -> tuple[int, ...]:
        """The images of a label; if there is none, that is recorded."""
        match = self._matcher.match(label)
        if match.several:
            self._ambiguous_images[label.image] = match.several
            return ()
        if match.namesake:
            self._content_conflicts[label.image] = ContentConflict(
                label.image, match.namesake, match.reason
            )
        if not match.images and (
            not match.namesake or (label.file is not None and label.file.is_file())
        ):
            self._missing[label.image] = None
        return match.images

    def _unclear(self, label: ForeignLabel, reading: ClassReading) -> ClassConflict:
        by_name, by_id = (
            tuple(map(self._graph.path_text, found))
            for found in (reading.named, reading.identified)
        )
        who = label.who or self._whose
        return ClassConflict(
            label.image, join_path(label.names), label.source_id, by_name, by_id, who
        )

    def _conflict(
        self, image: str, ours: int, theirs: int | None, label: ForeignLabel
    ) -> LabelConflict:
        ours_path, theirs_path = (
            label_path(code, self._graph.path_text) for code in (ours, _code(theirs, label))
        )
        return LabelConflict(image, ours_path, theirs_path, label.who or self._whose)


def _code(class_id: int | None, label: ForeignLabel) -> int:
    """Class id of a label, `UNKNOWN` or `EMPTY`."""
    if class_id is not None:
        return class_id
    return EMPTY if label.is_empty else UNKNOWN


def images_on_disk(
    plan: LabelPlan, permitted: PermittedImages
) -> tuple[dict[str, FoundFile], list[str]]:
    """Files of missing images by name in the source, and a line for each refused one."""
    missing = set(plan.missing_images)
    places = {
        label.image: label.file
        for label in plan.waiting
        if label.file is not None and label.image in missing
    }
    files: dict[str, FoundFile] = {}
    refused: list[str] = []
    for image, path in places.items():
        found = FoundFile.at(path)
        if found is None:
            continue
        if reason := permitted.refusal(path):
            refused.append(
                Message(
                    "{path} was not added: {reason}", {"path": shown(str(path)), "reason": reason}
                )
            )
        else:
            files[image] = found
    return files, refused
