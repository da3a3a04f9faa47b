#!/usr/bin/env bash
# Test of the wheel as `pipx install` and `uv tool install` use it: built from the source archive, which is thereby tested
# as well, installed into an empty environment, and run from a folder and a home outside the repository.
# wheel-check.sh PYTHON [--without-dependencies]
#
# With --without-dependencies the environment uses the packages of PYTHON instead of downloading gigabytes.
set -euo pipefail

python=$1
alone=${2:-}
repository=$(cd "$(dirname "$0")/.." && pwd)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

say() { printf '%s\n' "$*"; }
fail() { say "FAILED: $*"; exit 1; }

say "== build: source archive, and the wheel from it"
"$python" -m venv "$place/builder"
"$place/builder/bin/pip" install --quiet build
"$place/builder/bin/python" -m build --outdir "$place/products" "$repository" >"$place/build.log" 2>&1 || { tail "$place/build.log"; exit 1; }
"$place/builder/bin/python" -m build --outdir "$place/products" "$repository/protoleaf_cluster" >>"$place/build.log" 2>&1 || { tail "$place/build.log"; exit 1; }
wheel=$(ls "$place"/products/protoleaf-*.whl)
cluster_wheel=$(ls "$place"/products/protoleaf_cluster-*.whl)
stat -c "%n: %s bytes" "$place"/products/*
tar -tzf "$place"/products/protoleaf-*.tar.gz >"$place/inside.txt"
unzip -Z1 "$wheel" >"$place/in-wheel.txt"
for source in "$repository"/translations/*.ts; do
    language=$(basename "$source" .ts)
    grep -q "/assets/translations/$language.qm\$" "$place/inside.txt" || fail "$language is not in the source archive: make translations"
    grep -q "^assets/translations/$language.qm\$" "$place/in-wheel.txt" || fail "$language is not in the wheel"
done
for needed in LICENSE NOTICE CHANGELOG.md pyinstaller.spec packaging/README.md packaging/linux/control.in docs/releasing.md \
    assets/models/leafnet.onnx tests/conftest.py Makefile constraints.txt; do
    grep -q "/$needed\$" "$place/inside.txt" || fail "$needed is not in the source archive"
done

say "== install"
if [ "$alone" = --without-dependencies ]; then
    "$python" -m venv "$place/tool"
    "$place/tool/bin/pip" install --quiet --no-deps "$wheel"
    # Dependencies come from the given Python; its own Protoleaf must not shadow the wheel.
    "$python" -c 'import site; print(site.getsitepackages()[0])' \
        >"$(ls -d "$place"/tool/lib/python3*/site-packages)/zz-dependencies.pth"
else
    "$python" -m venv "$place/tool"
    "$place/tool/bin/pip" install --quiet --constraint "$repository/constraints.txt" "$wheel[app]"
    say "== the engine in an environment of scikit-learn alone"
    "$python" -m venv "$place/library"
    "$place/library/bin/pip" install --quiet --constraint "$repository/constraints.txt" scikit-learn
    before=$(du -sm "$place/library" | cut -f1)
    "$place/library/bin/pip" install --quiet --constraint "$repository/constraints.txt" "$wheel"
    say "$(du -sm "$place/library" | cut -f1) MB, $before of them scikit-learn and Python's own"
    (cd "$place" && "$place/library/bin/python" - <<'PYTHON'
import sys

import numpy as np

from protoleaf import PrototypePropagationClassifier

rng = np.random.default_rng(0)
truth = np.repeat(["cat", "dog", "gull"], 50)
X = np.repeat(rng.normal(size=(3, 128)), 50, axis=0) + rng.normal(size=(150, 128))
y = np.where(np.arange(150) % 10, None, truth.astype(object))
model = PrototypePropagationClassifier([("mammal", "cat"), ("mammal", "dog"), ("bird", "gull")]).fit(X, y)
print(f"{(model.predict(X) == truth).mean():.0%} right")
assert (model.predict(X) == truth).mean() > 0.8
assert not {"torch", "PySide6", "ray"} & set(sys.modules)
PYTHON
    ) || fail "the engine alone cannot be used"
fi

export HOME=$place/home XDG_DATA_HOME=$place/home/.local/share PATH=$place/tool/bin:/usr/bin:/bin QT_QPA_PLATFORM=offscreen
unset PYTHONPATH
mkdir -p "$HOME"
cd "$place"

say "== the command and its files"
protoleaf --version
"$place/tool/bin/python" - "$place/tool" <<'PYTHON'
import sys
from pathlib import Path

import app
import engine
from engine.config import assets_folder, guide_folder, notice_path

for found in (Path(app.__file__), Path(engine.__file__), assets_folder() / "models/leafnet.onnx", notice_path(), guide_folder()):
    assert found.exists(), found
    assert found.is_relative_to(sys.argv[1]), f"{found} is another installation's"
PYTHON
for file in share/applications/protoleaf.desktop share/mime/packages/protoleaf.xml \
    share/icons/hicolor/scalable/apps/protoleaf.svg share/metainfo/io.github.protoleaf.protoleaf.metainfo.xml; do
    [ -f "$place/tool/$file" ] || fail "$file is missing"
done
protoleaf menu-entry
grep "^Exec=\"$place/tool/bin/protoleaf\" %f" "$XDG_DATA_HOME/applications/protoleaf.desktop"

say "== a collection"
mkdir -p shots/round shots/square photos
"$place/tool/bin/python" - <<'PYTHON'
from PIL import Image, ImageDraw

for number in range(12):
    image = Image.new("RGB", (240, 180), (200 + number, 190, 160))
    draw = ImageDraw.Draw(image)
    box = (40 + 4 * number, 30, 140 + 4 * number, 130)
    shape = "round" if number % 2 else "square"
    (draw.ellipse if shape == "round" else draw.rectangle)(box, fill=(40, 90, 60))
    image.save(f"shots/{shape}/{number}.jpg" if number < 6 else f"photos/{shape}-{number}.jpg")
PYTHON
protoleaf new shapes.protoleaf --backbone fast
protoleaf import-images shapes.protoleaf --folders-as-classes shots
protoleaf import-images shapes.protoleaf photos
protoleaf embed shapes.protoleaf --device cpu
protoleaf classify shapes.protoleaf -o answers.csv
cut -d, -f1,2,4 answers.csv
right=$(awk -F, 'NR > 1 && index($1, $2 "-")' answers.csv | wc -l)
[ "$right" -ge 5 ] || fail "$right of 6 answers are right"

say "== a data set, without and with protoleaf-cluster"
protoleaf embed photos --out set --backbone fast 2>refused.txt && fail "a data set without protoleaf-cluster"
grep "pip install protoleaf-cluster" refused.txt
if [ "$alone" = --without-dependencies ]; then
    "$place/tool/bin/pip" install --quiet --no-deps "$cluster_wheel"
else
    "$place/tool/bin/pip" install --quiet --constraint "$repository/constraints.txt" "$cluster_wheel"
fi
protoleaf embed photos --out set --backbone fast

say "== the window"
PROTOLEAF_STARTUP_REPORT=$place/report.json timeout 120 "$place/tool/bin/python" -m research.window shapes.protoleaf
grep -q visible_s "$place/report.json" || fail "the window was not visible"
say "PASSED: $right of 6 answers right, window visible"
