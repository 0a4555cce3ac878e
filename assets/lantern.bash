# Completion of lantern's command line for bash. All it knows it asks the program: lantern list, lantern --help, lantern run ID --help.

# The options in a help text: NAME CHOICES, a line each. CHOICES: a|b|c, "file", or "-".
_lantern_options() {
    awk -F '  +' '
        /^options$/ || /^keys of a run on the screen$/ { inside = 1; next }
        /^$/ { inside = 0 }
        inside {
            kind = "-"
            if ($2 ~ /\|/) { kind = $2; sub(/,.*/, "", kind) }
            else if ($3 ~ /(^| )file(,|$)/) kind = "file"
            print $1, kind
        }'
}

_lantern_tables() {
    awk '/^tables$/ { inside = 1; next } inside { sub(/:.*/, ""); print $1 }'
}

# What may stand after --OPTION, as the help spells it: a|b|c.
_lantern_values() {
    awk -v option="$1" '$1 == option && $2 ~ /\|/ { print $2 }' | tr '|' ' '
}

_lantern_files() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$1")
}

# The value of a key: CHOICES and CUR as above. BEFORE is what the shell will not replace itself.
_lantern_value() {
    local choices=$1 cur=$2 before=$3
    case $choices in
    file) _lantern_files "$cur" ;;
    *'|'*) mapfile -t COMPREPLY < <(compgen -W "${choices//|/ }" -- "$cur") ;;
    esac
    COMPREPLY=("${COMPREPLY[@]/#/$before}")
}

# key= or key=value; HELP is the text that lists the keys, MORE further words.
_lantern_pairs() {
    local help=$1 more=$2 cur=$3 key choices before=
    if [[ $cur == *=* ]]; then
        key=${cur%%=*}
        [[ $COMP_WORDBREAKS == *=* ]] || before=$key=
        choices=$(_lantern_options <<<"$help" | awk -v key="$key" '$1 == key { print $2 }')
        _lantern_value "${choices:--}" "${cur#*=}" "$before"
        return
    fi
    mapfile -t COMPREPLY < <(compgen -W "$(_lantern_options <<<"$help" | awk '{ print $1 "=" }') $more" -- "$cur")
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
}

_lantern() {
    local program=$1 line=${COMP_LINE:0:COMP_POINT} words cur='' prev help
    read -ra words <<<"$line"
    [[ $line == *[[:blank:]] ]] || { cur=${words[-1]} && unset 'words[-1]'; }
    prev=${words[-1]}
    COMPREPLY=()
    case $prev in
    --open | --script) _lantern_files "$cur" && return ;;
    --csv) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <([[ -z $cur ]] && echo -; compgen -d -- "$cur") && return ;;
    esac
    if [[ ${words[1]} == run && ${#words[@]} -ge 3 ]]; then
        help=$(LC_ALL=C "$program" run "${words[2]}" --help 2>/dev/null)
        if [[ $prev == --table ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$(_lantern_tables <<<"$help")" -- "$cur")
        else
            _lantern_pairs "$help" "--csv --table --progress --no-cache --help" "$cur"
        fi
    elif [[ ${words[1]} == run || ${words[1]} == help ]]; then
        [[ ${#words[@]} -eq 2 ]] &&
            mapfile -t COMPREPLY < <(compgen -W "$("$program" list | awk '{ print $1 }')" -- "$cur")
    elif [[ ${words[1]} != list ]]; then
        help=$(LC_ALL=C "$program" --help 2>/dev/null)
        local values=
        [[ $prev == --* ]] && values=$(_lantern_values "$prev" <<<"$help")
        if [[ -n $values ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$values" -- "$cur")
        else
            local more="$(grep -o -- '--[a-z][a-z-]*' <<<"$help" | grep -vxE -- '--(csv|table|progress|no-cache)' | sort -u) --help"
            [[ ${#words[@]} -eq 1 ]] && more="list run help $more"
            _lantern_pairs "$help" "$more" "$cur"
        fi
    fi
}

complete -F _lantern lantern
