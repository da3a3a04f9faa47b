#!/usr/bin/env bash
# Smoke test of a packaged program without a display: version, a project of generated images, embedding, classification,
# and the window on Qt's offscreen platform. smoke-test.sh PROGRAM
set -euo pipefail

program=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
export PROTOLEAF_CACHE=$place/cache PROTOLEAF_LOGS=$place/logs PROTOLEAF_BACKUPS=$place/backups QT_QPA_PLATFORM=offscreen
cd "$place"

# Six images of one colour as portable pixmaps, which need no other program.
draw() {
    mkdir -p "$(dirname "$1")"
    { printf 'P6\n64 64\n255\n'; for _ in $(seq 4096); do printf '%b' "$2"; done; } >"$1"
}
for shade in 0 1 2; do
    draw "shots/red/$shade.ppm" "\\x$((80 + shade))\\x10\\x10"
    draw "shots/blue/$shade.ppm" "\\x10\\x10\\x$((80 + shade))"
done
draw photos/red.ppm '\x84\x11\x12'
draw photos/blue.ppm '\x11\x12\x84'

"$program" --version
"$program" new shades.protoleaf
"$program" import-images shades.protoleaf --folders-as-classes shots
"$program" import-images shades.protoleaf photos
"$program" embed shades.protoleaf --device cpu
"$program" classify shades.protoleaf -o answers.csv
"$program" check shades.protoleaf
"$program" export shades.protoleaf csv table.csv
for shade in red blue; do
    grep -E "$shade\.ppm,$shade," answers.csv || { cat answers.csv; echo "FAILED: $shade is taken for another class"; exit 1; }
done
PROTOLEAF_STARTUP_REPORT=$place/report.json "$program" shades.protoleaf
grep -q visible_s report.json || { echo "FAILED: the window was not visible"; exit 1; }
echo "PASSED: classified, exported, window visible"
