"""Image fields of a project and their values: a count, and fields of its own."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import final

from engine.errors import InputError
from engine.field_renaming import (
    FieldPairs,
    Renaming,
    choice_of_ours,
    paired_fields,
    renamed_fields,
)
from engine.image_fields import (
    COUNT,
    ImageField,
    as_plain,
    checked_fields,
    checked_value,
    search_name_of,
    written_definition,
)
from engine.project.actions import Action, action
from engine.project.change import Change
from engine.project.clock import person_name, time_of, time_text
from engine.project.connection import Row
from engine.project.field_rows import FIELDS_SETTING, defined_fields, stored_value
from engine.project.file_changes import present
from engine.project.image_rows import check_images, plain_ids
from engine.project.model_rows import put_setting
from engine.project.records import FieldValue, ImageId
from engine.project.schema import FIELD_VALUE
from engine.project.step import OpenStep
from engine.project.store import ProjectPart
from engine.texts import enumerated

_LONGEST_SHOWN = 40  # characters of a value in the history
_IN_FORCE = """SELECT image_id, field, value, who, entered_at FROM field_value
    LEFT JOIN image_change USING (image_id) WHERE found_at IS NULL OR found_at <= entered_at"""


@final
class ProjectFields(ProjectPart):
    """Fields and values of a project, without values of pictures that were replaced since."""

    @property
    def defined(self) -> tuple[ImageField, ...]:
        """The project's own fields, in the order in which they are shown."""
        return defined_fields(self._connection)

    def field(self, name: str) -> ImageField:
        """A field by its name, whatever its capitals and blanks; count included.

        Raises:
            InputError: there is none.
        """
        fields = (COUNT, *self.defined)
        found = next((each for each in fields if each.search_name == search_name_of(name)), None)
        if found is None:
            raise InputError(
                'the project has no field "{name}"',
                expected=enumerated(each.name for each in fields),
                remedy="define the field first",
                name=name,
            )
        return found

    def define(self, fields: Sequence[ImageField], renamings: Sequence[Renaming] = ()) -> Change:
        """Replace the project's fields; count is not among them.

        Values of a removed field, and values that it does not allow any more, are removed in the
        same step.

        Args:
            renamings: of the current fields, whose values are renamed; `fields` are renamed
                already.

        Raises:
            InputError: see `checked_fields`.
        """
        before, checked = self.defined, checked_fields(fields)
        with self._store.one_step() as step:
            put_setting(step, FIELDS_SETTING, as_plain(checked) or None)
            removed = _rename_values(step, checked, renamings)
            renamed = map(written_definition, renamed_fields(before, renamings))
            is_renamed_alone = (
                list(renamed) == list(map(written_definition, checked)) and not removed
            )
            step.action = _defined(removed, renamings if is_renamed_alone else ())
        return step.change

    def set(
        self, image_ids: Iterable[ImageId], name: str, value: str | None, *, who: str = ""
    ) -> Change:
        """Set a field of images, or remove its value with None.

        Args:
            name: of the field, see `field`.
            who: the annotator; by default the current user.

        Raises:
            InputError: an invalid value, an unknown field, or an image that is not in the project.
        """
        ids, field = plain_ids(image_ids), self.field(name)
        stored = None if value is None else checked_value(field, value)
        check_images(self._connection, ids)
        with self._store.one_step(who=who) as step:
            if stored is None:
                step.delete(FIELD_VALUE, [(image_id, field.name) for image_id in ids])
                step.action = action("field_removed", field=field.name, images=len(ids))
            else:
                _put(step, ids, field.name, stored, who)
                shown = stored if len(stored) <= _LONGEST_SHOWN else f"{stored[:_LONGEST_SHOWN]}…"
                step.action = action("field_set", field=field.name, images=len(ids), value=shown)
        return step.change

    def all(self) -> list[FieldValue]:
        """All values, by image in ascending id order, then by field."""
        rows = self._connection.rows(f"{_IN_FORCE} ORDER BY image_id, field")
        return [
            FieldValue(image_id, field, value, who, time_of(when))
            for image_id, field, value, who, when in rows
        ]

    def values(self) -> dict[ImageId, dict[str, str]]:
        """Values by field name, of each image with any: the fast way to read many."""
        found: dict[ImageId, dict[str, str]] = {}
        for image_id, field, value, _who, _when in self._connection.rows(_IN_FORCE):
            found.setdefault(image_id, {})[field] = value
        return found

    def add_missing(
        self, values: Sequence[FieldValue], fields: Sequence[ImageField] = ()
    ) -> Change:
        """Adopt values of another copy, with names and times, where an image has none.

        Args:
            fields: theirs; those that are missing here come in, and so do choices that ours lack.

        Raises:
            InputError: an image is not in the project, or together there are too many fields.
        """
        check_images(self._connection, [each.image_id for each in values])
        with self._store.one_step() as step:
            together = checked_fields(merged_fields(self.defined, fields))
            if together != self.defined:
                put_setting(step, FIELDS_SETTING, as_plain(together))
            known = {(each.image_id, each.field) for each in self.all()}
            ours = (COUNT, *together)
            pairs = {**paired_fields(ours, ours), **paired_fields(ours, fields)}
            here = [own for each in values if (own := as_ours(pairs, each)) is not None]
            news = [each for each in here if (each.image_id, each.field) not in known]
            step.put(FIELD_VALUE, [(*each[:4], time_text(each.when)) for each in news])
            step.action = action("field_values_added", values=len(news))
        return step.change


