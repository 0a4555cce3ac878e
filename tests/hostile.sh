# hostile.sh PROGRAM: files that lie, given to the whole program: each gets one sentence that names it and exit status 2, and
# nothing hangs. What stands in files byte by byte is the fuzz targets' work; here it is what a file system can hold.
set -u
L=$1
dir=$(mktemp -d "${TMPDIR:-/tmp}/lantern-hostile-XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
bad=0 ran=0

# fails NAME OPTION...: refused with one line that holds NAME.
fails() {
    name=$1
    shift
    timeout 60 "$L" run lm.score "$@" >out 2>err </dev/null
    code=$?
    ran=$((ran + 1))
    if [ $code -ne 2 ] || [ "$(wc -l <err)" -ne 1 ] || [ -s out ] || ! grep -qF -- "$name" err; then
        echo "exit $code: $*" && cat err && bad=$((bad + 1))
    fi
}

# lives OPTION...: any answer, but an answer.
lives() {
    timeout 60 "$L" run lm.score "$@" >out 2>err </dev/null
    code=$?
    ran=$((ran + 1))
    if [ $code -ne 0 ] && { [ $code -ne 2 ] || [ "$(wc -l <err)" -ne 1 ]; }; then
        echo "exit $code: $*" && cat err && bad=$((bad + 1))
    fi
}

word() { # numbers as int32, low byte first
    for n in "$@"; do
        printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $((n & 255)) $((n >> 8 & 255)) $((n >> 16 & 255)) $((n >> 24 & 255)))"
    done
}
zeros() { head -c "$1" /dev/zero; }

# ---- llama2.c: dim 4, hidden 4, 1 layer, 1 head, 1 kv head, 3 tokens, context 2: 3*4 + 4 + 4*16 + 4 + 3*16 + 4 + 8 floats ----
floats=$((12 + 4 + 64 + 4 + 48 + 4 + 8))
{ word 4 4 1 1 1 3 2 && zeros $((4 * floats)); } >good.bin
lives model=good.bin ids=0,1
[ $code -eq 0 ] || { echo "good.bin is not read:" && cat err && bad=$((bad + 1)); }
: >empty.bin
mkdir folder.bin folder
mkfifo pipe.bin
{ word 4 4 1 1 1 3 2 && zeros $((4 * floats - 1)); } >short.bin
{ word 4 4 1 1 1 3 2 && zeros $((4 * floats + 1)); } >long.bin
word 4 4 1 1 1 3 2 >header.bin
word 1073741824 1073741824 1073741824 1 1 1073741824 1073741824 >huge.bin
word 4 4 1 0 0 3 2 >heads.bin
word -4 -4 -1 -1 -1 -3 -2 >negative.bin
{ word 1634415666 9 && zeros 400; } >version.bin
for f in empty.bin folder.bin pipe.bin short.bin long.bin header.bin huge.bin heads.bin negative.bin version.bin missing.bin; do
    fails $f model=$f ids=0,1
done
mkfifo pipe
for f in empty pipe; do
    : >>empty
    fails $f model=$f ids=0,1
done
fails /dev/zero model=/dev/zero ids=0,1
fails /dev/zero model=good.bin tokenizer=/dev/zero ids=0,1
byte=0
while [ $byte -lt 28 ]; do
    cp good.bin flipped.bin
    printf '\377' | dd of=flipped.bin bs=1 seek=$byte conv=notrunc 2>/dev/null
    lives model=flipped.bin ids=0,1
    byte=$((byte + 1))
done

# ---- tokenizers ----
printf '[%.0s' $(seq 1000) >deep.json
printf '{"a":%.0s' $(seq 3000) >deeper.json
echo '{"model":{"type":"BPE","vocab":{"a":1152921504606846976},"merges":[]}}' >id.json
echo '{"model":{"type":"BPE","vocab":{"a":0,"a":0},"merges":[]}}' >twice.json
head -c 70000000 /dev/zero >large.json
for f in empty.bin folder pipe.bin deep.json deeper.json id.json twice.json large.json missing.json; do
    fails $f model=good.bin tokenizer=$f text=a
done

