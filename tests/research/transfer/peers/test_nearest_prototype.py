import numpy as np

from research.transfer.peers.nearest_prototype import predict
from research.transfer.task import FewShotTask


def test_by_hand() -> None:
    """The means are (1, 0) and (4, 0): the border is at 2.5."""
    support = np.array([[0, 0], [2, 0], [4, 0]], dtype=np.float32)
    queries = np.array([[2.4, 5], [2.6, 5]], dtype=np.float32)
    task = FewShotTask(support, np.array([0, 0, 1]), queries, 2)
    assert predict(task)["plain"].tolist() == [0, 1]
