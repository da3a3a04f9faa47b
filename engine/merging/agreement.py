"""Inter-annotator agreement: share of equal labels, and Cohen's kappa with its interval."""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from math import sqrt

from engine.graph.category_graph import CategoryGraph, ClassId

NORMAL_95 = 1.959964  # 97.5 % quantile of the standard normal distribution
MOST_PAIRS = 20  # pairs of classes that are listed
MOST_LEVELS = 30  # levels that are compared, from the top

Pair = tuple[ClassId | None, ClassId | None]  # our class and theirs; None for "none of the classes"


@dataclass(frozen=True)
class AnnotatorAgreement:
    """Agreement of two annotators on the images that both labelled.

    Attributes:
        images: labelled by both, independently.
        agreed: images with equal labels.
        kappa: chance-corrected agreement, -1..1; None without images, or if both used one class
            only.
        low: lower end of its 95 % interval; None without kappa.
        high: upper end.
    """

    images: int = 0
    agreed: int = 0
    kappa: float | None = None
    low: float | None = None
    high: float | None = None

    @property
    def observed(self) -> float | None:
        """Share of equal labels, 0..1; None without images."""
        return self.agreed / self.images if self.images else None


@dataclass(frozen=True)
class AgreementTable:
    """Agreement on the exact class and on each level, and the most frequent disagreements."""

    exact: AnnotatorAgreement = AnnotatorAgreement()
    levels: tuple[AnnotatorAgreement, ...] = ()
    """Of level 0, 1, ...; a label that is coarser than a level does not count there."""
    disagreed: tuple[tuple[Pair, int], ...] = ()  # with the number of images, most first


def cohen_kappa(counts: Counter[tuple[Hashable, Hashable]]) -> AnnotatorAgreement:
    """Cohen's kappa with its 95 % interval.

    Paper: Cohen 1960; the standard error of large samples is that of Fleiss, Cohen and Everitt
    1969, equation 13.

    Args:
        counts: images by our class and theirs.
    """
    images = counts.total()
    agreed = sum(count for (one, other), count in counts.items() if one == other)
    if not images:
        return AnnotatorAgreement()
    ours, theirs = Counter[Hashable](), Counter[Hashable]()
    for (one, other), count in counts.items():
        ours[one] += count
        theirs[other] += count
    observed = agreed / images
    expected = sum(ours[each] * theirs[each] for each in ours) / images**2
    if expected >= 1:
        return AnnotatorAgreement(images, agreed)
    kappa = (observed - expected) / (1 - expected)
    spread = 0.0
    for (one, other), count in counts.items():
        margins = (theirs[one] + ours[other]) / images
        spread += (
            count
            / images
            * ((1 - margins * (1 - kappa)) ** 2 if one == other else (margins * (1 - kappa)) ** 2)
        )
    spread -= (kappa - expected * (1 - kappa)) ** 2
    error = NORMAL_95 * sqrt(max(0.0, spread) / images) / (1 - expected)
    return AnnotatorAgreement(
        images, agreed, kappa, max(-1.0, kappa - error), min(1.0, kappa + error)
    )


def agreement_table(graph: CategoryGraph, pairs: Iterable[Pair]) -> AgreementTable:
    """Agreement on labels of the same images.

    Args:
        graph: has all of these classes; a class with several parents counts on upper levels by its
            first path.
        pairs: our class and theirs of each image that both labelled independently.
    """
    counts = Counter(pairs)
    lines = {each: _line(graph, each) for pair in counts for each in pair if each is not None}
    deepest = max((len(line) for line in lines.values()), default=0)
    differing = [(pair, count) for pair, count in counts.items() if pair[0] != pair[1]]
    differing.sort(
        key=lambda each: (-each[1], sorted(_names(graph, each[0])), _names(graph, each[0]))
    )
    return AgreementTable(
        exact=cohen_kappa(Counter(counts)),
        levels=tuple(_on_level(counts, lines, level) for level in range(min(deepest, MOST_LEVELS))),
        disagreed=tuple(differing[:MOST_PAIRS]),
    )


def _on_level(
    counts: Counter[Pair], lines: dict[ClassId, list[ClassId]], level: int
) -> AnnotatorAgreement:
    found = Counter[tuple[Hashable, Hashable]]()

    def at_level(class_id: ClassId | None) -> ClassId | None:
        return None if class_id is None else lines[class_id][level]

    for (one, other), count in counts.items():
        if all(each is None or len(lines[each]) > level for each in (one, other)):
            found[at_level(one), at_level(other)] += count
    return cohen_kappa(found)


def _line(graph: CategoryGraph, class_id: ClassId) -> list[ClassId]:
    """The class itself and its ancestors along its first path, one for each level."""
    path = [class_id]
    while above := graph.parents(path[-1]):
        path.append(above[0])
    path.reverse()
    line: list[ClassId] = []
    for place, each in enumerate(path):
        end = graph.level(path[place + 1]) if place + 1 < len(path) else graph.level(each) + 1
        line += [each] * (end - len(line))
    return line


def _names(graph: CategoryGraph, pair: Pair) -> tuple[str, ...]:
    return tuple("" if each is None else graph.name(each) for each in pair)
