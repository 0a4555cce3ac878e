# Sourced by src/run.sh and tests/run.sh: brings Debian packages that are missing, asking for root only when there is something to do.

# bring PACKAGE...
bring() {
    missing=
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q '^install ok installed' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null 2>&1; then
            as_root=sudo
        else
            echo "These packages are missing and need root to install:$missing" >&2
            return 1
        fi
    fi
    echo "Installing:$missing" >&2
    # shellcheck disable=SC2086
    $as_root apt-get update -qq >&2 &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
}

# What building and running need. Any BLAS that Debian calls libopenblas will do; the pthread build is the usual one.
build_packages='gcc libc6-dev cmake ninja-build pkg-config libncurses-dev libopenblas-dev libcsv-dev libutf8proc-dev
libpcre2-dev libjansson-dev gettext'
run_packages='ncurses-base'
