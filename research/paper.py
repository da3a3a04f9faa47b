"""Results of the paper, as printed.

Source: Lu Liu, Tianyi Zhou, Guodong Long, Jing Jiang, Lina Yao and Chengqi Zhang, "Prototype
Propagation Networks (PPN) for Weakly-supervised Few-shot Learning on Category Graph", IJCAI 2019:
the accuracies on WS-ImageNet-Pure and WS-ImageNet-Mix, and Table 4 (seconds per iteration).
"""

from collections.abc import Mapping
from dataclasses import dataclass

TASKS = 600
"""Test tasks behind each mean."""

"""Hardware of the paper's times."""

PEER = "prototypical-net"
"""The baseline of the paper's times."""


@dataclass(frozen=True)
class Column:
    """One kind of task."""

    ways: int
    shots: int

    @property
    def name(self) -> str:
        """Name of the column, such as `5w1s`."""
        return f"{self.ways}w{self.shots}s"


@dataclass(frozen=True)
class PublishedAccuracy:
    """Mean accuracy and half width of its 95 % interval, both in percent, as printed."""

    mean_percent: float
    interval_percent: float


@dataclass(frozen=True)
class PublishedTime:
    """Seconds per iteration."""

    training_s: float
    test_s: float


COLUMNS = (Column(5, 1), Column(5, 5), Column(10, 1), Column(10, 5))

TITLES: Mapping[str, str] = {
    "prototypical-net": "Prototypical Net",
    "gnn": "GNN",
    "closer-look": "Closer Look",
    "prototypical-net-star": "Prototypical Net*",
    "gnn-star": "GNN*",
    "closer-look-star": "Closer Look*",
    "ppn": "PPN",
    "ppn+": "PPN+",
}
"""Rows in the paper's order; a star marks a baseline trained level-wise, on weak labels, too."""


def _row(*printed: tuple[float, float]) -> dict[Column, PublishedAccuracy]:
    return {
        column: PublishedAccuracy(*numbers)
        for column, numbers in zip(COLUMNS, printed, strict=True)
    }


ACCURACIES: Mapping[str, Mapping[str, Mapping[Column, PublishedAccuracy]]] = {
    "pure": {
        "prototypical-net": _row((33.17, 1.65), (46.76, 0.98), (20.48, 0.99), (31.49, 0.57)),
        "gnn": _row((30.83, 0.66), (41.33, 0.62), (20.33, 0.60), (22.50, 0.62)),
        "closer-look": _row((32.27, 1.58), (46.02, 0.74), (22.78, 0.94), (28.04, 0.36)),
        "prototypical-net-star": _row((32.13, 1.48), (44.41, 0.93), (20.07, 0.93), (30.87, 0.56)),
        "gnn-star": _row((32.33, 0.52), (45.67, 0.87), (22.50, 0.67), (32.67, 0.37)),
        "closer-look-star": _row((32.63, 1.55), (43.76, 0.93), (20.03, 0.83), (30.67, 0.36)),
        "ppn": _row((37.37, 1.64), (50.31, 1.00), (24.17, 1.00), (36.21, 0.57)),
        "ppn+": _row((48.00, 1.70), (52.36, 1.02), (35.75, 1.13), (38.18, 0.63)),
    },
    "mix": {
        "prototypical-net": _row((31.93, 1.62), (49.80, 0.90), (21.02, 0.97), (36.42, 0.62)),
        "gnn": _row((33.60, 0.11), (45.87, 0.12), (22.00, 0.89), (34.33, 0.75)),
        "closer-look": _row((33.10, 1.57), (40.67, 0.73), (20.85, 0.92), (35.19, 0.43)),
        "prototypical-net-star": _row((31.80, 1.48), (49.03, 0.93), (20.33, 0.98), (34.79, 0.58)),
        "gnn-star": _row((30.33, 0.80), (47.33, 0.28), (23.33, 1.03), (31.33, 0.80)),
        "closer-look-star": _row((31.13, 1.51), (44.90, 0.78), (20.25, 0.87), (34.01, 0.40)),
        "ppn": _row((36.23, 1.69), (52.38, 0.92), (23.30, 1.06), (38.20, 0.55)),
        "ppn+": _row((41.60, 1.67), (53.95, 0.96), (29.87, 1.08), (39.17, 0.58)),
    },
}
"""Accuracies by variant, row and column. GNN's intervals on Mix (±0.11, ±0.12) are as printed."""

TIMES: Mapping[str, PublishedTime] = {
    "ppn": PublishedTime(0.074, 0.025),
    "ppn+": PublishedTime(0.074, 0.029),
    "prototypical-net": PublishedTime(0.066, 0.023),
    "gnn": PublishedTime(0.170, 0.011),
    "closer-look": PublishedTime(0.006, 0.115),
}
"""Table 4, measured on WS-ImageNet-Pure."""


def title_of(row: str) -> str:
    """Title of a row."""
    return TITLES.get(row, row)
