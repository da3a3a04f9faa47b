"""Pictures that are hidden from all views and exports, such as those with people in them."""

from collections.abc import Collection

from engine.file_parts import file_part
from engine.project import Change, ImageId, Project
from engine.project.actions import action

HIDDEN_SETTING = "hidden_categories"
PRIVATE = frozenset({"human", "person", "people", "vehicle"})
"""Categories of wildlife detectors that concern privacy."""


def hidden_categories(project: Project) -> frozenset[str]:
    """Detector categories whose pictures are hidden."""
    return frozenset(str(each).casefold() for each in project.policies.setting(HIDDEN_SETTING, []))


def hide_categories(project: Project, categories: Collection[str]) -> Change:
    """Hide exactly the pictures in which a detector found objects of these categories."""
    code = "categories_hidden" if categories else "categories_shown"
    return project.policies.set_setting(HIDDEN_SETTING, sorted(categories), action(code))


def hidden_images(project: Project) -> frozenset[ImageId]:
    """Hidden pictures, and the boxes in them."""
    categories = hidden_categories(project)
    if not categories:
        return frozenset()
    hidden: set[ImageId] = set()
    for image_id, found in project.images.detections().items():
        if found.category.casefold() in categories and image_id not in hidden:
            record = project.images.record(image_id)
            parts = project.images.parts_of(project.images.resolve(record))
            picture = file_part(record.part).picture
            hidden.update(
                each for each, part in parts.items() if file_part(part).picture == picture
            )
    return frozenset(hidden)
