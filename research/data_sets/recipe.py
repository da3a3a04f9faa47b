"""Settings of drawing a data set from an ImageNet-like source: classes, and share of images.

Paper: the sections on WS-ImageNet-Pure and WS-ImageNet-Mix. A class on level j draws each image
that it may draw with probability r^j, r = 0.6 for Pure and 0.7 for Mix. We draw with min(1, c r^j).
c = 1 is the paper; a source with fewer images in a folder than ILSVRC-12 would leave few per
few-shot class, so c compensates.
"""

from dataclasses import dataclass, replace
from math import floor
from typing import Literal

from engine.errors import UsageError

Variant = Literal["pure", "mix"]
RATES: dict[Variant, float] = {"pure": 0.6, "mix": 0.7}
PAPER_IMAGES_PER_FOLDER = 1300
"""Images of most class folders of ILSVRC-12; 1300 * 0.6^7 = 36 is a level-7 class of Pure."""


@dataclass(frozen=True)
class Recipe:
    """Settings of drawing classes and images.

    Attributes:
        variant: "pure": coarse classes draw only images of few-shot classes; "mix": also those of
            the other classes of the last level.
        factor: c, above 0; None: see `resolved`. 1 gives the paper's probabilities.
        rate: r, in (0, 1]; None: 0.6 for Pure, 0.7 for Mix.
        seed: of every choice, 0 or above.
        first_level: of the coarsest classes, counted from the root, which is 0.
        last_level: of the few-shot classes.
        few_shot_share: share of the last level's classes that become few-shot classes, in (0, 1].
        test_share: share of the few-shot classes, and of the images of classes above both parts,
            reserved for testing.
        fewest_images: least number of images of a few-shot class; 20 are 5 shots and 15 queries.

    Raises:
        UsageError: a value is out of its range.
    """

    variant: Variant = "pure"
    factor: float | None = None
    rate: float | None = None
    seed: int = 0
    first_level: int = 3
    last_level: int = 7
    few_shot_share: float = 0.8
    test_share: float = 0.2
    fewest_images: int = 20

    def __post_init__(self) -> None:
        _check(self.variant in RATES, "variant", "pure or mix", self.variant)
        _check(self.factor is None or self.factor > 0, "factor", "a number above 0", self.factor)
        _check(
            self.rate is None or 0 < self.rate <= 1,
            "rate",
            "a number above 0 and up to 1",
            self.rate,
        )
        _check(self.seed >= 0, "seed", "0 or more", self.seed)
        _check(self.first_level >= 0, "first level", "0 or more", self.first_level)
        _check(
            self.last_level > self.first_level,
            "last level",
            f"more than {self.first_level}",
            self.last_level,
        )
        _check(
            0 < self.few_shot_share <= 1,
            "share of few-shot classes",
            "above 0 and up to 1",
            self.few_shot_share,
        )
        _check(0 < self.test_share < 1, "share of test classes", "between 0 and 1", self.test_share)
        _check(
            self.fewest_images >= 1,
            "fewest images of a few-shot class",
            "1 or more",
            self.fewest_images,
        )

    @property
    def levels(self) -> range:
        """All levels, coarsest first."""
        return range(self.first_level, self.last_level + 1)

    def resolved(self, images_per_folder: float) -> "Recipe":
        """The recipe with `rate` and `factor` set, from defaults that depend on the source.

        The factor becomes 1300 / `images_per_folder`, so that a few-shot class of one folder has as
        many images as in the paper (36 for Pure), but at most r^-first_level: beyond that the share
        of the coarsest levels would be clipped at 1. It is truncated to one decimal, and at least
        1. ILSVRC-12 gets 1.0; Tiny ImageNet 4.3 for Pure, where the training images then total
        about as many as the paper's, and 2.9 for Mix.

        Args:
            images_per_folder: mean number of images in a class folder of the source, above 0.
        """
        rate = RATES[self.variant] if self.rate is None else self.rate
        factor = self.factor
        if factor is None:
            most = min(PAPER_IMAGES_PER_FOLDER / images_per_folder, rate**-self.first_level)
            factor = max(1.0, floor(most * 10) / 10)
        return replace(self, rate=rate, factor=factor)

    def share(self, level: int) -> float:
        """Probability min(1, c r^j) of a class on level j to draw an image; needs `resolved`."""
        assert self.factor is not None
        assert self.rate is not None
        return float(min(1.0, self.factor * self.rate**level))


def _check(is_right: bool, what: str, expected: str, found: object) -> None:
    if not is_right:
        raise UsageError(
            f"the {what} of the data set cannot be used", expected=expected, found=str(found)
        )
