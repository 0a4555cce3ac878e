#!/bin/sh
# Installs what is missing, builds and runs the whole suite:
#   gcc      release, warnings are errors, every test
#   asan     AddressSanitizer and UBSan, every test but those that train long, and no bench
#   tsan     the threads: worker, shards, jobs, and the program itself in a terminal
#   clang    warnings are errors; the fuzzers, each for LANTERN_FUZZ_SECONDS (6)
#   double   the whole program with an engine in double
# sh tests/run.sh NAME... runs only those.
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
. "$here/src/packages.sh"

bring $build_packages $run_packages libcmocka-dev libvterm-dev clang libclang-rt-14-dev ncurses-term

out=${LANTERN_BUILD:-$here/build}
jobs=$(nproc)
unset NO_COLOR COLORTERM OPENBLAS_CORETYPE || true

# build NAME TARGET OPTION...
build() {
    name=$1 target=$2
    shift 2
    mkdir -p "$out/$name"
    echo "== $name: build"
    cmake -S "$here" -B "$out/$name" -G Ninja -DLANTERN_WERROR=ON "$@" >"$out/$name/configure.log" 2>&1 || {
        cat "$out/$name/configure.log"
        exit 1
    }
    cmake --build "$out/$name" -j "$jobs" --target "$target" >"$out/$name/build.log" 2>&1 || {
        cat "$out/$name/build.log"
        exit 1
    }
}

# check NAME CTEST-ARGUMENT...
check() {
    name=$1
    shift
    echo "== $name: test"
    (cd "$out/$name" && ctest --output-on-failure --no-tests=error -j "$jobs" "$@")
}

[ $# -gt 0 ] || set -- gcc asan tsan clang double
for name in "$@"; do
    case $name in
    gcc)
        build gcc all -DCMAKE_BUILD_TYPE=Release
        check gcc
        ;;
    asan)
        build asan all -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLANTERN_SANITIZE=address
        check asan -LE 'layers|train|bench'
        ;;
    tsan)
        build tsan run_threads -DCMAKE_BUILD_TYPE=RelWithDebInfo -DLANTERN_SANITIZE=thread
        check tsan -L threads
        ;;
    clang)
        build clang all -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_COMPILER=clang -DLANTERN_FUZZ=ON \
            -DLANTERN_FUZZ_SECONDS="${LANTERN_FUZZ_SECONDS:-6}"
        check clang -L 'fuzz|engine'
        ;;
    double)
        build double run_engine -DCMAKE_BUILD_TYPE=Release -DLANTERN_DOUBLE=ON
        check double -L engine
        ;;
    *)
        echo "tests/run.sh: no such part: $name (gcc asan tsan clang double)" >&2
        exit 2
        ;;
    esac
done
echo "== all passed"
