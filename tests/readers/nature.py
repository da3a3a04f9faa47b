"""Biodiversity archives, and keywords in photo libraries.

Frictionless downloads the standard's schemas; without network CAMTRAP_DP names a folder with them.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.readers.readings import Found, is_labelled, of_a_class, reads

DARWIN_CORE = "http://rs.tdwg.org/dwc/terms/"
TITLE = "http://purl.org/dc/terms/title"
PERSON = "verified by a person"


def _exiftool_version() -> str:
    try:
        return subprocess.run(
            ["exiftool", "-ver"], capture_output=True, check=True, text=True
        ).stdout.strip()
    except OSError:
        return "(not installed)"


@reads("darwin-core", "darwin-core.zip", "python-dwca-reader", of=of_a_class)
def archive_by_dwca_reader(path: Path) -> Found:
    from dwca.read import DwCAReader

    found = {}
    with DwCAReader(str(path)) as archive:
        for row in archive.rows:
            media = next(each for each in row.extensions if TITLE in each.data)
            above = row.data[f"{DARWIN_CORE}higherClassification"]
            names = [
                *(above.split(" | ") if above else []),
                row.data[f"{DARWIN_CORE}scientificName"],
            ]
            is_person = row.data[f"{DARWIN_CORE}identificationVerificationStatus"] == PERSON
            found[media.data[TITLE].removeprefix("'")] = {  # cells that begin with = get one
                "class": names[-1],
                "path": "/".join(name.replace("/", "\\/") for name in names),
                "by": "person" if is_person else "model",
                "who": row.data[f"{DARWIN_CORE}identifiedBy"] if is_person else None,
                "when": row.data[f"{DARWIN_CORE}dateIdentified"] if is_person else None,
            }
    return found


@reads("camtrap-dp", "camtrap-dp", "frictionless (validated)", version_of="frictionless")
def package_by_frictionless(path: Path) -> Found:
    """Validate every table and foreign key against the standard's schema, then read all images."""
    from frictionless import Package, system

    with _with_schemas(path) as folder, system.use_context(trusted=True):
        package = Package(str(folder / "datapackage.json"))
        report = package.validate()
        assert report.valid, report.flatten(["title", "rowNumber", "fieldName", "note"])[:3]
        media = {
            row["mediaID"]: row["fileName"] for row in package.get_resource("media").read_rows()
        }
        found: dict[str, dict[str, Any]] = {name: {"class": None} for name in media.values()}
        for row in package.get_resource("observations").read_rows():
            is_person = row["classificationMethod"] == "human"
            who = row["classifiedBy"] if is_person else None
            found[media[row["mediaID"]]] = {"class": row["scientificName"], "who": who}
        return found


@reads("xmp", "xmp", f"exiftool {_exiftool_version()}", of=is_labelled, version_of="")
def sidecars_by_exiftool(path: Path) -> Found:
    """Hierarchical keywords; a class with several parents has one for each path."""
    done = subprocess.run(
        ["exiftool", "-json", "-r", "-ext", "xmp", "-HierarchicalSubject", str(path)],
        capture_output=True,
        check=True,
        text=True,
    )
    found = {}
    for row in json.loads(done.stdout):
        keywords = row.get("HierarchicalSubject", [])
        listed = [keywords] if isinstance(keywords, str) else keywords
        paths = [
            "/".join(name.replace("/", "\\/") for name in keyword.split("|")) for keyword in listed
        ]
        found[Path(row["SourceFile"]).name.removesuffix(".xmp")] = {"paths": paths}
    return found


@contextmanager
def _with_schemas(path: Path) -> Iterator[Path]:
    """The package, with local schemas if a folder has them."""
    kept = os.environ.get("CAMTRAP_DP")
    if kept is None:
        yield path
        return
    with tempfile.TemporaryDirectory() as made:
        folder = Path(shutil.copytree(path, Path(made) / "package"))
        package = json.loads((folder / "datapackage.json").read_text(encoding="utf-8"))
        for resource in package["resources"]:
            if isinstance(resource["schema"], str):
                resource["schema"] = json.loads(
                    Path(kept, Path(resource["schema"]).name).read_text(encoding="utf-8")
                )
            resource.pop("profile", None)
        package.pop("profile", None)
        (folder / "datapackage.json").write_text(json.dumps(package), encoding="utf-8")
        yield folder
