#!/bin/sh
# sh man.sh PROGRAM PAGE SOURCES: the manual page names every option, command and key that the program's help names and every variable
# that the sources ask the environment for, and groff has nothing to say about it.
program=$1 page=$2 sources=$3
text=$(sed 's/\\-/-/g' "$page")
help=$(LC_ALL=C "$program" --help)
faults=0

named() { # WHAT WORD...
    what=$1
    shift
    [ $# -gt 0 ] || { echo "no $what were found at all"; faults=1; }
    for word; do
        printf '%s\n' "$text" | grep -qE -- "(^|[^A-Za-z0-9_-])$word([^A-Za-z0-9_-]|\$)" && continue
        echo "the page does not name the $what $word"
        faults=1
    done
}

# shellcheck disable=SC2046
named option $(printf '%s\n' "$help" | grep -oE -- '--[a-z][a-z-]*' | sort -u)
named command $(printf '%s\n' "$help" | sed -nE 's/^  lantern ([a-z]+) .*/\1/p')
named key $(printf '%s\n' "$help" | sed '1,/^keys of a run/d' | awk '{ print $1 }')
named variable $(grep -rhoE --include='*.c' 'getenv\("[A-Z_]+"\)' "$sources"/src "$sources"/ui "$sources"/model | grep -oE '[A-Z_]{2,}' | sort -u)
named status 0 1 2 '128\+n'
if command -v groff >/dev/null; then
    said=$(groff -man -Tutf8 -ww -z "$page" 2>&1)
    [ -z "$said" ] || { echo "$said"; faults=1; }
fi
exit $faults
