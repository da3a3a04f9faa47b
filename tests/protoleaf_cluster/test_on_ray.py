"""Real clusters: one of this computer alone, and one of two nodes."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engine.bundle.export import export_model
from engine.dataset.opened import DataSet
from engine.project import Project
from protoleaf_cluster.predictions import read_predictions_manifest
from tests.support.collections import Collection
from tests.support.data_sets import embedded, rows_of
from tests.support.images import write_jpeg
from tests.support.two_nodes import (
    TwoNodes,
    answered,
    program_environment,
    shards_there,
    started,
    two_nodes,
)

pytestmark = pytest.mark.slow

IMAGES = 60


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Some images, one of them damaged."""
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(IMAGES - 1):
        write_jpeg(folder / f"{number}.jpg", seed=number)
    (folder / "rotten.jpg").write_bytes(b"nothing")
    return folder


@pytest.fixture(scope="module")
def nodes() -> Iterator[TwoNodes]:
    """A cluster of two nodes shared by tests."""
    with two_nodes() as found:
        yield found


def embed(photos: Path, out: Path, *options: str | Path) -> tuple[str | Path, ...]:
    """The command that embeds them."""
    return ("embed", photos, "--out", out, "--backbone", "fast", "--shard-images", "5", *options)


def test_embed_and_classify_on_this_computer(collection: Collection, tmp_path: Path) -> None:
    """The commands of the guide, twice: the second run does nothing. Nothing is left running."""
    with Project.open(collection.project, for_writing=False) as project:
        model = export_model(project, collection.caches, tmp_path / "model").folder
    sources = collection.unsorted
    scratch = Path("/tmp") / f"pl{os.getpid()}"  # noqa: S108 (socket paths are short)
    scratch.mkdir()
    environment = {**program_environment(), "TMPDIR": str(scratch)}
    for new in (8, 0):
        status, out, err = answered(
            started(*embed(sources, tmp_path / "set", "--json"), environment=environment)
        )
        assert (status, err) == (0, "")
        fields = json.loads(out)
        assert (fields["images"], fields["shards"], fields["new_shards"], fields["failed"]) == (
            40,
            8,
            new,
            0,
        )
    for new in (8, 0):
        command = (
            "classify",
            tmp_path / "set",
            "--model",
            model,
            "--out",
            tmp_path / "out",
            "--json",
        )
        status, out, err = answered(started(*command, environment=environment))
        assert (status, err.count("\n")) == (0, 1)
        assert (
            "the model takes the mean of 5 views of an image; the data set has one view of each"
            in err
        )
        fields = json.loads(out)
        assert (fields["predictions"], fields["new_shards"], fields["without"]) == (40, new, 0)
    assert read_predictions_manifest(tmp_path / "out").is_whole
    assert rows_of(DataSet.open(tmp_path / "set")) == rows_of(
        embedded([sources], tmp_path / "expected")
    )
    scratch.rmdir()  # fails unless empty


def test_two_nodes_and_one_that_is_lost(nodes: TwoNodes, photos: Path, tmp_path: Path) -> None:
    """The other node finishes the work; rows equal those without a cluster."""
    command = embed(photos, tmp_path / "set", "--cluster", nodes.address, "--json")
    running = started(*command, environment=nodes.environment)
    assert shards_there(tmp_path / "set", 3, running)
    nodes.lose_one()
    status, out, err = answered(running)
    assert (status, err) == (0, "")
    assert json.loads(out)["new_shards"] == IMAGES // 5
    assert rows_of(DataSet.open(tmp_path / "set")) == rows_of(
        embedded([photos], tmp_path / "expected")
    )


def test_ctrl_c_stops_and_the_same_command_goes_on(photos: Path, tmp_path: Path) -> None:
    """One line, and no process of the cluster is left."""
    running = started(*embed(photos, tmp_path / "set"))
    assert shards_there(tmp_path / "set", 2, running)
    children = psutil.Process(running.pid).children(recursive=True)
    assert children
    running.send_signal(signal.SIGINT)
    status, out, err = answered(running)
    assert (status, out) == (130, "")
    assert err == (
        "protoleaf: stopped; what was finished is kept; run the same command again to go on "
        "from here\n"
    )
    assert psutil.wait_procs(children, timeout=30)[1] == []
    status, out, err = answered(started(*embed(photos, tmp_path / "set", "--json")))
    assert (status, err) == (0, "")
    assert 0 < json.loads(out)["new_shards"] < IMAGES // 5
    assert rows_of(DataSet.open(tmp_path / "set")) == rows_of(
        embedded([photos], tmp_path / "expected")
    )


