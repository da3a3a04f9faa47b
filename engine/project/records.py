"""Records that a project returns: frozen values without behaviour."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple

from engine.file_parts import WHOLE, part_content
from engine.files import FoundFile
from engine.graph.codes import EMPTY, UNKNOWN
from engine.project.actions import Action
from engine.project.packed import PackedHashes, PackedTexts, RareTexts

ClassId = int
ImageId = int
Plain = float | str | bool | None  # A value of a setting


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """An image of the project, with the size and time of its file when added."""

    image_id: ImageId  # never used again, not even after the image was removed
    path: str  # absolute, or relative to the project's folder, with '/' as separator
    size_bytes: int
    modified_ns: int  # since the epoch
    content_hash: str | None = None  # of the file's bytes, as hex; None until the image was read
    # why the image could not be read, in one line; None for a sound or unread one
    failure: str | None = None
    part: str = WHOLE  # of the file; see `engine.file_parts`


@dataclass(frozen=True, slots=True)
class ImageTable:
    """All images as aligned columns in ascending id order: the fast way to read 100,000."""

    ids: Sequence[ImageId]
    paths: PackedTexts  # several images may be parts of one file
    sizes_bytes: Sequence[int]
    modified_ns: Sequence[int]
    content_hashes: PackedHashes  # of the files
    failures: RareTexts
    parts: PackedTexts  # of the files; see `engine.file_parts`

    @property
    def has_parts(self) -> bool:
        """Whether an image is not a whole file."""
        return len(self.parts.columns[0]) > 0

    def contents(self) -> PackedHashes:
        """Content hashes of the images themselves: those of whole files are the files' own."""
        if not self.has_parts:
            return self.content_hashes
        contents = PackedHashes()
        for content_hash, part in zip(self.content_hashes, self.parts, strict=True):
            contents.append(part_content(content_hash, part) if content_hash else None)
        return contents


class ImageContent(NamedTuple):
    """Source of an image.

    Attributes:
        path: as in `ImageRecord`.
        part: of the file.
        content_hash: of the file; None where the image was never read.
    """

    image_id: ImageId
    path: str
    part: str
    content_hash: bytes | None


class BoxOrigin(NamedTuple):
    """Detection in a box."""

    category: str = ""  # as the detector names it, such as "animal"
    score: float | None = None  # 0..1; None where it gives none


NO_ORIGIN = BoxOrigin()
"""That of an image that no detector found."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """A part of a file that becomes an image of a project."""

    file: FoundFile
    part: str = WHOLE
    category: str = ""  # see `BoxOrigin`
    detection_score: float | None = None


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that was written to since its image was added, as it was when it was read last."""

    image_id: ImageId
    size_bytes: int
    modified_ns: int
    # content of the picture that was there before, where it may be another one now
    seen_hash: bytes | None = None
    found_at: str | None = None  # when another picture than before was found there, as `now_text`


@dataclass(frozen=True, slots=True)
class Label:
    """A label of an image."""

    image_id: ImageId
    class_id: ClassId | None  # None for "none of the classes" (unknown)
    who: str  # the annotator
    when: datetime  # time zone aware, UTC
    source: str  # by which way the label came in: "review", "import", ...
    is_empty: bool = False  # nothing is in the image; `class_id` is None then

    @property
    def code(self) -> int:
        """The class id, `UNKNOWN` or `EMPTY`."""
        if self.class_id is not None:
            return self.class_id
        return EMPTY if self.is_empty else UNKNOWN


@dataclass(frozen=True, slots=True)
class Note:
    """The note of an image."""

    image_id: ImageId
    stars: int  # 0..5, 0 for none
    is_flagged: bool
    comment: str  # "" for none
    who: str  # the user who changed it last
    when: datetime  # time zone aware, UTC


@dataclass(frozen=True, slots=True)
class ImageDetails:
    """Metadata of an image file; not journaled."""

    image_id: ImageId
    modified_ns: int  # of the file when it was read, since the epoch
    width: int = 0  # pixels as shown; 0 where unknown
    height: int = 0
    taken_at: datetime | None = None  # by the camera's clock, mostly without a time zone
    camera: str = ""
    latitude: float | None = None  # degrees, -90..90
    longitude: float | None = None  # degrees, -180..180
    # further ones by name
    fields: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def taken_on(self) -> str:
        """The date of a photo without a time: "1912", "1912-06" or "1912-06-03"; "" for none."""
        return "" if self.taken_at is not None else self.fields.get("taken_on", "")


