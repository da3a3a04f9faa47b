"""Resources of workers on a cluster."""

import pytest

from engine.errors import UsageError
from engine.events import CancelToken
from protoleaf_cluster.ray_cluster import ClusterSize, connected
from protoleaf_cluster.run import Places
from protoleaf_cluster.shard_work import Resources


@pytest.mark.parametrize(
    ("size", "with_gpu", "expected"),
    [
        (ClusterSize(4, 64, 0), False, (64, Resources(1))),
        (ClusterSize(4, 64, 8), True, (8, Resources(8, has_gpu=True))),
        (ClusterSize(4, 64, 8), False, (64, Resources(1))),
        (ClusterSize(1, 2, 4), True, (4, Resources(1, has_gpu=True))),
    ],
)
def test_workers_of_a_cluster(
    size: ClusterSize, with_gpu: bool, expected: tuple[int, Resources]
) -> None:
    """One for each GPU with a share of the cores, else one for each core."""
    assert size.workers(with_gpu=with_gpu) == expected


def test_where_work_computes() -> None:
    """On GPUs if available, unless a device is requested."""
    assert [Places("auto").has_gpu(count) for count in (0, 2)] == [False, True]
    assert not Places("auto", "cpu").has_gpu(2)
    assert Places("auto", "cuda").has_gpu(2)
    with pytest.raises(UsageError, match="the cluster has no GPU"):
        Places("auto", "cuda").has_gpu(0)


@pytest.mark.parametrize("address", ["nonsense", "host", "ray://host:10001", "host:port", ":"])
def test_addresses_that_are_none(address: str) -> None:
    """Invalid addresses are refused before connecting."""
    with (
        pytest.raises(UsageError, match="not the address of a Ray cluster"),
        connected(address, CancelToken()),
    ):
        pass
