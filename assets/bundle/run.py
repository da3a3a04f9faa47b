"""Classify images: `python run.py NEW.csv IMAGE...`. Needs onnxruntime, numpy and pillow."""

import csv
import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image, ImageCms, ImageOps

HERE = Path(__file__).resolve().parent
MODEL = json.loads((HERE / "classes.json").read_text(encoding="utf-8"))
CLASSES, LOOK = {one["id"]: one for one in MODEL["classes"]}, MODEL["image"]
HEADER = "image,class,path,score,safe_class,safe_score,setting,model,is_unknown"
FORMULA = re.compile(r"'*\s*[=+\-@\t\r\n＝＋－＠]")  # a spreadsheet would run such a cell


def in_srgb(image):
    """Return an image as sRGB by its colour profile, if it has one that fits its pixels."""
    profile = image.info.get("icc_profile") or b""
    mode = {b"RGB ": "RGB", b"GRAY": "L", b"CMYK": "CMYK"}.get(profile[16:20])
    if mode is None or (mode == "CMYK") != (image.mode == "CMYK"):
        return image.convert("RGB")
    try:
        profiles = ImageCms.ImageCmsProfile(io.BytesIO(profile)), ImageCms.createProfile("sRGB")
        return ImageCms.profileToProfile(image.convert(mode), *profiles, outputMode="RGB")
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image.convert("RGB")


def square(path, side):
    """Return the middle of an image, upright, as (side, side, 3) bytes."""
    with Image.open(path) as image:
        needed = round(side / LOOK["resize_share"])
        image.draft(None, (needed, needed))  # a JPEG is made smaller while it is decoded
        image.load()
        if image.mode in {"I", "F"} or image.mode.startswith("I;16"):
            raise ValueError("more than eight bits a pixel; save it with eight")
        if image.has_transparency_data:
            clear, image = image.convert("RGBA"), Image.new("RGB", image.size, "white")
            image.paste(clear, mask=clear)
            image.info = clear.info
        kept = min(image.size) * LOOK["resize_share"]
        box = [(length + sign * kept) / 2 for sign in (-1, 1) for length in image.size]
        image = in_srgb(image) if image.mode == "CMYK" else image.convert("RGB")
        small = image.resize((side, side), Image.Resampling.BILINEAR, box, reducing_gap=3.0)
        return np.asarray(ImageOps.exif_transpose(in_srgb(small)))


def answer(session, path):
    """Return name, path and score of the best class; the safe class and its score."""
    views = [square(path, LOOK["side"])]
    if LOOK["views"] > 1:
        closer, side = square(path, LOOK["closer_side"]), LOOK["side"]
        views += [closer[y, x] for y in ends_of(side) for x in ends_of(side)]
    values = session.run(None, {"images": np.stack(views)[None]})
    names = [output.name for output in session.get_outputs()]
    found = {name: value[0] for name, value in zip(names, values, strict=True)}
    best = found["probabilities"].argmax()
    leaf, score = CLASSES[MODEL["probabilities"][best]], found["probabilities"][best]
    if MODEL["unknown_distance"] is not None and found["distance"] > MODEL["unknown_distance"]:
        return leaf["name"], leaf["path"], score, "unknown", 0.0
    coarse = [CLASSES[key] for key in MODEL["coarse_probabilities"]]
    candidates = [(leaf, score), *zip(coarse, found.get("coarse_probabilities", []), strict=True)]
    sure = [(one, p) for one, p in candidates if one["may_be_named"] and p >= one["bar"]]
    if not sure:
        return leaf["name"], leaf["path"], score, "", 0.0
    safe, p = max(sure, key=lambda o: (o[0] is leaf, o[0]["level"] + min(o[1], 0.999)))
    name = "/" + safe["path"] if safe["name"] == "unknown" else safe["name"]
    return leaf["name"], leaf["path"], score, name, p


def ends_of(side):
    """Return the slices of the first and the last pixels."""
    return slice(None, side), slice(-side, None)


def images_in(names):
    """Yield the paths; for a folder, those of the images in it and below it."""
    for name in names:
        below = sorted(Path(name).rglob("*")) if Path(name).is_dir() else [name]
        kinds = Image.registered_extensions()
        yield from (str(path) for path in below if path is name or path.suffix.lower() in kinds)


def main(new, names):
    """Write a row for each image that can be read."""
    with open(new, "x", encoding="utf-8", errors="surrogateescape", newline="") as file:
        table, model = csv.writer(file), str(HERE / "classifier.onnx")
        print(HEADER, end="\r\n", file=file)
        runtime = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        for name in images_in(names):
            try:
                leaf, path, score, safe, safe_score = answer(runtime, name)
            except Exception as error:  # noqa: BLE001 (whatever is wrong with an image: the others go on)
                print(f"{name} cannot be read: {error}", file=sys.stderr)
                continue
            scores = [leaf, path, f"{score:.6f}", safe, f"{safe_score:.6f}"]
            is_unknown = "true" if safe == "unknown" else "false"
            row = [name, *scores, MODEL["setting"], MODEL["name"], is_unknown]
            table.writerow("'" * bool(FORMULA.match(cell)) + cell for cell in row)


if __name__ == "__main__":
    if not sys.argv[2:] or sys.argv[1].startswith("-"):
        sys.exit("usage: python run.py NEW.csv IMAGE...")
    try:
        main(sys.argv[1], sys.argv[2:])
    except FileExistsError:
        sys.exit(f"{sys.argv[1]} is already there: choose another name")
    except OSError as error:
        sys.exit(f"{sys.argv[1]} cannot be written: {error.strerror}")
