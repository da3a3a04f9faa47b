"""Queue of the images of the newest audit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.arrays import Integers
from engine.collection.audit_figures import AuditFigures, figures_of, is_answer
from engine.evaluation.audit.draw import next_size
from engine.project import ImageId, Project


@dataclass(frozen=True)
class CheckedImages:
    """The images of an audit."""

    figures: AuditFigures
    in_order: Integers  # ids of its images, unanswered first, in the order of the draw
    more: int  # images by which it can grow

    def has_any(self, image_ids: Sequence[ImageId]) -> bool:
        """Whether any of these images is in the audit."""
        return bool(np.isin(self.in_order, image_ids).any())


def latest_checked(project: Project) -> CheckedImages | None:
    """The newest audit; None without one."""
    audits = project.audits.all()
    if not audits:
        return None
    audit = audits[-1]
    labels = {item.image_id: project.labels.of(item.image_id) for item in audit.asked}
    given = {image_id: label for image_id, label in labels.items() if label is not None}
    in_order = sorted(labels, key=lambda image_id: is_answer(labels[image_id]))
    size = next_size(audit.size)
    return CheckedImages(
        figures_of(audit, given, project.classes.graph),
        np.array(in_order, dtype=np.int64),
        sum(audit.size <= item.place < size for item in audit.items),
    )
