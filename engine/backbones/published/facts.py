"""What is told of a published network before anything of it is downloaded. Plain data, without torch."""

from dataclasses import asdict, dataclass
from typing import Any, Final

from engine.backbones.preprocessing import UNIT_TEMPERATURE
from engine.backbones.published.titles import LIBRARY_PREFIX, network_title
from engine.files import size_text
from engine.model_card import BackboneCard

SOURCE_PREFIX: Final = "torchvision:"
NON_COMMERCIAL: Final = "CC-BY-NC 4.0: not for commercial use"


@dataclass(frozen=True)
class PublishedNetwork:
    """A classification network of torchvision with one version of its published weights.

    Attributes:
        network: torchvision's name of it, such as "resnet50".
        weights: name of the version, such as "IMAGENET1K_V2".
        is_default: whether torchvision takes this version when none is named.
        url: address of the weights.
        sha256_prefix: first digits of the SHA-256 of the weights, in hex.
        size_bytes: size of the weights, rounded by torchvision to about 1,000 bytes.
        parameters: numbers in the network, its head included.
        top1, top5: accuracy on the validation images of ImageNet-1k, in percent.
        billion_operations: multiplications with an addition for one image, in billions.
        input_side: side of the square input in pixels.
        resize_side: the short side an image is resized to before its centre is cut out.
        interpolation: how torchvision resizes; Protoleaf always resizes bilinearly.
        mean, std: normalisation of red, green and blue in [0, 1].
        embedding_width: length of the embedding.
        licence: of the weights, in words.
        licence_url: where the licence stands.
        recipe_url: how the weights were trained.
    """

    network: str
    weights: str
    is_default: bool
    url: str
    sha256_prefix: str
    size_bytes: int
    parameters: int
    top1: float
    top5: float
    billion_operations: float
    input_side: int
    resize_side: int
    interpolation: str
    mean: tuple[float, float, float]
    std: tuple[float, float, float]
    embedding_width: int
    licence: str
    licence_url: str
    recipe_url: str

    @property
    def source(self) -> str:
        """What a person writes to get it, such as "torchvision:resnet50"."""
        return SOURCE_PREFIX + self.network

    @property
    def title(self) -> str:
        """As people write it, such as "ResNet-50 (V2)"."""
        return network_title(self.network, self.weights)

    @property
    def is_for_commerce(self) -> bool:
        """Whether no licence forbids commercial use."""
        return self.licence != NON_COMMERCIAL

    @property
    def library_name(self) -> str:
        """Its name among the added backbones."""
        return f"{LIBRARY_PREFIX}{self.network}-{self.weights.lower()}"

    @property
    def resize_share(self) -> float:
        """Share of an image's short side that the input shows; at most 1."""
        return min(1.0, self.input_side / self.resize_side)

    @property
    def size_text(self) -> str:
        """Size of the download for people."""
        return size_text(self.size_bytes)

    @property
    def terms(self) -> str:
        """Size and licence for people, as they are told before a download."""
        return f"{self.size_text}; licence: {self.licence} ({self.licence_url})"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, with what the properties say."""
        return asdict(self) | {
            "source": self.source,
            "library_name": self.library_name,
            "file_size_mb": round(self.size_bytes / 1e6, 1),
        }


def card_of_published(facts: PublishedNetwork) -> BackboneCard:
    """The card of a published network, as far as it is known before the network is there."""
    other = "" if facts.interpolation == "bilinear" else f" ({facts.interpolation} while it was trained)"
    return BackboneCard(
        name=facts.library_name,
        input_side=facts.input_side,
        mean=facts.mean,
        std=facts.std,
        embedding_width=facts.embedding_width,
        resize_share=facts.resize_share,
        description=f"{facts.network} of torchvision with weights {facts.weights}, without its head. "
        f"Images are resized bilinearly{other}; embeddings are scaled to length 1.",
        training_data=f"See {facts.recipe_url}",
        licence=f"{facts.licence} ({facts.licence_url})",
        command=f"protoleaf backbone add {facts.source} --weights {facts.weights}",
        figures={
            "imagenet_top1_percent": facts.top1,
            "imagenet_top5_percent": facts.top5,
            "parameters": float(facts.parameters),
        },
        temperature=UNIT_TEMPERATURE,
        unit_length=True,
    )