def merged_fields(
    ours: Sequence[ImageField], theirs: Sequence[ImageField]
) -> tuple[ImageField, ...]:
    """Our fields with the choices that theirs have in addition, then those that are theirs alone.

    Fields of another name or kind are not changed.
    """
    pairs = paired_fields(ours, theirs)
    by_ours = {own.name: their for own, their in pairs.values()}
    widened = [_widened(each, by_ours.get(each.name, each)) for each in ours]
    return (*widened, *(each for each in theirs if each.search_name not in pairs))


def as_ours(pairs: FieldPairs, value: FieldValue) -> FieldValue | None:
    """A value of another project as one of our field; None where we have no such field or value."""
    pair = pairs.get(search_name_of(value.field))
    stored = None if pair is None else stored_value(pair[0], choice_of_ours(*pair, value.value))
    return (
        None if pair is None or stored is None else value._replace(field=pair[0].name, value=stored)
    )


def _widened(ours: ImageField, theirs: ImageField) -> ImageField:
    if ours.kind is not theirs.kind or not ours.choices:
        return ours
    known = {choice.casefold() for choice in ours.choices}
    more = tuple(
        each
        for each in theirs.choices
        if choice_of_ours(ours, theirs, each).casefold() not in known
    )
    return replace(ours, choices=ours.choices + more)


def _rename_values(
    step: OpenStep, fields: Sequence[ImageField], renamings: Sequence[Renaming]
) -> int:
    """Rename fields and choices of values; returns the number of removed, invalid ones."""
    names = {(each.field, each.choice): each.name for each in renamings}
    known = {field.search_name: field for field in (COUNT, *fields)}
    by_former = {
        each.field: known.pop(search_name_of(each.name)) for each in renamings if not each.choice
    }
    gone: list[Row] = []
    changed: list[Row] = []
    removed = 0
    rows = step.connection.rows("SELECT image_id, field, value, who, entered_at FROM field_value")
    for image_id, name, value, *signed in rows:
        field = by_former.get(name) or known.get(search_name_of(name))
        stored = None if field is None else stored_value(field, names.get((name, value)) or value)
        removed += stored is None
        if field is None or stored is None or field.name != name:
            gone.append((image_id, name))
        if field is not None and stored is not None and (field.name, stored) != (name, value):
            changed.append((image_id, field.name, stored, *signed))
    step.delete(FIELD_VALUE, gone)
    step.put(FIELD_VALUE, changed)
    return removed


def _defined(removed: int, renamings: Sequence[Renaming]) -> Action:
    """The name of a step that defined fields, or renamed one of them and nothing else."""
    match renamings:
        case [Renaming(field, name, "")]:
            return action("field_renamed", field=field, name=name)
        case [Renaming(field, name, choice)]:
            return action("choice_renamed", field=field, choice=choice, name=name)
    return action("fields_defined", **({"values": removed} if removed else {}))


def _put(step: OpenStep, image_ids: Sequence[ImageId], field: str, value: str, who: str) -> None:
    """Images that have the value already keep who entered it."""
    rows = step.connection.rows(
        f"SELECT image_id FROM ({_IN_FORCE}) WHERE field = ? AND value = ?",  # noqa: S608
        (field, value),
    )
    have = {image_id for (image_id,) in rows}
    signed = who or person_name(), present(step.connection)
    step.put(
        FIELD_VALUE,
        [(image_id, field, value, *signed) for image_id in image_ids if image_id not in have],
    )
