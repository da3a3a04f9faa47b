import pytest

from engine.inference.propagation import PropagationSession
from tests.support.everyday import exported_propagation


@pytest.fixture(scope="session")
def propagation(tmp_path_factory: pytest.TempPathFactory) -> PropagationSession:
    """The exported equations with an untrained attention, made once."""
    return exported_propagation(tmp_path_factory.mktemp("everyday"))
