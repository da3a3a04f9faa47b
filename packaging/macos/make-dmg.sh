#!/usr/bin/env bash
# Creates a disk image of build/installer/FLAVOUR/program/Protoleaf.app, which pyinstaller.spec builds on macOS.
# make-dmg.sh [FLAVOUR]
#
# With IDENTITY ("Developer ID Application: ...") everything is signed; with NOTARY_PROFILE as well (made once by
# `xcrun notarytool store-credentials`) Apple notarises the image. Without them users must allow the program manually.
set -euo pipefail

flavour=${1:-cpu}
here=$(cd "$(dirname "$0")" && pwd)
repository=$(cd "$here/../.." && pwd)
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' "$repository/engine/__init__.py")
program=$repository/build/installer/$flavour/program/Protoleaf.app
image=$repository/dist/protoleaf_${version}_macos_$(uname -m).dmg
[ -d "$program" ] || { echo "there is no $program: build it first" >&2; exit 1; }

sign() {
    codesign --force --timestamp --options runtime --entitlements "$here/entitlements.plist" --sign "$IDENTITY" "$@"
}
if [ -n "${IDENTITY:-}" ]; then
    # Nested code is signed first, the program last.
    find "$program/Contents" -type f \( -name '*.dylib' -o -name '*.so' \) -print0 | while IFS= read -r -d '' library; do
        sign "$library"
    done
    sign "$program"
    codesign --verify --deep --strict "$program"
fi

staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
ditto "$program" "$staging/Protoleaf.app"
cp "$repository/LICENSE" "$repository/NOTICE" "$staging/"
ln -s /Applications "$staging/Applications"
mkdir -p "$repository/dist"
rm -f "$image"
hdiutil create -volname "Protoleaf $version" -srcfolder "$staging" -fs HFS+ -format ULMO "$image"

if [ -n "${IDENTITY:-}" ]; then sign "$image"; fi
if [ -n "${IDENTITY:-}" ] && [ -n "${NOTARY_PROFILE:-}" ]; then
    xcrun notarytool submit "$image" --keychain-profile "$NOTARY_PROFILE" --wait
    xcrun stapler staple "$image"
    spctl --assess --type open --context context:primary-signature --verbose "$image"
fi
shasum -a 256 "$image"
