"""Planning of a merge: matches images and classes of the other project, and compares labels.

A plan never replaces our labels. A label from before the fork is not a disagreement: if one copy
changed it since, the change wins.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import final

from engine.archive.unpack import is_project_archive, project_in
from engine.collection.importing.match_images import FileContents
from engine.errors import InputError
from engine.files import FoundFile
from engine.graph.codes import label_path
from engine.merging.agreement import Pair, agreement_table
from engine.merging.annotation_plan import plan_audits, plan_exclusions, plan_fields, plan_notes
from engine.merging.class_plan import ClassPlan, plan_classes
from engine.merging.image_match import ImagePairs, match_images
from engine.merging.merge_plan import (
    AbsentImage,
    Conflict,
    MergePlan,
    OutdatedLabel,
    Side,
    Verdict,
    Waiting,
)
from engine.merging.merged_classes import classes_merged
from engine.merging.settled import SOURCE, settled_conflict
from engine.project import ClassId, ImageId, Project
from engine.project.fork import Fork
from engine.project.records import NO_ORIGIN, Label, NewItem

_REMEDY = "choose a copy of this project, or one about the same images"


def open_other(ours: Path, other: Path) -> Project:
    """Open another project, or the one in an archive, for reading.

    Its file is not changed, not even if an older version of the program wrote it.

    Raises:
        InputError: it is our own file.
        FormatError: it is a ZIP archive, but not of a project.
        ProjectMissingError, ProjectDamagedError, ProjectTooNewError: it cannot be read.
        ProjectLockedError: a program keeps writing to it.
    """
    if other.exists() and other.samefile(ours):
        raise InputError(
            "a project cannot be merged with itself",
            found=str(other),
            remedy="choose the other person's copy of it",
        )
    if is_project_archive(other):
        with project_in(other) as inside:
            return Project.open(inside, for_writing=False)  # which reads a private copy
    return Project.open(other, for_writing=False)


def plan_merge(ours: Project, theirs: Project, contents: FileContents | None = None) -> MergePlan:
    """Plan to merge another project; neither is changed.

    Args:
        contents: cache of hashes; also cancels.

    Raises:
        InputError: the two have neither images nor classes in common.
        GraphError: together they have too many classes, or levels.
        Cancelled: the work was stopped.
    """
    contents = contents or FileContents()
    fork = ours.history.fork_with(theirs.history)
    contents.cancel.raise_if_cancelled()
    classes = plan_classes(
        ours.classes.graph, theirs.classes.graph, fork, classes_merged(ours, theirs.classes.graph)
    )
    contents.cancel.raise_if_cancelled()
    images = match_images(ours, theirs, fork, contents)
    if fork is None and not images.pairs and not classes.matched:
        raise InputError(
            "the two projects have nothing in common",
            expected="the same images, or classes of the same names",
            found=str(theirs.path),
            remedy=_REMEDY,
        )
    contents.cancel.raise_if_cancelled()
    labels = _Labels(ours, theirs, classes, fork)
    labels.compare(images)
    return labels.plan(images)


@final
class _Labels:
    """Compares the labels of common images."""

    def __init__(
        self, ours: Project, theirs: Project, classes: ClassPlan, fork: Fork | None
    ) -> None:
        self._project, self._other = ours, theirs
        self._classes = classes
        self._fork = fork
        self._ours, self._theirs = ours.labels.by_image(), theirs.labels.by_image()
        self._path = cache(classes.after.path_text)
        self._ancestors = cache(classes.after.ancestors)
        self._coming: dict[ImageId, Label] = {}
        self._conflicts: list[Conflict] = []
        self._pairs: list[Pair] = []
        self._waiting = Counter[ClassId]()
        self._counts = Counter[str]()

    def compare(self, images: ImagePairs) -> None:
        """Compare labels of matched images, of their copies, and of new parts."""
        for their_id, our_id in sorted(images.pairs.items(), key=lambda pair: pair[1]):
            theirs = self._theirs.get(their_id)
            if theirs is not None and self._is_known(theirs):
                self._compare(their_id, our_id, theirs)
        judged = len(self._pairs)
        for their_id, our_id in images.copies:
            theirs = self._theirs.get(their_id)
            is_ours_twice = their_id in images.pairs  # their label is compared above
            if theirs is None or (
                is_ours_twice and (our_id in self._ours or not self._is_here(theirs))
            ):
                continue
            if self._is_known(theirs):
                self._compare(their_id, our_id, theirs)
        del self._pairs[judged:]  # agreement counts a photo once
        for their_id, _our_id in images.new_parts:
            if (theirs := self._theirs.get(their_id)) is not None:
                self._is_known(theirs)  # count labels of classes that cannot be merged

    def _is_here(self, theirs: Label) -> bool:
        return theirs.class_id is None or theirs.class_id in self._classes.pairs

    def _is_known(self, theirs: Label) -> bool:
        is_here = self._is_here(theirs)
        if not is_here and theirs.class_id is not None:
            self._waiting[theirs.class_id] += 1
        return is_here

    def _code_of(self, theirs: Label) -> int:
        """Our class, or the code of a label without a class."""
        return theirs.code if theirs.class_id is None else self._classes.pairs[theirs.class_id]

    def _compare(self, their_id: ImageId, our_id: ImageId, theirs: Label) -> None:
        ours, code = self._ours.get(our_id) or self._coming.get(our_id), self._code_of(theirs)
        if ours is None:
            self._add(their_id, our_id, theirs)
        elif self._is_settled(ours, theirs, code):
            self._counts["settled"] += 1
        elif (ours.code, ours.who, ours.when) == (code, theirs.who, theirs.when):
            self._counts["same"] += 1
        elif self._fork is not None and self._fork.was_here(our_id, their_id, theirs):
            self._counts["kept"] += 1
        else:
            self._judge(their_id, ours, theirs, code)

    def _add(self, their_id: ImageId, our_id: ImageId, theirs: Label) -> None:
        if self._fork is not None and self._fork.was_here(our_id, their_id, theirs):
            self._counts["kept"] += 1  # it was removed here
        else:
            self._coming[our_id] = replace(
                theirs, image_id=our_id, class_id=_class(self._code_of(theirs))
            )

    def _is_settled(self, ours: Label, theirs: Label, code: int) -> bool:
        if ours.code == code and ours.source != SOURCE:
            return False
        was = settled_conflict(self._project, ours.image_id, theirs)
        if was is None:
            return False
        if not was.is_update and (was.code < 0 or was.code in self._classes.after):
            self._pairs.append((_class(was.code), _class(code)))
        return True

    def _judge(self, their_id: ImageId, ours: Label, theirs: Label, code: int) -> None:
        is_update = self._fork is not None and self._fork.was_there(ours.image_id, their_id, ours)
        if not is_update:
            self._pairs.append((ours.class_id, _class(code)))
        if ours.code == code:
            self._counts["same" if is_update else "agreed"] += 1
            return
        self._conflicts.append(
            Conflict(
                ours.image_id,
                self._project.images.record(ours.image_id).path,
                self._side(ours, ours.code),
                self._side(theirs, code),
                is_update,
                self._finer(ours.class_id, _class(code)),
            )
        )

    def _side(self, label: Label, code: int) -> Side:
        return Side(code, label_path(code, self._path), label.who, label.when)

    def _finer(self, ours: ClassId | None, theirs: ClassId | None) -> Verdict | None:
        """Whose class is a descendant of the other; None if neither is."""
        if ours is None or theirs is None:
            return None
        if ours in self._ancestors(theirs):
            return Verdict.THEIRS
        return Verdict.OURS if theirs in self._ancestors(ours) else None

    def plan(self, images: ImagePairs) -> MergePlan:
        """Make the plan, after `compare`."""
        graph, table = self._other.classes.graph, self._other.images.table(images.missing)
        notes, comments, stars_kept = plan_notes(self._project, self._other, images, self._fork)
        folder = self._other.path.parent
        found = dict(self._other.images.detections()) if table.has_parts else {}
        missing = (
            AbsentImage(
                image_id, path, folder / path, size_bytes, part, found.get(image_id, NO_ORIGIN)
            )
            for image_id, path, size_bytes, part in zip(
                table.ids, table.paths, table.sizes_bytes, table.parts, strict=True
            )
        )
        other = self._other.images.table([their_id for their_id, _our_id in images.other_content])
        return MergePlan(
            source=self._other.path,
            is_copy=self._fork is not None,
            classes=self._classes,
            matched=images.counts,
            missing=tuple(missing),
            new_parts=tuple(self._new_parts(images)),
            other_content=tuple(other.paths),
            labels=tuple(self._coming[each] for each in sorted(self._coming)),
            same=self._counts["same"],
            agreed=self._counts["agreed"],
            kept=self._counts["kept"],
            settled=self._counts["settled"],
            conflicts=tuple(self._conflicts),
            waiting=tuple(
                Waiting(graph.path_text(each), count) for each, count in self._waiting.most_common()
            ),
            outdated=tuple(self._outdated(images)),
            confirmations=tuple(self._confirmations(images)),
            notes=notes,
            comments=comments,
            stars_kept=stars_kept,
            fields=plan_fields(self._project, self._other, images, self._fork),
            audits=plan_audits(self._project, self._other, images, self._classes),
            exclusions=plan_exclusions(self._project, self._other, images, self._classes),
            agreement=agreement_table(self._classes.after, self._pairs),
        )

    def _new_parts(self, images: ImagePairs) -> Iterator[NewItem]:
        found = dict(self._other.images.detections()) if images.new_parts else {}
        for their_id, our_id in images.new_parts:
            ours = self._project.images.record(our_id)
            file = FoundFile(self._project.images.resolve(ours), ours.size_bytes, ours.modified_ns)
            part = self._other.images.record(their_id).part
            yield NewItem(file, part, *found.get(their_id, NO_ORIGIN))

    def _outdated(self, images: ImagePairs) -> Iterator[OutdatedLabel]:
        """Their outdated labels that were never here."""
        graph, here = self._other.classes.graph, images.pairs | dict(images.other_content)
        for their_id, label in self._other.labels.outdated().items():
            our_id = here.get(their_id)
            if our_id is None or not self._was_here(our_id, their_id, label):
                path = self._other.images.record(their_id).path
                yield OutdatedLabel(path, label_path(label.code, graph.path_text), label.who)

    def _was_here(self, our_id: ImageId, their_id: ImageId, theirs: Label) -> bool:
        ours = self._ours.get(our_id)
        if ours is not None and (ours.who, ours.when) == (theirs.who, theirs.when):
            return True
        return self._fork is not None and self._fork.was_here(our_id, their_id, theirs)

    def _confirmations(self, images: ImagePairs) -> Iterator[Label]:
        """Their confirmations of labels that are equal here after the merge."""
        known = self._project.labels.confirmed()
        for their_id, theirs in self._other.labels.confirmations().items():
            our_id = images.pairs.get(their_id)
            if our_id is None or our_id in known or not self._is_here(theirs):
                continue
            ours = self._ours.get(our_id) or self._coming.get(our_id)
            if ours is not None and ours.class_id == _class(self._code_of(theirs)):
                yield replace(theirs, image_id=our_id, class_id=ours.class_id)


def _class(code: int) -> ClassId | None:
    return code if code >= 0 else None
