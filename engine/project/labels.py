"""Labels of images by annotators. No function of this module takes a prediction.

A label belongs to the picture that was seen (decision 110). If another picture is found in the
file, it is outdated: its row stays, but has no effect until it is confirmed or the image is
labelled again.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import final

from engine.graph.codes import EMPTY, UNKNOWN
from engine.project.actions import action
from engine.project.change import Change
from engine.project.clock import ANONYMOUS, person_name, time_of, time_text
from engine.project.connection import Connection, Row
from engine.project.exclusions import put_exclusions
from engine.project.file_changes import present
from engine.project.graph_rows import class_name
from engine.project.image_rows import check_images, label_row, plain_ids
from engine.project.records import ClassId, ImageId, Label, LabelTable
from engine.project.schema import CONFIRMED_LABEL, EXCLUSION, LABEL
from engine.project.step import OpenStep
from engine.project.store import ProjectPart

REVIEW = "review"
"""Source of labels given in the program."""
IN_BULK = "bulk"
"""Source of labels given by accepting predictions of several images at once."""
REPLACED_FIELDS = frozenset({"relabelled", "from", "other"})
"""Arguments of an action with the labels it replaced."""
_COLUMNS = LABEL.select_all
_WITHOUT_CLASS = {UNKNOWN: "labelled_as_none", EMPTY: "labelled_as_empty"}
"""Codes in place of a class id, with the actions of labelling so."""
_UNNAMED = f"{_COLUMNS} WHERE who = ? AND source <> 'import' ORDER BY image_id", (ANONYMOUS,)
_IN_FORCE = """NOT EXISTS (SELECT 1 FROM image_change AS changed
    WHERE changed.image_id = label.image_id AND changed.found_at > label.labelled_at)"""


@final
class ProjectLabels(ProjectPart):
    """The labels of a project, at most one per image. Only `outdated` returns outdated ones."""

    def by_image(self) -> dict[ImageId, Label]:
        """All labels by image, in ascending image id order."""
        labels = map(
            _label, self._connection.rows(f"{_COLUMNS} WHERE {_IN_FORCE} ORDER BY image_id")
        )
        return {label.image_id: label for label in labels}

    def outdated(self) -> dict[ImageId, Label]:
        """Labels by image whose file holds another picture now than the one that was labelled."""
        return {label.image_id: label for label in map(_label, _outdated_rows(self._connection))}

    def table(self) -> LabelTable:
        """All labels as columns: the quick way to read many."""
        rows = self._connection.rows(
            "SELECT image_id, class_id,"  # noqa: S608
            f" coalesce(class_id, iif(is_empty, {EMPTY}, {UNKNOWN})) FROM label"
            f" WHERE {_IN_FORCE} ORDER BY image_id"
        )
        return LabelTable(*(zip(*rows, strict=True) if rows else ((), (), ())))

    def sources(self, image_ids: Sequence[ImageId] | None = None) -> list[tuple[ImageId, str]]:
        """Source of labels, of all labelled images, or of these, with "" for unlabelled ones."""
        if image_ids is None:
            statement = (
                f"SELECT image_id, source FROM label WHERE {_IN_FORCE}"  # noqa: S608
                " ORDER BY image_id"
            )
            return self._connection.rows(statement)
        return self._connection.rows(
            "SELECT value, coalesce(source, '') FROM json_each(?)"  # noqa: S608
            f" LEFT JOIN label ON label.image_id = value AND {_IN_FORCE}",
            (json.dumps([int(image_id) for image_id in image_ids]),),
        )

    def of(self, image_id: ImageId) -> Label | None:
        """The label of one image, or None."""
        row = self._connection.row(
            f"{_COLUMNS} WHERE image_id = ? AND {_IN_FORCE}", (int(image_id),)
        )
        return None if row is None else _label(row)

    def counts(self) -> dict[ClassId, int]:
        """Number of images labelled with exactly each class; classes without any are left out."""
        return label_counts(self._connection)

    def by_person_and_day(self) -> list[tuple[str, date, int]]:
        """Labels of each annotator on each day, in local time; oldest first."""
        rows = self._connection.rows(
            "SELECT who, date(labelled_at, 'localtime') AS day, COUNT(*) FROM label"
            " WHERE day IS NOT NULL GROUP BY who, day ORDER BY day, who"
        )
        return [(who, date.fromisoformat(day), count) for who, day, count in rows]

    def set(
        self,
        image_ids: Iterable[ImageId],
        class_id: ClassId | None,
        *,
        who: str = "",
        source: str = REVIEW,
        left_out: Iterable[ImageId] = (),
    ) -> Change:
        """Label images; a label that is there is replaced.

        Args:
            class_id: of a class; None or `UNKNOWN` for "none of the classes", `EMPTY` for empty
                images.
            who: the annotator; by default the current user.
            source: see `Label`.
            left_out: images of the same group that are not of this class, see
                `engine.project.exclusions`.

        Raises:
            UnknownClassError: there is no such class.
            InputError: an image is not in the project.
        """
        ids, others = plain_ids(image_ids), plain_ids(left_out)
        code = UNKNOWN if class_id is None else int(class_id)
        name = class_name(self._connection, code) if code not in _WITHOUT_CLASS else None
        check_images(self._connection, [*ids, *others])
        with self._store.one_step(who=who) as step:
            if name is not None:
                put_exclusions(step, others, code, who=who)
            replaced = put_labels(step, dict.fromkeys(ids, code), who=who, source=source)
            relabelled = _replaced_arguments(
                step.connection, replaced, who or person_name(), is_single=len(ids) == 1
            )
            step.action = action(
                _WITHOUT_CLASS.get(code, "labelled"), name, images=len(ids), **relabelled
            )
        return step.change

    def set_groups(
        self, groups: Mapping[ClassId, Sequence[ImageId]], *, source: str = REVIEW
    ) -> Change:
        """Label images of several classes in one action; see `set`."""
        if len(groups) == 1:
            ((class_id, image_ids),) = groups.items()
            return self.set(image_ids, class_id, source=source)
        with self._store.one_step() as step:
            for class_id, image_ids in groups.items():
                self.set(image_ids, class_id, source=source)
            count = sum(map(len, groups.values()))
            step.action = action("predictions_accepted", images=count, classes=len(groups))
        return step.change

    def unnamed(self) -> int:
        """Number of labels given before the name of the user was known."""
        return len(self._connection.rows(*_UNNAMED))

    def sign_unnamed(self, name: str) -> Change:
        """Set the annotator of labels that were given before the name was known."""
        with self._store.one_step(who=name) as step:
            rows = step.connection.rows(*_UNNAMED)
            step.put(LABEL, [(*row[:2], name, *row[3:]) for row in rows])
            step.action = action("labels_signed", labels=len(rows), name=name)
        return step.change

    def add_missing(self, labels: Sequence[Label]) -> Change:
        """Import labels of others, one per image, with names and times; existing labels stay.

        Raises:
            UnknownClassError: there is no such class.
            InputError: an image is not in the project.
        """
        for class_id in {label.class_id for label in labels} - {None}:
            class_name(self._connection, class_id or 0)
        check_images(self._connection, [label.image_id for label in labels])
        with self._store.one_step() as step:
            outdated = _outdated_ids(step.connection)
            missing = {
                label.image_id: label
                for label in labels
                if label.image_id in outdated or _row_of(step.connection, label.image_id) is None
            }
            rows = [
                (
                    image_id,
                    label.class_id,
                    label.who,
                    time_text(label.when),
                    label.source,
                    int(label.is_empty),
                )
                for image_id, label in sorted(missing.items())
            ]
            step.put(LABEL, rows)
            step.action = action("labels_imported", labels=len(missing))
        return step.change

    def confirm(self, image_ids: Iterable[ImageId], *, who: str = "") -> Change:
        """Confirm labels that were reviewed; unlabelled images are skipped.

        An outdated one then applies to the new picture, as a label by this annotator.
        """
        who = who or person_name()
        with self._store.one_step() as step:
            when = present(step.connection)
            labels = [
                row
                for each in plain_ids(image_ids)
                if (row := _row_of(step.connection, each)) is not None
            ]
            step.put(CONFIRMED_LABEL, [(*row[:2], who, when) for row in labels])
            outdated = _outdated_ids(step.connection)
            step.put(
                LABEL, [(*row[:2], who, when, *row[4:]) for row in labels if row[0] in outdated]
            )
            step.action = action("labels_confirmed", labels=len(labels))
        return step.change

    def confirmed(self) -> dict[ImageId, ClassId | None]:
        """Confirmed labels by image that have not changed since."""
        return dict(
            self._connection.rows(
                "SELECT image_id, label.class_id FROM confirmed_label AS confirmed"
                " JOIN label USING (image_id)"
                " WHERE label.class_id IS confirmed.class_id ORDER BY image_id"
            )
        )

    def confirmations(self) -> dict[ImageId, Label]:
        """The confirmed labels, as `confirmed`, each with the name and time of who confirmed it."""
        rows = self._connection.rows(
            "SELECT image_id, label.class_id, confirmed.who, confirmed_at, source, is_empty"
            " FROM confirmed_label AS confirmed JOIN label USING (image_id)"
            " WHERE label.class_id IS confirmed.class_id ORDER BY image_id"
        )
        return {label.image_id: label for label in map(_label, rows)}

    def add_confirmations(self, confirmations: Iterable[Label]) -> Change:
        """Adopt confirmations of equal labels of another copy, with their names and times."""
        with self._store.one_step() as step:
            known, rows = self.confirmed(), []
            for each in confirmations:
                row = _row_of(step.connection, each.image_id)
                if each.image_id not in known and row is not None and row[1] == each.class_id:
                    rows.append((*row[:2], each.who, time_text(each.when)))
            step.put(CONFIRMED_LABEL, rows)
            step.action = action("labels_confirmed", labels=len(rows))
        return step.change

    def remove(self, image_ids: Iterable[ImageId]) -> Change:
        """Remove labels; images without one are skipped."""
        with self._store.one_step() as step:
            count = len(step.delete(LABEL, [(image_id,) for image_id in plain_ids(image_ids)]))
            step.action = action("labels_removed", labels=count)
        return step.change


def put_labels(
    step: OpenStep, codes: Mapping[ImageId, int], *, who: str = "", source: str
) -> list[Label]:
    """Label images, replacing earlier labels; an equal current one keeps its time.

    Args:
        codes: class ids, `UNKNOWN` or `EMPTY`.

    Returns:
        the other labels that some of the images had.
    """
    when, who = present(step.connection), who or person_name()
    rows, outdated, replaced = [], _outdated_ids(step.connection), []
    for image_id, code in codes.items():
        row = label_row(image_id, code, who, when, source)
        old = _row_of(step.connection, image_id)
        if old is not None and (old[1], old[5]) != (row[1], row[5]):
            replaced.append(_label(old))
        is_same = old is not None and (*old[:3], *old[4:]) == (
            *row[:3],
            *row[4:],
        )  # at another time
        if not is_same or image_id in outdated:
            rows.append(row)
    step.put(LABEL, rows)
    step.delete(EXCLUSION, [row[:2] for row in rows if row[1] is not None])
    return replaced


def _replaced_arguments(
    connection: Connection, replaced: Sequence[Label], who: str, *, is_single: bool
) -> dict[str, str | int]:
    """Arguments of an action on the labels that it replaced."""
    if not replaced:
        return {}
    (first, *_others) = replaced
    if not is_single or first.class_id is None:
        return {"relabelled": len(replaced)}
    name = class_name(connection, first.class_id)
    return {"from": name} if first.who in {who, ANONYMOUS} else {"other": name, "name": first.who}


def has_replaced(change: Change) -> bool:
    """Whether labels were replaced by those of others."""
    return bool(change.action.arguments.keys() & REPLACED_FIELDS) and bool(change.labelled)


def label_counts(connection: Connection) -> dict[ClassId, int]:
    """Number of images labelled with each class, without "none of the classes"."""
    return dict(
        connection.rows(
            "SELECT class_id, COUNT(*) FROM label"  # noqa: S608
            f" WHERE class_id IS NOT NULL AND {_IN_FORCE} GROUP BY class_id"
        )
    )


def move_labels(step: OpenStep, class_id: ClassId, heir_id: ClassId | None) -> int:
    """Move labels of a class to an heir, or remove them without one; returns their number."""
    rows = step.connection.rows(f"{_COLUMNS} WHERE class_id = ? ORDER BY image_id", (class_id,))
    if heir_id is None:
        step.delete(LABEL, [row[:1] for row in rows])
    else:
        step.put(LABEL, [(row[0], heir_id, *row[2:]) for row in rows])
    return len(rows)


def labelled_as(
    step: OpenStep, class_id: ClassId, image_ids: Iterable[ImageId]
) -> Iterator[ImageId]:
    """Those of these images that are labelled with exactly this class."""
    for image_id in image_ids:
        row = _row_of(step.connection, image_id)
        if row is not None and row[1] == class_id:
            yield image_id


def _outdated_rows(connection: Connection) -> list[Row]:
    """Found by the images that changed, which are few."""
    return connection.rows(
        "SELECT image_id, class_id, who, labelled_at, source, is_empty"
        " FROM image_change JOIN label USING (image_id)"
        " WHERE found_at IS NOT NULL AND found_at > labelled_at ORDER BY image_id"
    )


def _outdated_ids(connection: Connection) -> frozenset[ImageId]:
    return frozenset(row[0] for row in _outdated_rows(connection))


def _row_of(connection: Connection, image_id: ImageId) -> Row | None:
    return connection.row(f"{_COLUMNS} WHERE image_id = ?", (image_id,))


def _label(row: Row) -> Label:
    image_id, class_id, who, when, source, is_empty = row
    return Label(image_id, class_id, who, time_of(when), source, bool(is_empty))
