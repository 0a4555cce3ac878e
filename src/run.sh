#!/bin/sh
# Installs what is missing, builds a release in build/release and starts lantern with the arguments given.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$here/src/packages.sh"

bring $build_packages $run_packages

build=${LANTERN_BUILD:-$here/build/release}
log=$build/build.log
mkdir -p "$build"
[ -x "$build/lantern" ] || echo "Building lantern (once; half a minute or so) ..." >&2
if ! { cmake -S "$here" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF &&
    cmake --build "$build"; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "The build failed; all of its output is in $log" >&2
    exit 1
fi
exec "$build/lantern" "$@"
