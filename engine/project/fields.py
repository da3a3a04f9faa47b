"""The fields that a project has for its images, and their values: a count, and a short list of its own."""

from collections.abc import Iterable, Sequence
from typing import Final, final

from engine.errors import InputError
from engine.image_fields import COUNT, ImageField, as_plain, checked_fields, checked_value, search_name_of
from engine.project.actions import action
from engine.project.change import Change
from engine.project.clock import person_name, time_of, time_text
from engine.project.field_rows import FIELDS_SETTING, defined_fields, stored_value, takes
from engine.project.file_changes import present
from engine.project.image_rows import check_images, plain_ids
from engine.project.model_rows import put_setting
from engine.project.records import FieldValue, ImageId
from engine.project.schema import FIELD_VALUE
from engine.project.step import OpenStep
from engine.project.store import ProjectStore
from engine.texts import enumerated

_LONGEST_SHOWN: Final = 40  # characters of a value in the history
_IN_FORCE: Final = """SELECT image_id, field, value, who, entered_at FROM field_value
    LEFT JOIN image_change USING (image_id) WHERE found_at IS NULL OR found_at <= entered_at"""


@final
class ProjectFields:
    """The fields and values of a project; values of a picture that was replaced in its file since are left out."""

    def __init__(self, store: ProjectStore) -> None:
        self._store = store

    @property
    def defined(self) -> tuple[ImageField, ...]:
        """The project's own fields, in the order in which they are shown."""
        return defined_fields(self._store.connection)

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

    def define(self, fields: Sequence[ImageField]) -> Change:
        """Replace the project's fields; count is not among them.

        Values of a field that is gone, and those that it does not take any more, are removed in the same step.

        Raises:
            InputError: see `checked_fields`.
        """
        checked = checked_fields(fields)
        with self._store.one_step() as step:
            put_setting(step, FIELDS_SETTING, as_plain(checked) or None)
            rows = step.connection.rows("SELECT image_id, field, value FROM field_value")
            gone = [(image_id, name) for image_id, name, value in rows if not takes(checked, name, value)]
            step.delete(FIELD_VALUE, gone)
            step.action = action("fields_defined", **({"values": len(gone)} if gone else {}))
        return step.change

    def set(self, image_ids: Iterable[ImageId], name: str, value: str | None, *, who: str = "") -> Change:
        """Set a field of images, or remove its value with None.

        Args:
            name: of the field, see `field`.
            who: the person; by default the one at this computer.

        Raises:
            InputError: the field does not take the value, there is no such field, or an image is not in the project.
        """
        ids, field = plain_ids(image_ids), self.field(name)
        stored = None if value is None else checked_value(field, value)
        check_images(self._store.connection, ids)
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
        rows = self._store.connection.rows(f"{_IN_FORCE} ORDER BY image_id, field")
        return [FieldValue(image_id, field, value, who, time_of(when)) for image_id, field, value, who, when in rows]

    def values(self) -> dict[ImageId, dict[str, str]]:
        """Values by the name of their field, of each image that has one: the quick way to read many."""
        found: dict[ImageId, dict[str, str]] = {}
        for image_id, field, value, _who, _when in self._store.connection.rows(_IN_FORCE):
            found.setdefault(image_id, {})[field] = value
        return found

    def add_missing(self, values: Sequence[FieldValue], fields: Sequence[ImageField] = ()) -> Change:
        """Take over values of others, with their names and times, where an image has none of that field.

        Args:
            fields: theirs; those that are missing here come in, and so do choices that ours lack.

        Raises:
            InputError: an image is not in the project, or together there are too many fields.
        """
        check_images(self._store.connection, [each.image_id for each in values])
        with self._store.one_step() as step:
            together = checked_fields(merged_fields(self.defined, fields))
            if together != self.defined:
                put_setting(step, FIELDS_SETTING, as_plain(together))
            known = {(each.image_id, each.field) for each in self.all()}
            here = [own for each in values if (own := as_ours((COUNT, *together), each)) is not None]
            news = [each for each in here if (each.image_id, each.field) not in known]
            step.put(FIELD_VALUE, [(*each[:4], time_text(each.when)) for each in news])
            step.action = action("field_values_added", values=len(news))
        return step.change


def merged_fields(ours: Sequence[ImageField], theirs: Sequence[ImageField]) -> tuple[ImageField, ...]:
    """Our fields with the choices that theirs have in addition, then those that are theirs alone.

    A field of another kind there stays as it is here.
    """
    by_name = {each.search_name: each for each in theirs}
    widened = [_widened(each, by_name.pop(each.search_name, each)) for each in ours]
    return (*widened, *by_name.values())


def as_ours(fields: Sequence[ImageField], value: FieldValue) -> FieldValue | None:
    """A value of another project as one of our field of that name; None where we have no such field or value."""
    wanted = search_name_of(value.field)
    field = next((each for each in fields if each.search_name == wanted), None)
    stored = None if field is None else stored_value(field, value.value)
    return None if field is None or stored is None else value._replace(field=field.name, value=stored)


def _widened(ours: ImageField, theirs: ImageField) -> ImageField:
    if ours.kind is not theirs.kind or not ours.choices:
        return ours
    known = {choice.casefold() for choice in ours.choices}
    more = tuple(choice for choice in theirs.choices if choice.casefold() not in known)
    return ImageField(ours.name, ours.kind, ours.choices + more)


def _put(step: OpenStep, image_ids: Sequence[ImageId], field: str, value: str, who: str) -> None:
    """Images that have the value already keep who entered it."""
    rows = step.connection.rows(f"SELECT image_id FROM ({_IN_FORCE}) WHERE field = ? AND value = ?", (field, value))  # noqa: S608
    have = {image_id for (image_id,) in rows}
    signed = who or person_name(), present(step.connection)
    step.put(FIELD_VALUE, [(image_id, field, value, *signed) for image_id in image_ids if image_id not in have])
