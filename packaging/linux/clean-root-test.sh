#!/usr/bin/env bash
# Test of a Debian package in a clean root by debootstrap, without Python. A new user starts the program by its menu entry,
# opens the sample and a project file, uses the command line, and removes the program.
# Run as root: clean-root-test.sh PACKAGE.deb SOURCE_PYTHON RESULTS [--keep]
#
# SOURCE_PYTHON runs the program from source, to exchange projects with. RESULTS is the folder for screenshots.
set -euo pipefail
set -m  # each job is a process group, which can be ended as a whole

package=$(realpath "$1")
name=$(dpkg-deb -f "$package" Package)
source_python=$2
results=$(realpath -m "$3")
here=$(cd "$(dirname "$0")" && pwd)
build=${CLEAN_ROOT:-/var/tmp/protoleaf-clean-root} # outside the repository, so that its files are not packed or searched
base=$build/base
root=$build/root
suite=${SUITE:-bookworm}
mirror=${MIRROR:-http://deb.debian.org/debian}
display=:77
person=ada
home=/home/$person

say() { printf '%s  %s\n' "$(date -u +%H:%M:%S)" "$*"; }
fail() { say "FAILED: $*"; exit 1; }
in_root() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
as_person() {
    chroot --userspec="$person:$person" "$root" env -i PATH=/usr/bin:/bin HOME="$home" USER="$person" LC_ALL=C.UTF-8 \
        DISPLAY="$display" XDG_RUNTIME_DIR="/run/$person" OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" "$@"
}
# Polls a command every half second until it succeeds: wait_for SECONDS WHAT COMMAND...
wait_for() {
    local end=$((SECONDS + $1)) what=$2
    shift 2
    until "$@" >/dev/null 2>&1; do
        ((SECONDS < end)) || { picture "failed"; fail "$what did not come in time"; }
        sleep 0.5
    done
}
picture() {
    as_person scrot --overwrite "/tmp/$1.png"
    mv "$root/tmp/$1.png" "$results/"
}
press() { as_person xdotool key --clearmodifiers "$1"; }
window() { as_person xdotool search --onlyvisible --name "$1"; }
# Runs a command by its name in the palette.
command_named() {
    press ctrl+k
    sleep 1
    as_person xdotool type --delay 60 "$1"
    sleep 1
    press Return
}
# Enters a path in the open dialog.
choose_file() {
    sleep 3
    as_person xdotool type --delay 30 "$1"
    sleep 1
    press Return
}
processes() { find /proc/[0-9]*/exe -lname '*/usr/lib/protoleaf/protoleaf' 2>/dev/null | wc -l; }
is_closed() { [ "$(processes)" = 0 ]; }
quit_window() {
    press ctrl+q
    wait_for 30 "the end of the program" is_closed
}

# Compares the images and classes of two files of predictions: same_answers FILE FILE
same_answers() {
    local parts=()
    for file in "$@"; do parts+=("$(awk -F, 'NR > 1 { n = split($1, path, "/"); print path[n] "," $2 }' "$file" | sort)"); done
    [ "${parts[0]}" = "${parts[1]}" ] || fail "other answers: $(diff <(echo "${parts[0]}") <(echo "${parts[1]}") | head -4)"
    say "$(wc -l <<<"${parts[0]}") answers are the same"
}

unmount() {
    for place in proc dev/shm; do
        if mountpoint -q "$root/$place"; then umount -l "$root/$place"; fi
    done
}
servers=()  # process groups
finish() {
    for server in "${servers[@]}"; do kill -- "-$server" 2>/dev/null || true; done
    unmount
}
trap finish EXIT

mkdir -p "$build" "$results"
if [ ! -x "$base/usr/bin/apt-get" ]; then
    say "making a root: debootstrap --variant=minbase $suite"
    debootstrap --variant=minbase "$suite" "$base" "$mirror" >"$build/debootstrap.log"
fi
unmount
rm -rf --one-file-system "$root"
cp -a "$base" "$root"
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mount -t tmpfs shm "$root/dev/shm"
cp /etc/resolv.conf "$root/etc/resolv.conf"

say "== without Python"
if compgen -G "$root/usr/bin/python*" >/dev/null; then fail "the root has a Python"; fi

say "== install $(basename "$package"): $(stat -c %s "$package") bytes"
cp "$package" "$root/tmp/protoleaf.deb"
in_root apt-get update -qq
in_root apt-get install -y -qq --no-install-recommends /tmp/protoleaf.deb >"$build/apt.log" 2>&1 || { tail "$build/apt.log"; fail "apt"; }
if compgen -G "$root/usr/bin/python*" >/dev/null; then fail "the package brought a Python"; fi
# A display, keyboard and mouse input; none of these packages depends on Python.
in_root apt-get install -y -qq --no-install-recommends xvfb icewm xdotool scrot shared-mime-info desktop-file-utils \
    libglib2.0-bin >>"$build/apt.log" 2>&1 || { tail "$build/apt.log"; fail "apt"; }
if compgen -G "$root/usr/bin/python*" >/dev/null; then fail "a tool brought a Python"; fi
say "size installed: $(du -sm "$root/usr/lib/protoleaf" | cut -f1) MB"

say "== every library is found"
missing=$(in_root bash -c 'find /usr/lib/protoleaf -type f \( -name "*.so*" -o -name protoleaf \) ! -name libqgtk3.so ! -name "libqwayland*" \
    ! -path "*wayland*" ! -name "libQt6Wayland*" -exec env LD_LIBRARY_PATH=/usr/lib/protoleaf/_internal ldd {} + 2>/dev/null | grep "not found" | sort -u || true')
[ -z "$missing" ] || fail "missing: $missing"

say "== a new person, an empty home"
in_root useradd --create-home --shell /bin/bash "$person"
install -d -m 700 "$root/run/$person"
in_root chown "$person:$person" "/run/$person"
in_root Xvfb "$display" -screen 0 1440x900x24 -nolisten tcp >"$build/xvfb.log" 2>&1 &
servers+=($!)
wait_for 30 "the display" as_person xdotool getdisplaygeometry
as_person icewm >"$build/icewm.log" 2>&1 &
servers+=($!)

say "== the menu's line"
line=$(sed -n 's/^Exec=//p' "$root/usr/share/applications/protoleaf.desktop")
say "Exec=$line"
as_person sh -c "${line% %f}" >"$build/first.log" 2>&1 &
wait_for 60 "the window" window Protoleaf
sleep 2
picture 1-first-page
command_named "try the sample"
wait_for 180 "the sample project" test -f "$root$home/.local/share/protoleaf/sample/sample.protoleaf"
sample=$home/.local/share/protoleaf/sample
wait_for 180 "the sample's window" window sample
sleep 25
picture 2-sample
quit_window
[ ! -s "$build/first.log" ] || say "said on the terminal: $(cat "$build/first.log")"
cp "$root$sample/sample.protoleaf" "$results/sample-of-installed.protoleaf"

say "== *.protoleaf is known to the desktop"
kind=$(as_person gio info -a standard::content-type "$sample/sample.protoleaf" | sed -n 's/.*content-type: //p')
program=$(as_person gio mime application/x-protoleaf | sed -n 's/^Default application for .*: //p')
say "$kind opens with $program"
[ "$kind $program" = "application/x-protoleaf protoleaf.desktop" ] || fail "kind $kind, program $program"
as_person gio launch /usr/share/applications/protoleaf.desktop "$sample/sample.protoleaf" >"$build/second.log" 2>&1 &
wait_for 60 "the project by a double click" window sample
sleep 6
picture 3-double-click
quit_window

say "== a folder of one's own, in the window"
work=$home/work
as_person mkdir "$work"
as_person cp -r "$sample/collection" "$work/collection"
as_person mkdir "$work/few"
while IFS=, read -r image class; do
    as_person mkdir -p "$work/few/$class"
    as_person cp "$work/collection/$image" "$work/few/$class/"
done < <(sed -n 2,40p "$root$work/collection/shots.csv" | tr -d '\r')
as_person protoleaf >"$build/third.log" 2>&1 &
wait_for 60 "the window" window Protoleaf
sleep 3
press ctrl+shift+n
sleep 3
picture 4-new-project
press Tab # from the name to "Choose…"
press space
choose_file "$work/few.protoleaf"
sleep 3
press shift+Tab
press Return
wait_for 60 "the new project's window" window few
press ctrl+shift+o
choose_file "$work/few"
sleep 8
picture 5-add-folder
for _ in 1 2 3; do press shift+Tab; done # from the button that adds to "Tick all"
press space
for _ in 1 2 3; do press Tab; done
press Return
sleep 25
picture 6-own-folder
press ctrl+shift+t
sleep 8
picture 7-training
press Escape
quit_window
as_person protoleaf check "$work/few.protoleaf" | tee /dev/stderr | grep -q " 39 images, 39 labels" || fail "the folder was not added"

say "== the command line: a collection of the sample's images"
while IFS=, read -r image class; do
    as_person mkdir -p "$work/shots/$class"
    as_person cp "$work/collection/$image" "$work/shots/$class/"
done < <(tail -n +2 "$root$work/collection/shots.csv" | tr -d '\r')
as_person protoleaf new "$work/own.protoleaf"
as_person protoleaf import-graph "$work/own.protoleaf" "$work/collection/edges.csv"
as_person protoleaf import-images "$work/own.protoleaf" --folders-as-classes "$work/shots"
as_person protoleaf import-images "$work/own.protoleaf" "$work/collection/photos"
as_person protoleaf embed "$work/own.protoleaf" --device cpu
as_person protoleaf classify "$work/own.protoleaf" -o "$work/own.csv"
as_person protoleaf evaluate "$work/own.protoleaf" --truth "$work/collection/truth.csv"
rows=$(($(wc -l <"$root$work/own.csv") - 1))
say "$rows rows of predictions"
[ "$rows" -gt 50 ] || fail "too few predictions"
for format in csv jsonl parquet folders coco yolo yolo-detection cvat label-studio fiftyone huggingface darwin-core camtrap-dp xmp copy model; do
    as_person protoleaf export "$work/own.protoleaf" "$format" "$work/out-$format"
done
as_person protoleaf check "$work/own.protoleaf"
as_person protoleaf doctor >"$results/doctor.txt"

say "== a project made from source opens in the installed program, and the other way round"
repository=$(cd "$here/../.." && pwd)
export PROTOLEAF_CACHE=$build/source-cache PROTOLEAF_BACKUPS=$build/source-backups PROTOLEAF_LOGS=$build/source-logs
from_source() { (cd "$repository" && PYTHONPATH="$repository" "$source_python" -m app "$@"); }
from_source check "$root$work/own.protoleaf"
from_source embed "$root$work/own.protoleaf" --device cpu
from_source classify "$root$work/own.protoleaf" --all -o "$root$work/by-source.csv"
as_person protoleaf classify "$work/own.protoleaf" --all -o "$work/by-installed.csv"
in_root chown "$person:$person" "$work/by-source.csv"
same_answers "$root$work/by-installed.csv" "$root$work/by-source.csv"
from_source new "$root$work/source.protoleaf"
from_source import-graph "$root$work/source.protoleaf" "$root$work/collection/edges.csv"
from_source import-images "$root$work/source.protoleaf" --folders-as-classes "$root$work/shots"
from_source import-images "$root$work/source.protoleaf" "$root$work/collection/photos"
in_root chown -R "$person:$person" "$work"
as_person protoleaf check "$work/source.protoleaf"
as_person protoleaf embed "$work/source.protoleaf" --device cpu
as_person protoleaf classify "$work/source.protoleaf" --all -o "$work/of-source.csv"
same_answers "$root$work/by-installed.csv" "$root$work/of-source.csv"

say "== processes that read photos for a GPU"
# Reader processes start only with a GPU, so a script starts them in the installed program. That runs no scripts, except
# commands that look like Python's resource tracker for shared memory, which it has to run.
helper="from multiprocessing.resource_tracker import main; trial = {}; exec(open('/tmp/reader_trial.py').read(), trial)"
trial_in_program() { as_person protoleaf -B -S -I -c "$helper; trial['main']($1)"; }
trial() { (cd "$repository" && OMP_NUM_THREADS=1 PYTHONPATH="$repository" "$source_python" packaging/installer/reader_trial.py "$@"); }
cp "$here/../installer/reader_trial.py" "$root/tmp/"
trial make "$root/tmp/photos" 300
trial_in_program "['read', '/tmp/photos', '/tmp/installed.json']"
trial read "$root/tmp/photos" "$build/source.json"
trial compare "$root/tmp/installed.json" "$build/source.json" || fail "processes that read"
trial_in_program "['hold', '/tmp/held']" &
servers+=($!)
wait_for 60 "the processes that read" test -s "$root/tmp/held"
say "$(processes) processes: the program, two that read, one that looks after their memory"
[ "$(processes)" = 4 ] || fail "other processes than those"
if window Protoleaf; then fail "one of them opened a window"; fi
kill -KILL "$(cat "$root/tmp/held")"
wait_for 30 "the end of all processes" is_closed
if compgen -G "$root/dev/shm/psm_*"; then fail "shared memory is left"; fi

say "== training"
if [ "$name" = protoleaf-training ]; then
    as_person protoleaf train "$work/own.protoleaf" --depth propagation --setting iterations=60 --choose
    as_person protoleaf train "$work/own.protoleaf" --depth backbone --setting iterations=12
    as_person protoleaf versions "$work/own.protoleaf"
    as_person protoleaf classify "$work/own.protoleaf" -o "$work/trained.csv"
else
    refused=$(as_person protoleaf train "$work/own.protoleaf" 2>&1 || true)
    say "$refused"
    [[ "$refused" == *"nstall the package protoleaf-training"* ]] || fail "it does not say which package trains"
fi

say "== removed again"
sum=$(sha256sum "$root$work/own.protoleaf" "$root$sample/sample.protoleaf")
in_root apt-get purge -y -qq "$name" >>"$build/apt.log" 2>&1
[ "$sum" = "$(sha256sum "$root$work/own.protoleaf" "$root$sample/sample.protoleaf")" ] || fail "projects changed"
left=$(in_root find /usr /etc /opt /var/lib -iname '*protoleaf*' ! -path '/var/lib/dpkg/*' ! -path '/usr/share/doc/*' | head)
[ -z "$left" ] || fail "left behind: $left"
if [ -e "$root/usr/bin/protoleaf" ]; then fail "the command is still there"; fi
say "projects and caches are as they were; nothing of the program is left"
say "PASSED"
