"""What comes in of another project's audits and excluded classes."""

from collections.abc import Iterator
from dataclasses import replace

from engine.graph.codes import NO_CLASS
from engine.merging.class_plan import ClassPlan
from engine.merging.image_match import ImagePairs
from engine.project import Audit, AuditItem, ClassId, Exclusion, Project


def plan_audits(
    ours: Project, theirs: Project, images: ImagePairs, classes: ClassPlan
) -> tuple[Audit, ...]:
    """Their audits with images and classes of ours; without images that are not here.

    A claimed class that is not here cannot be judged.
    """
    sizes = {(audit.drawn_at, audit.who): audit.size for audit in ours.audits.all()}
    news = [
        each for each in theirs.audits.all() if each.size > sizes.get((each.drawn_at, each.who), 0)
    ]
    coming = [replace(audit, items=list(_items(audit, images, classes))) for audit in news]
    return tuple(audit for audit in coming if audit.items)


def plan_exclusions(
    ours: Project, theirs: Project, images: ImagePairs, classes: ClassPlan
) -> tuple[Exclusion, ...]:
    """Their excluded classes, with images and classes of ours.

    Those that we know, or contradict by a label, are left out.
    """
    labels = ours.labels.table()
    known = {*ours.exclusions.pairs(), *zip(labels.image_ids, labels.class_ids, strict=True)}
    here = [
        each._replace(image_id=images.pairs[each.image_id], class_id=classes.pairs[each.class_id])
        for each in theirs.exclusions.all()
        if each.image_id in images.pairs and each.class_id in classes.pairs
    ]
    return tuple(each for each in here if each[:2] not in known)


def _items(audit: Audit, images: ImagePairs, classes: ClassPlan) -> Iterator[AuditItem]:
    def here(class_id: ClassId | None) -> ClassId | None:
        return None if class_id is None else classes.pairs.get(class_id, NO_CLASS)

    for item in audit.items:
        our_id = images.pairs.get(item.image_id)
        if our_id is not None:
            safe = here(item.safe_class_id)
            yield replace(item, image_id=our_id, class_id=here(item.class_id), safe_class_id=safe)
