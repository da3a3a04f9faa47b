"""Images in an object store with the S3 protocol, on this computer."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.dataset.opened import DataSet
from tests.support.data_sets import rows_of
from tests.support.images import encoded, picture
from tests.support.two_nodes import answered, program_environment, started

pytest.importorskip("s3fs", reason="s3fs is not installed: pip install s3fs 'moto[server]'")
boto3 = pytest.importorskip(
    "boto3", reason="moto is not installed: pip install s3fs 'moto[server]'"
)
moto_server = pytest.importorskip(
    "moto.server", reason="moto is not installed: pip install s3fs 'moto[server]'"
)

pytestmark = pytest.mark.slow

ACCESS = {
    "AWS_ACCESS_KEY_ID": "id",
    "AWS_SECRET_ACCESS_KEY": "key",
    "AWS_DEFAULT_REGION": "us-east-1",
}
IMAGES = {f"photos/{number}.jpg": encoded(picture(seed=number), "JPEG") for number in range(12)}


@pytest.fixture
def store() -> Iterator[dict[str, str]]:
    """A store with a bucket of images, and the environment with its credentials."""
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        client = boto3.client(
            "s3",
            endpoint_url=f"http://{host}:{port}",
            region_name=ACCESS["AWS_DEFAULT_REGION"],
            aws_access_key_id="id",
            aws_secret_access_key="key",  # noqa: S106 (of this test)
        )
        client.create_bucket(Bucket="birds")
        for name, data in IMAGES.items():
            client.put_object(Bucket="birds", Key=name, Body=data)
        yield {**program_environment(), **ACCESS, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}
    finally:
        server.stop()


def test_images_of_a_bucket(store: dict[str, str], tmp_path: Path) -> None:
    """Embedded like files; missing credentials and an empty bucket are errors of one line."""
    options = ("--backbone", "fast", "--shard-images", "5", "--json")
    command = ("embed", "s3://birds/photos", "--out", tmp_path / "set", *options)
    status, out, err = answered(started(*command, environment=store))
    assert (status, err) == (0, "")
    assert (json.loads(out)["images"], json.loads(out)["failed"]) == (12, 0)
    found = rows_of(DataSet.open(tmp_path / "set"))
    assert {path: row[1] for path, row in found.items()} == {
        f"s3://birds/{name}": len(IMAGES[name]) for name in IMAGES
    }
    nowhere = ("embed", "s3://birds/none", "--out", tmp_path / "none", *options)
    assert (
        "the file or folder is not there: found s3://birds/none"
        in answered(started(*nowhere, environment=store))[2]
    )
    stranger = {name: value for name, value in store.items() if name not in ACCESS}
    stranger |= {"AWS_EC2_METADATA_DISABLED": "true", "HOME": os.fspath(tmp_path)}
    denied = ("embed", "s3://birds/photos", "--out", tmp_path / "denied", *options)
    status, out, err = answered(started(*denied, environment=stranger))
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith(
        "protoleaf: the storage denies access: expected credentials on every node"
    )
