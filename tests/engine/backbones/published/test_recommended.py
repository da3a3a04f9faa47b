"""Which published networks are recommended."""

from dataclasses import replace

from engine.backbones.published.facts import NON_COMMERCIAL, PublishedNetwork, recommended
from engine.backbones.published.titles import Advice
from tests.support.backbone_jobs import SMALL


def network(
    name: str, top1: float, billion_operations: float, **others: object
) -> PublishedNetwork:
    """A network that needs so much work and is right so often."""
    known = replace(SMALL, network=name, top1=top1, billion_operations=billion_operations)
    return replace(known, **others)  # type: ignore[arg-type]


def test_the_most_accurate_one_within_each_amount_of_work() -> None:
    """Neither weights that are not torchvision's default, nor those without commercial use."""
    tiny, light = network("tiny", 60.0, 0.1), network("light", 77.0, 0.4)
    middle, heavy = network("middle", 83.0, 4.4), network("heavy", 85.8, 56.0)
    forbidden = network("forbidden", 88.5, 0.3, licence=NON_COMMERCIAL)
    older = network("older", 90.0, 0.3, is_default=False)
    found = recommended([heavy, forbidden, tiny, older, middle, light])
    assert found == {Advice.FAST: light, Advice.BALANCED: middle, Advice.BEST: heavy}
    assert list(found) == list(Advice)


def test_none_is_recommended_twice() -> None:
    """A slower one must be more accurate; of nothing, nothing is recommended."""
    light, heavy = network("light", 77.0, 0.4), network("heavy", 70.0, 56.0)
    assert recommended([heavy, light]) == {Advice.FAST: light}
    assert recommended([]) == {}
