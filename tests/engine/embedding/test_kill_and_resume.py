import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from engine.embedding.cache import EmbeddingCache
from engine.embedding.messages import EmbedBatch, EmbedRequest
from engine.embedding.pipeline import embed_files
from engine.images.read_file import content_hash
from engine.model_card import read_card
from engine.runtime.backbone import BackboneSession
from engine.runtime.providers import choose_providers
from tests.support.backbones import WIDTH, write_tiny_backbone
from tests.support.images import write_jpeg

COUNT = 200
BATCHES_BEFORE_KILL = 3


def embed_folder(root: Path, *, stop_after: int = -1) -> tuple[int, int]:
    """Embed `root`/photos and print each id; after `stop_after` batches wait for a kill."""
    requests = [EmbedRequest(number, root / "photos" / f"{number}.jpg") for number in range(COUNT)]
    batches = 0

    def acknowledge(batch: EmbedBatch) -> None:
        nonlocal batches
        batches += 1
        for result in batch.results:
            sys.stdout.write(f"{result.image_id}\n")
        if batches == stop_after:
            sys.stdout.write("now\n")
            sys.stdout.flush()
            sys.stdin.read()  # blocks until killed

    model = root / "tiny.onnx"
    session = BackboneSession(model, read_card(model), choose_providers("cpu"))
    with EmbeddingCache(root / "cache", "ab" * 32, WIDTH) as cache:
        summary = embed_files(requests, session, cache, on_batch=acknowledge)
    return summary.embedded, summary.from_cache


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """After SIGKILL the cache is valid, has everything reported, and only the rest is embedded."""
    (tmp_path / "photos").mkdir()
    for number in range(COUNT):
        write_jpeg(tmp_path / "photos" / f"{number}.jpg", seed=number)
    write_tiny_backbone(tmp_path / "tiny.onnx")
    acknowledged = _run_until_killed(tmp_path)
    assert 0 < len(acknowledged) < COUNT

    with EmbeddingCache(tmp_path / "cache", "ab" * 32, WIDTH) as cache:
        hashes = [
            content_hash((tmp_path / "photos" / f"{number}.jpg").read_bytes())
            for number in range(COUNT)
        ]
        missing = cache.missing(hashes)
        assert not {hashes[number] for number in acknowledged} & set(missing)
        connection = sqlite3.connect(cache.path)
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.close()
    assert embed_folder(tmp_path) == (len(missing), COUNT - len(missing))
    assert embed_folder(tmp_path) == (0, COUNT)


def _run_until_killed(root: Path) -> list[int]:
    """Start a child that embeds, kill it, and return the ids it had reported."""
    script = (
        "from pathlib import Path; from tests.engine.embedding.test_kill_and_resume import "
        "embed_folder; "
        f"embed_folder(Path({str(root)!r}), stop_after={BATCHES_BEFORE_KILL})"
    )
    repository = Path(__file__).parents[3]
    acknowledged = []
    with subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=repository,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        for line in child.stdout:
            if line == "now\n":
                child.kill()
                break
            acknowledged.append(int(line))
        child.wait()
    assert child.returncode == -signal.SIGKILL
    return acknowledged