# ---- Hugging Face ----
config='"model_type":"gpt2","n_layer":1,"n_head":1,"n_embd":2,"n_positions":4,"vocab_size":3'
tensors='wte.weight:3,2 wpe.weight:4,2 h.0.ln_1.weight:2 h.0.ln_1.bias:2 h.0.attn.c_attn.weight:2,6 h.0.attn.c_attn.bias:6
h.0.attn.c_proj.weight:2,2 h.0.attn.c_proj.bias:2 h.0.ln_2.weight:2 h.0.ln_2.bias:2 h.0.mlp.c_fc.weight:2,8 h.0.mlp.c_fc.bias:8
h.0.mlp.c_proj.weight:8,2 h.0.mlp.c_proj.bias:2 ln_f.weight:2 ln_f.bias:2'
at=0 header='{"__metadata__":{"format":"pt"}'
for t in $tensors; do
    shape=${t#*:}
    end=$((at + 4 * $(echo "$shape" | tr ',' '*')))
    header="$header,\"${t%:*}\":{\"dtype\":\"F32\",\"shape\":[$shape],\"data_offsets\":[$at,$end]}"
    at=$end
done
header="$header}"
data=$at
# folder NAME HEADER [LENGTH [BYTES]]: a model with that header, which says that it is LENGTH long, and so many bytes behind it
folder() {
    mkdir -p "$1"
    echo "{$config}" >"$1/config.json"
    { word "${3:-${#2}}" 0 && printf %s "$2" && zeros "${4:-$data}"; } >"$1/model.safetensors"
}
swap() { printf %s "$header" | sed "$1"; }
folder good "$header"
lives model=good ids=0,1
[ $code -eq 0 ] || { echo "good is not read:" && cat err && bad=$((bad + 1)); }
folder cut "$header" ${#header} $((data - 1))
folder beyond "$header" 2000000000
folder notjson "$(swap 's/^{/[/')"
folder dtype "$(swap 's/F32/F8_E4M3/')"
folder shape "$(swap 's/\[3,2\]/[2,3]/')"
folder overlap "$(swap 's/\[24,56\]/[20,52]/')"
folder backwards "$(swap 's/\[24,56\]/[56,24]/')"
folder outside "$(swap 's/\[24,56\]/[1152921504606846976,1152921504606847008]/')"
folder absent "$(swap 's/ln_f.bias/ln_f.bios/')"
folder double "$(swap 's/wpe.weight/wte.weight/')"
for f in cut beyond notjson dtype shape overlap backwards outside absent double; do
    fails model.safetensors model=$f ids=0,1
done
mkdir none twoconfigs
fails none model=none ids=0,1
for case in 'n_layer:1152921504606846976' 'n_layer:-1' 'n_layer:"one"' 'n_embd:0' 'n_head:7' 'model_type:"bert"' 'vocab_size:null'; do
    key=${case%%:*} value=${case#*:}
    folder changed "$header"
    echo "{$config}" | sed "s/\"$key\":[^,}]*/\"$key\":$value/" >changed/config.json
    fails changed model=changed ids=0,1
done
folder changed "$header" && echo "{$config,\"n_layer\":1}" >changed/config.json && fails config.json model=changed ids=0,1
folder changed "$header" && : >changed/config.json && fails config.json model=changed ids=0,1
folder changed "$header" && cp deep.json changed/config.json && fails config.json model=changed ids=0,1
folder changed "$header" && rm changed/config.json && mkfifo changed/config.json && fails config.json model=changed ids=0,1
rm -rf changed
folder changed "$header" && rm changed/model.safetensors && mkfifo changed/model.safetensors && fails model.safetensors model=changed ids=0,1
rm -rf changed
folder changed "$header" && rm changed/model.safetensors && mkdir changed/model.safetensors && fails model.safetensors model=changed ids=0,1
rm -rf changed
folder changed "$header" && rm changed/model.safetensors
echo '{"weight_map":{"wte.weight":"../good/model.safetensors"}}' >changed/model.safetensors.index.json && fails changed model=changed ids=0,1
echo '{"weight_map":{"wte.weight":"gone.safetensors"}}' >changed/model.safetensors.index.json && fails gone.safetensors model=changed ids=0,1
echo '{"weight_map":7}' >changed/model.safetensors.index.json && fails changed model=changed ids=0,1

echo "$ran files, $bad answered wrongly"
[ $bad -eq 0 ]