@dataclass(frozen=True, slots=True)
class LabelTable:
    """All labels as aligned columns in ascending image id order."""

    image_ids: Sequence[ImageId]
    class_ids: Sequence[ClassId | None]  # None for "none of the classes", and for empty images
    codes: Sequence[int]  # class ids, `UNKNOWN` or `EMPTY`


@dataclass(frozen=True, slots=True)
class Prediction:
    """A prediction of a model version for an image."""

    image_id: ImageId
    class_id: ClassId  # most likely class
    score: float  # its probability, 0..1
    safe_class_id: ClassId | None  # deepest class that passed its bar; None when none did
    safe_score: float  # probability of the safe class, 0..1; 0 without one


@dataclass(frozen=True, slots=True)
class AuditItem:
    """An image of an audit, with what the program claimed of it when it was drawn.

    A class that was removed since without an heir stays named.
    """

    image_id: ImageId
    place: int  # position in the audit, from 0 on
    class_id: ClassId | None  # most likely class; None for "none of the classes"
    score: float  # its probability, 0..1
    safe_class_id: ClassId | None  # deepest class that passed its bar; None when none did
    safe_score: float  # probability of the safe class, 0..1; 0 without one
    stratum: int  # number of the part of the population that it was drawn from
    stratum_size: int  # images of that part


class Exclusion(NamedTuple):
    """A class, with its descendants, was excluded for an image."""

    image_id: ImageId
    class_id: ClassId
    who: str
    when: datetime


class FieldValue(NamedTuple):
    """A value of a field of an image."""

    image_id: ImageId
    field: str  # its name
    value: str  # as `engine.image_fields.checked_value` writes it
    who: str
    when: datetime


@dataclass(frozen=True, slots=True)
class Audit:
    """Unlabelled images drawn at random, to be checked; see `engine.project.audits`."""

    audit_id: int
    drawn_at: datetime  # time zone aware, UTC
    who: str  # the annotator
    is_stratified: bool  # whether some of each claimed class were drawn
    population: int  # images among which they were drawn
    size: int  # size of the sample; the others are for its growth
    items: Sequence[AuditItem]  # by place; without images that were removed since

    @property
    def asked(self) -> Sequence[AuditItem]:
        """The images of the sample."""
        return [item for item in self.items if item.place < self.size]


@dataclass(frozen=True, slots=True)
class ClassPolicy:
    """How sure the program must be before it answers with a class."""

    bar: float | None = None  # smallest probability, 0..1; None takes over the bar from above
    is_deepest: bool = False  # never answer with anything below this class
    is_broadest: bool = False  # never answer with anything above this class


@dataclass(frozen=True, slots=True)
class SplitPart:
    """A class that is split off another one."""

    name: str  # of the new class
    # images of the old class that are to be labelled with the new one
    image_ids: Sequence[ImageId] = ()


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """A backbone together with a propagation file, as one choosable thing.

    Hashes are SHA-256 of files as hex, "" for none. Settings document and reproduce a training,
    figures those of the training.
    """

    version_id: int
    backbone_name: str
    backbone_hash: str
    backbone_path: str  # of the backbone; "" for one that is bundled or in the project
    propagation_hash: str
    created_at: datetime  # time zone aware, UTC
    settings: Mapping[str, Plain] = field(default_factory=lambda: MappingProxyType({}))
    name: str = ""  # displayed: "Tuned propagation 2"; "" if not trained in the project
    parent_id: int | None = None  # the version that training started from
    card: str = ""  # the model's card as JSON; "" for one that was not trained in the project
    figures: Mapping[str, float | None] = field(default_factory=lambda: MappingProxyType({}))
    eight_bit_hash: str = ""

    @property
    def is_trained_here(self) -> bool:
        """Whether it was trained in the project, which contains all its files."""
        return bool(self.card)

    @property
    def label(self) -> str:
        """What lists and menus call it."""
        return self.name or self.backbone_name


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A trained model version with the contents of its files; see `ModelVersion`."""

    name: str
    parent_id: int
    card: str
    backbone_name: str
    backbone: bytes
    propagation: bytes
    settings: Mapping[str, Plain]
    figures: Mapping[str, float | None]
    # content of the backbone's eight-bit companion; None where there is none
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
