"""Classes excluded for an image, such as one removed from a group of look-alikes."""

from collections.abc import Iterable, Sequence
from typing import final

from engine.project.actions import action
from engine.project.change import Change
from engine.project.clock import person_name, time_of, time_text
from engine.project.file_changes import present
from engine.project.graph_rows import class_name
from engine.project.image_rows import check_images, plain_ids
from engine.project.records import ClassId, Exclusion, ImageId
from engine.project.schema import EXCLUSION
from engine.project.step import OpenStep
from engine.project.store import ProjectPart

_IN_FORCE = """SELECT image_id, class_id, who, excluded_at FROM exclusion
    LEFT JOIN image_change USING (image_id) WHERE found_at IS NULL OR found_at <= excluded_at"""


@final
class ProjectExclusions(ProjectPart):
    """Excluded classes of images, without those of a picture that was replaced since."""

    def all(self) -> list[Exclusion]:
        """By image, in ascending image id order."""
        rows = self._connection.rows(f"{_IN_FORCE} ORDER BY image_id, class_id")
        return [
            Exclusion(image_id, class_id, who, time_of(when))
            for image_id, class_id, who, when in rows
        ]

    def pairs(self) -> list[tuple[ImageId, ClassId]]:
        """Image and class of each: the quick way to read many."""
        return [row[:2] for row in self._connection.rows(_IN_FORCE)]

    def add(self, image_ids: Iterable[ImageId], class_id: ClassId, *, who: str = "") -> Change:
        """Record that images are not of a class. A contradicting later label removes the record.

        Args:
            who: the annotator; by default the current user.

        Raises:
            UnknownClassError: there is no such class.
            InputError: an image is not in the project.
        """
        ids = plain_ids(image_ids)
        name = class_name(self._connection, class_id)
        check_images(self._connection, ids)
        with self._store.one_step(who=who) as step:
            put_exclusions(step, ids, class_id, who=who)
            step.action = action("class_excluded", name, images=len(ids))
        return step.change

    def add_missing(self, exclusions: Sequence[Exclusion]) -> Change:
        """Take over those of others that are not here, with their names and times."""
        with self._store.one_step() as step:
            known = {(each.image_id, each.class_id) for each in self.all()}
            news = [each for each in exclusions if (each.image_id, each.class_id) not in known]
            step.put(
                EXCLUSION,
                [(each.image_id, each.class_id, each.who, time_text(each.when)) for each in news],
            )
        return step.change


def put_exclusions(
    step: OpenStep, image_ids: Sequence[ImageId], class_id: ClassId, *, who: str = ""
) -> None:
    """Note that images are not of a class; see `ProjectExclusions.add`."""
    signed = who or person_name(), present(step.connection)
    step.put(EXCLUSION, [(image_id, class_id, *signed) for image_id in image_ids])
