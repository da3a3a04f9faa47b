"""What importing labels would do, as it is shown to a person first: plain data."""

from dataclasses import dataclass, field

from engine.interchange.labelled_images.records import ForeignLabel
from engine.project.records import Label


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
class ClassConflict:
    """A label of which it is not clear which class it names.

    Attributes:
        image: as the source calls it.
        written: path or name of the class in the source.
        source_id: its id there; "" for none.
        by_name: paths of the classes that path, name or synonym mean here.
        by_id: paths of the classes that have this id here.
        who: the person of the source.
    """

    image: str
    written: str
    source_id: str
    by_name: tuple[str, ...]
    by_id: tuple[str, ...]
    who: str


@dataclass(frozen=True)
class ContentConflict:
    """A label of a photo that the project does not have, though it has one of this name.

    Attributes:
        image: as the source calls it.
        ours: path of the project's image with the same path or end of it.
        reason: "other content", or why its file could not be read.
    """

    image: str
    ours: str
    reason: str


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
        class_conflicts: labels of which it is not clear which class they name.
        content_conflicts: labels of another photo of the same name.
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
    class_conflicts: tuple[ClassConflict, ...] = ()
    content_conflicts: tuple[ContentConflict, ...] = ()
