# bash completion.bash PROGRAM COMPLETION: what bash would offer after some beginnings of a line.
program=$1
. "$2" || exit 1
faults=0

# offers LINE WORD...: exactly these, in any order.
offers() {
    local line=$1 got want
    shift
    COMP_LINE=$line COMP_POINT=${#line}
    _lantern "$program"
    got=$(printf '%s\n' "${COMPREPLY[@]}" | sort)
    want=$(printf '%s\n' "$@" | sort)
    [[ $got == "$want" ]] && return
    printf 'after "%s":\n%s\nnot\n%s\n' "$line" "$got" "$want"
    faults=$((faults + 1))
}

# holds LINE WORD...: at least these.
holds() {
    local line=$1 word
    shift
    COMP_LINE=$line COMP_POINT=${#line}
    _lantern "$program"
    for word; do
        [[ " ${COMPREPLY[*]} " == *" $word "* ]] && continue
        printf 'after "%s": no %s in %s\n' "$line" "$word" "${COMPREPLY[*]}"
        faults=$((faults + 1))
    done
}

COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
holds "lantern " list run help arch= corpus= --theme --open --version --help
offers "lantern ru" run
offers "lantern run lm.tr" lm.train
holds "lantern run " decode.filter lm.train text.batch
offers "lantern help text.ba" text.batch
offers "lantern list "
offers "lantern run lm.train ar" arch=
offers "lantern run lm.train arch=" gpt modern
offers "lantern run lm.train d=3 arch=m" modern
holds "lantern run lm.train arch=gpt " d= lr= seed= --csv --table --progress --no-cache
offers "lantern run lm.train --table r" result
holds "lantern run lm.train --table " curve result model about
offers "lantern run decode.filter order=tau_l" tau_last
offers "lantern run text.batch pad=" left right
offers "lantern --theme " dark light contrast mono
offers "lantern --theme dark --map c" cividis
offers "lantern arch=gpt nor" norm= norm_place= norm_eps=
offers "lantern arch=g" gpt
offers "lantern run no.such " --csv --table --progress --no-cache --help

cd "$(dirname "$2")" || exit 1
offers "lantern --script lant" lantern.1 lantern.bash
offers "lantern run lm.train save=gramm" grammars
holds "lantern run lm.train --csv " - grammars
COMP_WORDBREAKS=$' \t\n'
offers "lantern run lm.train arch=m" arch=modern
offers "lantern run lm.train save=gramm" save=grammars
exit $((faults > 0))
