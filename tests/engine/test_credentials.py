"""Secrets in URLs are in no message and no data set."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.credentials import has_credentials, without_credentials
from engine.dataset.manifest import read_manifest, write_manifest
from engine.errors import InputError
from engine.images.find_images import FoundImages
from protoleaf_cluster.sources import absolute, each_piece
from protoleaf_cluster.storage import file_system, refusal
from tests.support.data_sets import some_rows, write_data_set

SECRET = (
    "http://user:S3cret@127.0.0.1:9/a.jpg",
    "https://S3cret@host/a.jpg",
    "s3://AKIA:S3c/ret@bucket/a.jpg",
    "ftp://joe:S3cret@host/x",
    "https://h/a.jpg?X-Amz-Signature=S3cret&b=1",
    "https://h/x?sv=1&sig=S3cret%2F",
    "https://h/a?token=S3cret#f",
    "https://h/a#access_token=S3cret",
    "simplecache::http://u:S3cret@h/x",
    "zip://a.jpg::http://u:S3cret@h/x.zip",
    "HTTP://U:S3cret@H/x",
    "http://u:p@S3cret@host/x",
    "http:/u:S3cret@h/x",
    "https://account.blob.core.windows.net/x?se=1&SIG=S3cret",
    "gs://b/x?X-Goog-Credential=S3cret",
)
PLAIN = (
    "s3://bucket/a@b.jpg",
    "http://host:8080/a@b.jpg",
    "abfs://container@account.dfs.core.windows.net/x",
    "/a/b@c.jpg",
    "ftp://joe@host/x",
    "https://h/x?monkey=1",
    "http://[::1]:80/x",
    "C:/photos/a:b@c.jpg",
    "key=value",
    "a:b@c",
    "put it into the address: http://name:password@host:port",
)


@pytest.mark.parametrize("address", SECRET)
def test_secrets_are_hidden(address: str) -> None:
    assert has_credentials(address)
    assert "cret" not in without_credentials(f"cannot read {address}: no such host")


@pytest.mark.parametrize("address", PLAIN)
def test_plain_addresses_stay(address: str) -> None:
    assert without_credentials(address) == address


@pytest.mark.parametrize("address", SECRET[:6])
def test_sources_with_secrets_are_refused(address: str, tmp_path: Path) -> None:
    """As an argument, in a list, and by other inputs; in no message."""
    (tmp_path / "list.txt").write_text(f"{address}\n", encoding="utf-8")
    for open_it in (
        lambda: absolute([address]),
        lambda: list(each_piece([str(tmp_path / "list.txt")], 5, FoundImages())),
        lambda: file_system(address),
    ):
        with pytest.raises(InputError) as caught:
            open_it()
        assert "S3c" not in str(caught.value)
    assert "S3c" not in str(refusal(address, OSError(f"cannot reach {address}")))


def test_data_sets_of_others_are_cleaned(tmp_path: Path) -> None:
    """Manifest and rows of others may contain them."""
    rows = some_rows(3, 384)
    made = write_data_set(tmp_path / "set", [replace(rows, paths=list(SECRET[:3]))])
    assert not any("S3c" in path for batch in made.each_rows(0) for path in batch.paths)
    write_manifest(made.folder, replace(made.manifest, sources=(SECRET[0],)))
    assert "S3c" not in (made.folder / "manifest.json").read_text(encoding="utf-8")
    assert "S3c" not in read_manifest(made.folder).sources[0]