def test_a_cluster_of_ours_speaks_to_nobody(photos: Path, tmp_path: Path) -> None:
    """Ray's usage statistics are off, no process connects elsewhere, no secret is written."""
    environment = {
        **program_environment(),
        "HOME": str(tmp_path / "home"),
        "RAY_USAGE_STATS_ENABLED": "1",
    }
    running = started(*embed(photos, tmp_path / "set"), environment=environment)
    assert shards_there(tmp_path / "set", 1, running)
    children = psutil.Process(running.pid).children(recursive=True)
    environments = [
        each.environ() for each in children
    ]  # some of Ray's processes overwrite their titles
    found = {environment["RAY_USAGE_STATS_ENABLED"] for environment in environments if environment}
    peers = {peer.raddr.ip for each in children for peer in each.net_connections() if peer.raddr}
    assert answered(running)[0] == 0
    own = {one.address.partition("%")[0] for many in psutil.net_if_addrs().values() for one in many}
    assert found == {"0"}
    assert peers
    assert {peer.removeprefix("::ffff:") for peer in peers} <= own
    assert not (tmp_path / "home" / ".ray").exists()


def test_what_ray_itself_says_of_reporting() -> None:
    """Ray itself reports them as off, and as on without our setting."""
    asks = "from ray._common.usage import usage_lib; print(usage_lib.usage_stats_enabled())"
    environment = {
        name: value for name, value in os.environ.items() if name != "RAY_USAGE_STATS_ENABLED"
    }
    answers = [
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**environment, "PYTHONPATH": program_environment()["PYTHONPATH"]},
        ).stdout
        for program in (asks, f"import engine; {asks}")
    ]
    assert answers == ["True\n", "False\n"]


def test_addresses_that_do_not_answer(photos: Path, tmp_path: Path) -> None:
    """A closed port, or one that is not Ray: refused in time, in one line."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        places = ("127.0.0.1:1", f"127.0.0.1:{silent.getsockname()[1]}")
        for place in places:
            command = list(map(str, embed(photos, tmp_path / "set", "--cluster", place)))
            program = (
                "import protoleaf_cluster.ray_cluster as tested; tested.CONNECT_S = 3.0; "
                f"import sys; from engine.cli.main import main; sys.exit(main({command}))"
            )
            done = subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                text=True,
                timeout=60,
                check=False,
                env=program_environment(),
            )
            assert (done.returncode, done.stdout) == (1, "")
            assert done.stderr.startswith(
                "protoleaf: the cluster does not answer: expected the head of a Ray cluster at"
            )
            assert done.stderr.count("\n") == 1


def test_another_version_of_ray(nodes: TwoNodes, photos: Path, tmp_path: Path) -> None:
    """The error names it and says what to do."""
    program = (
        "import engine, ray, sys; ray.__version__ = '1.0.0'; from engine.cli.main import main; "
        "sys.exit(main("
        f"{list(map(str, embed(photos, tmp_path / 'set', '--cluster', nodes.address)))}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=dict(nodes.environment),
    )
    assert done.returncode == 1
    assert (
        "protoleaf: the cluster runs another version of Ray or Python: expected the versions of "
        "this"
    ) in done.stderr


def test_a_gpu_that_is_not_there(photos: Path, tmp_path: Path) -> None:
    """Requested by name it is refused."""
    status, _out, err = answered(started(*embed(photos, tmp_path / "set", "--device", "cuda")))
    assert (status, err.partition(": expected")[0]) == (2, "protoleaf: the cluster has no GPU")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "kills",
            (
                "ModelError: the workers of a shard exit repeatedly: found shard 3, 3 times. "
                "Check "
                "the memory of"
            ),
        ),
        ("refuses", "StorageError: the disk of shard 3 is gone"),
        ("has a bug", "RayTaskError(ZeroDivisionError)"),
        ("opens badly", "InputError: nothing can be opened here"),
        ("dies opening", "ModelError: workers of the cluster exit at start: found "),
    ],
)
def test_work_that_goes_wrong(name: str, message: str) -> None:
    """The run ends with the error; a bug keeps its traceback."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.ray_works", name],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=program_environment(),
        cwd=program_environment()["PYTHONPATH"],
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(message)


def test_a_shard_whose_worker_is_lost_when_it_is_there(tmp_path: Path) -> None:
    """It counts as made by this run, though another worker finds it; earlier ones do not."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.ray_works", "new", tmp_path],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=program_environment(),
        cwd=program_environment()["PYTHONPATH"],
    )
    assert (done.returncode, done.stdout) == (0, "5 of 6 new, 5 rows"), done.stderr
