"""A simulated GPU: real sessions on the CPU that fail on demand."""

from pathlib import Path
from typing import Any

import pytest

from engine.detection import detector
from engine.runtime import backbone
from engine.runtime.devices.facts import CPU_PROVIDER, CUDA_PROVIDER
from engine.runtime.providers import ProviderChoice
from engine.runtime.sessions import open_session

FAKE_GPU = ProviderChoice(CUDA_PROVIDER, "GPU 1", free_bytes=8 << 30)


class FailingAfter:
    """A session that fails with a message after a number of runs."""

    def __init__(self, session: Any, runs: int, message: str) -> None:
        self._session = session
        self._left = runs
        self._message = message

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def run(self, *arguments: Any) -> Any:
        """Run or fail."""
        self._count()
        return self._session.run(*arguments)

    def run_with_iobinding(self, binding: Any) -> None:
        """Run with IO binding or fail."""
        self._count()
        self._session.run_with_iobinding(binding)

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise RuntimeError(self._message)


def install_fake_gpu(
    monkeypatch: pytest.MonkeyPatch,
    *,
    runs: int = 1 << 30,
    message: str = "CUDA failure 700: illegal address",
) -> list[str]:
    """Open CUDA sessions on the CPU, which fail after a number of runs.

    Returns:
        providers of the sessions opened, in order; grows.
    """
    opened: list[str] = []

    def open_disguised(model: Path, provider: str = CPU_PROVIDER, **_options: Any) -> Any:
        opened.append(provider)
        session = open_session(model)
        return session if provider == CPU_PROVIDER else FailingAfter(session, runs, message)

    for user in (backbone, detector):
        monkeypatch.setattr(user, "open_session", open_disguised)
    monkeypatch.setattr(backbone, "_CUDA_MEMORY", "cpu")
    return opened
