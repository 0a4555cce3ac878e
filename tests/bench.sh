#!/bin/sh
# Builds lantern and its benches and prints one line of JSON a figure (tests/bench.h says what is in it):
#   sh tests/bench.sh [PART...]       all without any; the names of their figures:
#     train     train.gpt.threads2 ...       decode    decode.modern.batch32 ...    beam   beam.width16 ...
#     window    window.chunks.T8192 ...      text      bpe.train gpt2.encode        scale  scale.T.2048 ...: time, memory
#     catalog   catalog.lm.train ...         memory    memory.live: a whole run     look   look.wall ...: snapshots
#     screen    frame.heat frame.wall: a redraw; screen.first_frame screen.idle screen.latency screen.steps
# BENCH_TEXT is what bench_text learns from (4 MB of English; without it, words made up), BENCH_VOCABULARY a folder with
# GPT-2's encoder.json and vocab.bpe. Nothing else should run meanwhile; BENCH_WITH is put before each program (chrt -f 20).
set -eu
here=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
out=${LANTERN_BUILD:-$here/build}/bench
BENCH_COMMIT=${BENCH_COMMIT:-$(git -C "$here" describe --always --dirty 2>/dev/null || echo unknown)}
export BENCH_COMMIT OPENBLAS_NUM_THREADS=1 # no helper of the library spins beside ours
[ $# -gt 0 ] || set -- train decode beam window text scale catalog memory look screen

mkdir -p "$out"
{
    cmake -S "$here" -B "$out" -G Ninja -DCMAKE_BUILD_TYPE=Release && cmake --build "$out" --target lantern benches
} >"$out/build.log" 2>&1 || {
    cat "$out/build.log" >&2
    exit 1
}

# bench NAME ARGUMENT...
bench() {
    name=$1
    shift
    # shellcheck disable=SC2086 # several words
    [ ! -x "$out/tests/bench_$name" ] || ${BENCH_WITH:-} "$out/tests/bench_$name" "$@"
}

for part in "$@"; do
    case $part in
    train | decode | window | scale | catalog | memory | look | screen) bench "$part" ;;
    beam)
        model=$out/modern.lantern
        [ -f "$model" ] || "$out/lantern" run lm.train arch=modern save="$model" >"$out/train.log"
        bench beam "$model"
        ;;
    text) bench text ${BENCH_TEXT:+"$BENCH_TEXT" ${BENCH_VOCABULARY:+"$BENCH_VOCABULARY"}} ;;
    *)
        echo "tests/bench.sh: no such part: $part (train decode beam window text scale catalog memory look screen)" >&2
        exit 2
        ;;
    esac
done
