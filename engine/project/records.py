"""What a project answers with: frozen values without behaviour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType

from engine.project.actions import Action
from engine.project.packed import PackedHashes, PackedTexts

ClassId = int
ImageId = int
Plain = float | str | bool | None
"""A value of a setting."""


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """An image the project knows; the file itself is never touched.

    Attributes:
        image_id: never used again, not even after the image was removed.
        path: absolute, or relative to the project's folder, with '/' as separator.
        size_bytes, modified_ns: of the file when it was added; nanoseconds since the epoch.
        content_hash: of the bytes, as hex; None until the image was read.
        failure: why the image could not be read, in one line; None when it could or was not tried yet.
    """

    image_id: ImageId
    path: str
    size_bytes: int
    modified_ns: int
    content_hash: str | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class ImageTable:
    """All images as aligned columns in ascending id order: the quick way to read 100,000 of them."""

    ids: Sequence[ImageId]
    paths: PackedTexts
    sizes_bytes: Sequence[int]
    modified_ns: Sequence[int]
    content_hashes: PackedHashes
    failures: Sequence[str | None]


@dataclass(frozen=True, slots=True)
class Label:
    """What a person said about an image.

    Attributes:
        class_id: None when the person said "none of the classes" (unknown).
        who: the person.
        when: time zone aware, UTC.
        source: by which way the label came in: "review", "import", ...
    """

    image_id: ImageId
    class_id: ClassId | None
    who: str
    when: datetime
    source: str


@dataclass(frozen=True, slots=True)
class LabelTable:
    """All labels as aligned columns in ascending image id order; class None means "none of the classes"."""

    image_ids: Sequence[ImageId]
    class_ids: Sequence[ClassId | None]


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a model version said about an image.

    Attributes:
        class_id: likeliest class.
        score: its probability, 0..1.
        safe_class_id: deepest class that passed its bar; None when none did.
        safe_score: probability of the safe class, 0..1; 0 without one.
    """

    image_id: ImageId
    class_id: ClassId
    score: float
    safe_class_id: ClassId | None
    safe_score: float


@dataclass(frozen=True, slots=True)
class ClassPolicy:
    """How sure the program must be before it answers with a class.

    Attributes:
        bar: smallest probability, 0..1; None takes over the bar from above.
        is_deepest: never answer with anything below this class.
    """

    bar: float | None = None
    is_deepest: bool = False


@dataclass(frozen=True, slots=True)
class SplitPart:
    """A class that is split off another one.

    Attributes:
        name: of the new class.
        image_ids: images of the old class that are to be labelled with the new one.
    """

    name: str
    image_ids: Sequence[ImageId] = ()


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """A backbone together with a propagation file, as one choosable thing.

    Attributes:
        backbone_hash, propagation_hash: SHA-256 of the files as hex; "" when there is none.
        backbone_path: where the backbone was; "" for one that ships with the program or lies in the project.
        created_at: time zone aware, UTC.
        settings: what it was made with, for people and for repeating it.
        name: what people call it: "Tuned propagation 2"; "" for one that was not trained in the project.
        parent_id: the version that training started from.
        card: the model's card as JSON; "" for one that was not trained in the project.
        figures: what the training measured, by name.
        eight_bit_hash: SHA-256 of the backbone's eight-bit companion as hex, where it lies in the project; else "".
    """

    version_id: int
    backbone_name: str
    backbone_hash: str
    backbone_path: str
    propagation_hash: str
    created_at: datetime
    settings: Mapping[str, Plain] = field(default_factory=lambda: MappingProxyType({}))
    name: str = ""
    parent_id: int | None = None
    card: str = ""
    figures: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))
    eight_bit_hash: str = ""

    @property
    def is_trained_here(self) -> bool:
        """Whether it was trained in the project, and so lies in it with all its files."""
        return bool(self.card)

    @property
    def label(self) -> str:
        """What lists and menus call it."""
        return self.name or self.backbone_name


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A model version that was trained, with its files, ready to be added.

    Attributes:
        name, parent_id, card, settings, figures: see `ModelVersion`.
        backbone_name: what the backbone is called.
        backbone, propagation: the files' contents.
        eight_bit: content of the backbone's eight-bit companion; None where there is none.
    """

    name: str
    parent_id: int
    card: str
    backbone_name: str
    backbone: bytes
    propagation: bytes
    settings: Mapping[str, Plain]
    figures: Mapping[str, float | None]
    eight_bit: bytes | None = None


@dataclass(frozen=True, slots=True)
class JournalStep:
    """One entry of the history: what undo takes back at once."""

    step_id: int
    action: Action
    when: datetime
    who: str
    is_undone: bool

    @property
    def text(self) -> str:
        """The action in words."""
        return str(self.action)
