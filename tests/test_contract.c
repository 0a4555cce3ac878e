/* The contract of the command line, held by the program as it was built: names, bytes, exit codes, one line of error,
 * and nothing left behind. The headers stand here a second time on purpose: scripts rely on them. */
#include "catalog.h"
#include "file.h"
#include "str.h"

#include <dirent.h>
#include <fcntl.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/lantern-test-XXXXXX";

/* What a command line gave. */
typedef struct {
    int code;
    Str out, err;
} Ran;

static void ran_done(Ran *r) {
    str_done(&r->out);
    str_done(&r->err);
}

static void slurp(const char *name, Str *out) {
    Str path;
    str_init(&path);
    str_init(out);
    str_addf(&path, "%s/%s", folder, name);
    Status s = file_read(path.s, 0, out);
    assert_int_equal(s.code, STATUS_OK);
    str_done(&path);
}

/* Runs a line of a shell in the test's folder; $L is the program. */
static Ran shell(const char *line) {
    Str command;
    str_init(&command);
    str_addf(&command, "cd %s && L='%s' && { %s\n} >out 2>err </dev/null", folder, LANTERN_PROGRAM, line);
    int result = system(command.s);
    str_done(&command);
    assert_true(WIFEXITED(result));
    Ran r = {.code = WEXITSTATUS(result)};
    slurp("out", &r.out);
    slurp("err", &r.err);
    return r;
}

static int files_in(const char *name) {
    Str path;
    str_init(&path);
    str_addf(&path, "%s/%s", folder, name);
    DIR *dir = opendir(path.s);
    str_done(&path);
    if (!dir) return -1;
    int n = 0;
    for (struct dirent *e; (e = readdir(dir));) n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(dir);
    return n;
}

static int lines_in(const char *text) {
    int n = 0;
    for (; *text; text++) n += *text == '\n';
    return n;
}

/* ---- what must not change ---- */

static const struct {
    const char *run; /* small arguments */
    const char *table;
    const char *header;
} headers[] = {
    {"arch.ablate d=16 steps=2 sentences=60 tests=4 batch=2", "bits", "change,parameters,repeat_bits,other_bits"},
    {"arch.ablate d=16 steps=2 sentences=60 tests=4 batch=2", "runs",
     "change,learning_rate,seed,repeat_bits,other_bits,induction_score"},
    {"arch.account", "parameters", "part,count,share"},
    {"arch.account", "flops", "part,flops,share"},
    {"arch.account", "memory", "part,bytes,gb,gib"},
    {"arch.account tokens=1e9", "training", "quantity,value,unit"},
    {"arch.account d=16 heads=4 T=65 count=1", "counted", "part,flops,counted"},
    {"arch.cards", "cards",
     "model,year,d,layers,heads,kv_heads,head_dim,d_ff,ffn_ratio,aspect,vocabulary,norm,ffn,pos,window,"
     "kv_bytes_per_token"},
    {"arch.compare d=16 sentences=64 epochs=1", "result", "model,parameters,perplexity,seconds"},
    {"arch.compare d=16 sentences=64 epochs=1", "runs", "model,seed,perplexity,floor_perplexity,above_floor"},
    {"arch.compare d=16 sentences=64 epochs=1", "shape", "model,ffn,d_ff,parameters,equal_to,difference"},
    {"arch.ffn", "sizes", "kind,matrices,d_ff,rounded_down,rounded_up,parameters"},
    {"arch.ffn", "curve", "x,relu,gelu,silu,squared_relu"},
    {"arch.norm d=8 rows=8", "values", "norm,index,value"},
    {"arch.norm d=8 rows=8", "half", "method,rms,output"},
    {"arch.norm d=8 rows=8", "cost", "operation,flops,flop_share,time_share"},
    {"arch.order d=16 layers=2 steps=2 context=16 batch=2", "curve", "placement,learning_rate,step,loss"},
    {"arch.order d=16 layers=2 steps=2 context=16 batch=2", "result", "placement,learning_rate,first_loss,last_loss"},
    {"arch.order d=16 layers=2 steps=2 context=16 batch=2", "gradient", "placement,layer,gradient_norm"},
    {"arch.stability", "zloss", "offset,format,spacing,max_error"},
    {"arch.stability", "qknorm", "scale,entropy,entropy_qk_norm"},
    {"arch.stability", "softcap", "cap,x,y"},
    {"attn.causal", "diff", "position,change"},
    {"attn.scale", "weight", "d_k,max_weight_scaled,max_weight_unscaled"},
    {"attn.step model=small", "attention",
     "layer,head,query,key,query_token,key_token,score,scaled,softcapped,masked,weight"},
    {"attn.step model=small", "vectors", "layer,head,position,which,index,value"},
    {"batch.loss", "loss", "rule,value"},
    {"batch.pad model=small", "diff", "variant,max_abs_logit_difference"},
    {"batch.waste sentences=64", "waste", "method,batches,positions,real,waste_share,blocks_with_boundary_share"},
    {"bpe.bytes", "bytes", "index,char,byte_hex"},
    {"bpe.bytes", "counts", "unit,count,unknown"},
    {"bpe.decode", "bytes", "index,id,bytes_hex"},
    {"bpe.encode", "steps", "step,rank,left,right,pieces,pieces_hex"},
    {"bpe.encode", "tokens", "index,token,id,bytes_hex"},
    {"bpe.morphs", "pieces", "word,merges,pieces,whole_word_known"},
    {"bpe.morphs", "recall", "merges,boundary_recall,word_oov,bpe_oov"},
    {"bpe.tradeoff", "tradeoff", "merges,vocabulary,tokens_per_word"},
    {"bpe.train", "merges", "rank,left,right,merged,count,ties,left_hex,right_hex,merged_hex"},
    {"bpe.train", "words", "word,count,pieces,pieces_hex"},
    {"decode.beam model=small", "best", "rank,text,log_p,score,true_log_p"},
    {"decode.beam model=small", "stop", "reason,step"},
    {"decode.beam model=small", "tree", "node,parent,depth,token,id,log_p,score,state,true_log_p"},
    {"decode.filter", "steps", "stage,index,value,kept"},
    {"decode.greedy model=small", "path", "step,token,id,p,log_p,true_p"},
    {"decode.greedy model=small", "sentence", "of,text,log_p,true_log_p"},
    {"decode.next model=small", "next", "token,id,logit,model_p,true_p"},
    {"decode.repeat block=32 tokens=20 starts=2 sentences=64 epochs=1", "choice", "strategy,word,share,model_p,true_p"},
    {"decode.repeat block=32 tokens=20 starts=2 sentences=64 epochs=1", "growth",
     "strategy,sentence,texts,repeated_share,best_p,true_best_p"},
    {"decode.repeat block=32 tokens=20 starts=2 sentences=64 epochs=1", "pattern", "strategy,start,letters"},
    {"decode.repeat block=32 tokens=20 starts=2 sentences=64 epochs=1", "rate", "strategy,repeated_sentence_share"},
    {"decode.repeat block=32 tokens=20 starts=2 sentences=64 epochs=1", "worth",
     "strategy,legal,possible,true_nll,distinct,coverage"},
    {"decode.strategies model=small n=4", "result", "strategy,legal,possible,true_nll,distinct,coverage"},
    {"decode.width model=small widths=1", "found", "width,subjects,modes_found,mean_log_p"},
    {"decode.width model=small widths=1", "rows", "width,subject,text,log_p,true_log_p"},
    {"gqa.cost", "cost", "scheme,kv_heads,cache_bytes,weights_bytes,fits,step_ms"},
    {"gqa.equal", "diff", "against,max_difference"},
    {"gqa.equal", "parameters", "kv_heads,count"},
    {"gqa.quality d=16 sentences=64 epochs=1", "quality", "scheme,kv_heads,perplexity"},
    {"gqa.quality d=16 sentences=64 epochs=1", "uptrain", "stage,perplexity"},
    {"gqa.quality d=16 sentences=64 epochs=1", "runs", "seed,what,kv_heads,parameters,perplexity,floor_perplexity"},
    {"grammar.next", "next", "token,p"},
    {"grammar.sample", "sentences", "sentence,log_p,text"},
    {"grammar.score text=the", "score", "sentence,tokens,log_p,unknown,text"},
    {"grammar.score text=the", "steps", "sentence,position,token,p,log_p"},
    {"grammar.stats", "stats", "quantity,value,unit"},
    {"grammar.stats", "lengths", "length,p"},
    {"grammar.stats", "modes", "subject,text,log_p"},
    {"kv.exact model=small", "diff", "feed,max_difference,same_greedy"},
    {"kv.flops", "flops", "tokens,without,with,ratio"},
    {"kv.speed d=16 batch=2 tokens=3", "speed", "method,milliseconds,tokens_per_second,ratio"},
    {"kv.growth model=small", "growth", "step,layer,cached,heads,head_dim,bytes,total_bytes"},
    {"kv.size", "size", "model,kind,tokens,bytes,gib"},
    {"lm.autoencoder labelled=20 unlabelled=20 tests=20 pretrain=2 finetune=2 seeds=1", "codes", "image,x,y"},
    {"lm.autoencoder labelled=20 unlabelled=20 tests=20 pretrain=2 finetune=2 seeds=1", "curve", "stage,step,loss"},
    {"lm.autoencoder labelled=20 unlabelled=20 tests=20 pretrain=2 finetune=2 seeds=1", "error", "method,test_error"},
    {"lm.autoencoder labelled=20 unlabelled=20 tests=20 pretrain=2 finetune=2 seeds=1", "seeds",
     "method,seed,test_error"},
    {"lm.bigram sentences=64 steps=3", "curve", "step,loss"},
    {"lm.bigram sentences=64 steps=3", "summary", "count_loss,final_loss,max_seen_difference,min_unseen_p"},
    {"lm.count sentences=64", "next", "token,count,p"},
    {"lm.end", "sums", "length,with_end,with_end_so_far,without_end"},
    {"lm.finetune model=small samples=2 steps=1 seeds=1 tests=4 k=1", "accuracy",
     "method,samples,learning_rate,k,seed,accuracy"},
    {"lm.finetune model=small samples=2 steps=1 seeds=1 tests=4 k=1", "summary",
     "run,learns,trained,trained_lowest,trained_highest,beyond,beyond_lowest,beyond_highest"},
    {"lm.minibatch d=16 sentences=64", "noise", "batch,mean_squared_error,cosine,seconds_per_sentence"},
    {"lm.score model=small text=the", "score", "position,token,id,log_p,true_log_p"},
    {"lm.score model=small text=the", "summary", "tokens,nll,perplexity,true_nll"},
    {"lm.tagger sentences=40 epochs=1", "accuracy", "model,tokens,ambiguous_tokens,accuracy,ambiguous_accuracy"},
    {"lm.tagger sentences=40 epochs=1", "tagged", "sentence,position,word,tag,predicted"},
    {"lm.train d=16 sentences=64 epochs=1", "curve", "step,tokens,loss,learning_rate,grad_norm,tokens_per_s"},
    {"lm.train d=16 sentences=64 epochs=1", "result", "split,tokens,nll,perplexity,floor_perplexity"},
    {"lm.train d=16 sentences=64 epochs=1", "model", "part,parameters"},
    {"lm.train d=16 sentences=64 epochs=1", "before", "split,tokens,nll,perplexity,floor_perplexity"},
    {"mla.cost", "cost", "scheme,values_per_token_per_layer,values_per_token,bytes_per_token"},
    {"model.trace model=small", "values", "name,layer,head,row,column,value"},
    {"pos.extrapolate d=16 sentences=64 epochs=1 seeds=1 k=1 tests=4", "agreement", "encoding,seed,k,accuracy"},
    {"pos.extrapolate d=16 sentences=64 epochs=1 seeds=1 k=1 tests=4", "look", "encoding,k,max_weight_on_subject"},
    {"pos.extrapolate d=16 sentences=64 epochs=1 seeds=1 k=1 tests=4", "spread", "encoding,k,mean,lowest,highest"},
    {"pos.permute", "diff", "encoding,max_difference"},
    {"rope.cache model=rotary", "diff", "feed,max_difference"},
    {"rope.clock", "pairs", "pair,radians_per_token,period_tokens"},
    {"rope.decay", "similarity", "distance,value"},
    {"rope.matrix", "agree", "form,max_difference"},
    {"rope.matrix", "matrix", "row,column,value"},
    {"rope.relative", "length", "scheme,change"},
    {"rope.relative", "score", "scheme,t,j,score"},
    {"rope.rotate", "rotated", "index,pair,angle,before,after"},
    {"stories.copy d=16 steps=2 sentences=60 tests=4 batch=2", "bits", "model,parameters,repeat_bits,other_bits"},
    {"stories.copy d=16 steps=2 sentences=60 tests=4 batch=2", "induction", "layer,head,position,target,weight"},
    {"stories.copy d=16 steps=2 sentences=60 tests=4 batch=2", "text", "prompt,continuation"},
    {"stories.copy d=16 steps=2 sentences=60 tests=4 batch=2", "heads", "layer,head,induction_score,largest_weight"},
    {"stories.copy d=16 steps=2 sentences=60 tests=4 batch=2", "look", "text,next,layer,head"},
    {"text.batch", "batch", "sentence,position,token,id"},
    {"text.batch", "waste", "block,sentences,cut_sentences,cut_tokens,pads,positions,pad_share"},
    {"text.units", "units", "unit,tokens,unknown,vocabulary,text"},
    {"window.cost T=8,64", "cost", "method,T,milliseconds,bytes"},
    {"window.cost T=8,64", "agree", "method,max_difference"},
    {"window.mask", "mask", "query,key,allowed"},
    {"window.mask", "counts", "rule,scores,share"},
    {"window.mask", "layers", "layer,window,scores,share"},
    {"window.quality d=16 sentences=64 epochs=1 tests=10", "agreement", "window,distance,accuracy,perplexity"},
    {"window.quality d=16 sentences=64 epochs=1 tests=10", "reach",
     "window,reach,distance,subject_seen,largest_change"},
    {"window.quality d=16 sentences=64 epochs=1 tests=10", "runs",
     "window,seed,distance,accuracy,perplexity,floor_perplexity"},
    {"window.reach", "reach", "layer,farthest_measured,farthest_formula"},
    {"window.rolling", "diff", "step,slot,position,max_difference"},
};

static void headers_are_exact(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        char line[200];
        snprintf(line, sizeof line, "$L run %s --csv - --table %s", headers[i].run, headers[i].table);
        Ran r = shell(line);
        if (r.code != 0) fail_msg("%s: exit %d, %s", line, r.code, r.err.s);
        size_t n = strlen(headers[i].header);
        if (strncmp(r.out.s, headers[i].header, n) != 0 || r.out.s[n] != '\n')
            fail_msg("%s: the header is %.*s", line, (int)strcspn(r.out.s, "\n"), r.out.s);
        assert_string_equal(r.err.s, "");
        ran_done(&r);
    }
}

static bool stands_here(const char *id, const char *table) {
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        if (strcspn(headers[i].run, " ") == strlen(id) && strncmp(headers[i].run, id, strlen(id)) == 0 &&
            strcmp(headers[i].table, table) == 0)
            return true;
    return false;
}

static void every_table_stands_here(void **state) {
    (void)state;
    for (int i = 0; i < catalog_count(); i++)
        for (const TableSpec *t = catalog_at(i)->tables; t->name; t++)
            if (!stands_here(catalog_at(i)->id, t->name)) fail_msg("%s, table %s", catalog_at(i)->id, t->name);
}

static void list_names_every_experiment(void **state) {
    (void)state;
    Ran r = shell("$L list");
    assert_int_equal(r.code, 0);
    assert_int_equal(lines_in(r.out.s), catalog_count());
    const char *line = r.out.s;
    for (int i = 0; i < catalog_count(); i++) {
        const char *id = catalog_at(i)->id;
        assert_int_equal(strncmp(line, id, strlen(id)), 0);
        line = strchr(line, '\n') + 1;
    }
    assert_string_equal(r.err.s, "");
    ran_done(&r);
}

static void help_goes_to_standard_output(void **state) {
    (void)state;
    static const char *const lines[] = {
        "$L --help", "$L -h", "$L help", "$L --version", "$L -V", "$L run text.batch --help", "$L help text.batch"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        Ran r = shell(lines[i]);
        if (r.code != 0 || r.out.len == 0 || r.err.len != 0) fail_msg("%s: exit %d", lines[i], r.code);
        ran_done(&r);
    }
}

/* ---- what is wrong ---- */

static const struct {
    const char *line;
    int code;
    const char *says;
} faults[] = {
    {"$L lsit", 2, "did you mean list"},
    {"$L text.batch", 2, "lantern run text.batch"},
    {"$L run", 2, "id"},
    {"$L run text.bach", 2, "did you mean text.batch"},
    {"$L run text.batch blok=3", 2, "did you mean 'block'"},
    {"$L run text.batch block", 2, "name=value"},
    {"$L run decode.filter tau=-1", 2, "tau"},
    {"$L run decode.filter top_p=1.5", 2, "top_p"},
    {"$L run decode.filter logits=1,x", 2, "'x' is not a number"},
    {"$L run decode.filter logits=1,inf", 2, "finite"},
    {"$L run decode.filter probs=.5,.2", 2, "add up to 0.7"},
    {"$L run decode.filter probs=-.5,1.5", 2, "probs"},
    {"$L run decode.filter probs=.5,.5 logits=1,2", 2, "not both"},
    {"$L run decode.filter order=first", 2, "tau_first, tau_last"},
    {"$L run grammar.score", 2, "text="},
    {"$L run grammar.score text=a file=b", 2, "text="},
    {"$L run grammar.score file=nowhere", 2, "nowhere"},
    {"$L run grammar.next grammar=nowhere", 2, "farm, morph, stories, tags"},
    {"$L run grammar.next start=nothing", 2, "nothing"},
    {"$L run grammar.next set=zz:1", 2, "zz"},
    {"printf 's: a\n\nt {u}\n' >bad && $L run grammar.next grammar=bad", 2, "line 3"},
    {"$L run grammar.next prefix=\"$(printf '\377')\"", 2, "not UTF-8"},
    {"$L", 2, "lantern run ID"},
    {"$L seed=2 start=pause", 2, "lantern run ID"},
    {"$L sed=2", 2, "did you mean 'seed'"},
    {"$L heads=3", 2, "heads"},
    {"$L --theme pink", 2, "dark, light, contrast, mono"},
    {"$L --map pink", 2, "viridis"},
    {"$L --color 12", 2, "auto, mono, 8, 16, 256, true"},
    {"$L --fps 0", 2, "1 to 60"},
    {"$L --script nowhere", 2, "nowhere"},
    {"echo nonsense >s && $L --script s start=pause", 2, "s:1: no such verb: nonsense"},
    {"$L list --theme dark", 2, "--theme"},
    {"$L run text.batch --ascii", 2, "--ascii"},
    {"$L --csv -", 2, "lantern run"},
    {"$L run lm.train save=nowhere/x", 2, "nowhere/x"},
    {"$L run lm.train save=. pos=sinusoid", 2, "Hugging Face"},
    {"$L run lm.train heads=3", 2, "heads"},
    {"$L run lm.train d=16 sentences=64 epochs=9 lr=1e9 optimizer=sgd norm=none --csv made", 1, "diverged at step"},
    {"$L run lm.score model=nowhere text=the", 2, "nowhere"},
    {"$L run lm.score model=small", 2, "text="},
    {"$L run lm.score model=small text='the zebra'", 2, "zebra"},
    {"$L run attn.step model=small layer=2", 2, "layer"},
    {"$L run decode.next model=small ids=1,99", 2, "99"},
    {"$L run decode.beam model=small width=0", 2, "width"},
    {"$L run decode.beam model=small length_norm=2", 2, "length_norm"},
    {"$L run decode.beam model=small end=56", 2, "no token 56; there are 0 to 55"},
    {"$L run decode.beam of=truth prompt='dog the'", 2, "no sentence begins with 'dog the'"},
    {"$L run decode.width model=small widths=4,0", 2, "widths"},
    {"$L run decode.width model=small prompt='dog the'", 2, "no sentence begins"},
    {"$L run text.batch block=zero", 2, "whole number"},
    {"$L run text.batch block=0", 2, "smallest allowed value, 1"},
    {"$L run text.batch pad=up", 2, "right, left"},
    {"$L run text.batch threads=0", 2, "threads"},
    {"$L run text.batch seed=-1", 2, "seed"},
    {"$L run text.batch file=nowhere", 2, "nowhere"},
    {"$L run text.batch file=nowhere --csv made", 2, "nowhere"},
    {"$L run text.batch block=0 --csv made", 2, "block"},
    {"$L run text.batch --csv made/deep", 2, "made/deep"},
    {"$L run text.batch --csv out", 2, "not a folder"},
    {"$L run text.batch --csv /proc/lantern", 2, "/proc/lantern"},
    {"$L run text.batch --csv - --table wast", 2, "batch, waste, about"},
    {"$L run text.batch --table waste", 2, "--csv -"},
    {"$L run text.batch --csv", 2, "--csv"},
    {"$L run text.batch --cvs -", 2, "--csv"},
    {"$L list --csv -", 2, "lantern run"},
    {"$L list more", 2, "more"},
    {"$L help text.batch more", 2, "more"},
    {"$L help text.bach", 2, "text.batch"},
    {"$L run arch.account card=lama3-8b", 2, "did you mean llama3-8b"},
    {"$L run arch.account heads=6 kv_heads=4 d=384", 2, "multiple of kv_heads"},
    {"$L run arch.account d=0", 2, "smallest allowed value, 1"},
    {"$L run arch.account tokens=nan", 2, "not a number"},
    {"$L run arch.account V=10000", 2, "unknown option 'V'"},
    {"printf 'model,vocab,context,d,layers,heads,d_ff\na,9,9,9,1,2,3\n' >c && $L run arch.cards file=c --csv made", 2,
     "'c' line 2: head_dim"},
    {"printf 'model,d\n' | $L run arch.cards file=-", 2, "'-' line 1: the column 'vocab' is missing"},
    {"$L run gqa.cost memory=80XB", 2, "GiB"},
    {"$L run kv.size cards=llama2-7b,llama9", 2, "llama9"},
    {"$L run arch.norm x=1,nan", 2, "'nan' is not a number"},
    {"$L run bpe.train corpus=nowhere", 2, "nowhere"},
    {"printf ' \n' >none && $L run bpe.train corpus=none", 2, "has no words"},
    {"$L run bpe.encode text=a file=b", 2, "not both"},
    {"$L run bpe.encode text=a vocab=nowhere", 2, "nowhere"},
    {"$L run bpe.encode text=a vocab=. merges=3", 2, "says nothing about vocab="},
    {"$L run bpe.encode text=a vocab=. corpus=farm", 2, "not vocab= and corpus="},
    {"$L run bpe.encode text=a vocab=.", 2, "encoder.json"},
    {"printf 'left,right\na,bc\n' >m && $L run bpe.encode text=a merges_file=m", 2, "row 1: 'bc'"},
    {"printf 'left\na\n' >m && $L run bpe.encode text=a merges_file=m", 2, "left and right"},
    {"printf 'rank,left,right\n2,a,b\n' >m && $L run bpe.encode text=a merges_file=m", 2, "row 1: '2'"},
    {"printf 'left,right,merged\na,b,ba\n' >m && $L run bpe.encode text=a merges_file=m", 2, "'ba'"},
    {"printf 'x' >t && $L run bpe.encode text=a tokenizer=t", 2, "'t' is too short"},
    {"printf '{\"model\":{\"type\":\"Unigram\"}}' >t && $L run bpe.encode text=a tokenizer=t", 2, "model 'Unigram'"},
    {"$L run bpe.decode ids=9999", 2, "ids are 0 to"},
    {"$L run bpe.morphs grammar=farm", 2, "heldout"},
    {"$L run text.units text=", 2, "empty"},
    {"$L run attn.causal T=0", 2, "smallest allowed value, 1"},
    {"$L run attn.scale dims=4,0", 2, "smallest allowed value, 1"},
    {"$L run gqa.equal kv_heads=3", 2, "heads (8) must be a multiple of kv_heads (3)"},
    {"$L run gqa.equal d=30", 2, "d (30) is not a multiple of heads (8)"},
    {"$L run pos.permute d=5", 2, "d (5) must be even"},
    {"$L run rope.cache model=gpt", 2, "learned positions"},
    {"$L run rope.cache model=small", 2, "pos=learned"},
    {"$L run rope.clock base=0", 2, "base: 0 is below"},
    {"$L run rope.clock base=nan", 2, "'nan' is not a number"},
    {"$L run rope.decay d=7", 2, "d (7) must be even"},
    {"$L run rope.matrix d=7 --csv made", 2, "d (7) must be even"},
    {"$L run rope.relative at=5:2,7", 2, "'7' is not query:key"},
    {"$L run rope.rotate x=1,2,3", 2, "3 numbers do not make pairs"},
    {"$L run window.mask w=3", 2, "3 is odd"},
    {"$L run window.mask w=4 window=3", 2, "not both: w=4 is window=3"},
    {"$L run window.mask window=0", 2, "smallest allowed value, 1"},
    {"$L run window.cost T=100000000", 2, "more than 2 GiB"},
    {"$L run window.reach layers=1000 window=1000", 2, "at most 1e+11"},
    {"$L run window.rolling position=relative", 2, "absolute, length"},
    {"$L run batch.loss groups=2", 2, "groups: '2'"},
    {"$L run batch.loss groups=2:1 model=small", 2, "not both"},
    {"$L run batch.loss model=nowhere", 2, "nowhere"},
    {"$L run batch.pad model=small to=3", 2, "to: the sentence has 8 tokens"},
    {"$L run batch.waste corpus=nowhere", 2, "nowhere"},
    {"$L run kv.exact model=small feeds=0", 2, "feeds: '0'"},
    {"$L run kv.flops tokens=0", 2, "tokens"},
    {"$L run kv.flops heads=3", 2, "head_dim is d / heads"},
    {"$L run kv.speed context=64 tokens=99", 2, "room for 64"},
    {"$L run kv.growth model=small steps=99", 2, "room for 64"},
    {"$L run lm.count corpus=nowhere", 2, "nowhere"},
    {"$L run lm.end longest=21", 2, "longest"},
    {"$L run model.trace model=small layer=9", 2, "layer: there is no 9"},
    {"mkdir -p full/config.json && $L run lm.train d=16 sentences=64 epochs=1 save=full/ >/dev/null", 1,
     "full/config.json"},
    {"$L run text.batch --csv - >/dev/full", 1, "cannot write 'standard output': No space"},
    {"$L run text.batch >/dev/full", 1, "cannot write 'standard output': No space"},
    {"$L list >/dev/full", 1, "cannot write 'standard output': No space"},
    {"$L --help >/dev/full", 1, "cannot write 'standard output': No space"},
    {"mkdir -p fullcsv && ln -s /dev/full fullcsv/text.batch.batch.csv && $L run text.batch --csv fullcsv", 1,
     "cannot write 'fullcsv/text.batch.batch.csv': No space"},
    {"$L run text.batch >&-", 1, "cannot write"},
    {"$L run text.batch block=8 pad=left block=8", 2, "block is given twice: 'block=8' and 'block=8'"},
    {"$L run text.batch --csv a --csv b", 2, "--csv is given twice: 'a' and 'b'"},
    {"$L seed=1 lr=0.1 seed=2", 2, "seed is given twice"},
    {"$L --theme dark --theme light", 2, "--theme is given twice"},
};

static void faults_have_one_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        Ran r = shell(faults[i].line);
        if (r.code != faults[i].code) fail_msg("%s: exit %d", faults[i].line, r.code);
        if (lines_in(r.err.s) != 1 || r.err.s[r.err.len - 1] != '\n') fail_msg("%s: says\n%s", faults[i].line, r.err.s);
        if (!strstr(r.err.s, faults[i].says)) fail_msg("%s: says %s", faults[i].line, r.err.s);
        assert_string_equal(r.out.s, "");
        assert_int_equal(files_in("made"), -1);
        ran_done(&r);
    }
}

/* ---- where tables go ---- */

static void a_folder_gets_every_table(void **state) {
    (void)state;
    Ran r = shell("$L run text.batch block=8 --csv tables && $L run text.batch block=8 --csv - >direct && "
                  "cmp direct tables/text.batch.batch.csv && "
                  "$L run text.batch block=8 --csv - --table about >direct && cmp direct tables/text.batch.about.csv");
    assert_int_equal(r.code, 0);
    assert_string_equal(r.out.s, "");
    assert_string_equal(r.err.s, "");
    assert_int_equal(files_in("tables"), 3);
    ran_done(&r);
}

/* A grammar of one's own, by its name alone, wherever something is trained on it. */
static void a_grammar_beside_us(void **state) {
    (void)state;
    Ran r = shell("printf 'tell: {s=n} a {$s} met {$s} .\\nn: bob | ann\\n' >my.grammar && "
                  "for e in 'lm.train epochs=1 d=16' lm.count lm.bigram bpe.train; do "
                  "$L run $e corpus=my.grammar sentences=20 || exit; done");
    if (r.code != 0) fail_msg("%s", r.err.s);
    ran_done(&r);
}

static void cards_come_from_a_pipe(void **state) {
    (void)state;
    Ran r = shell("printf 'model,vocab,context,d,layers,heads,d_ff\\nmine,9,9,8,2,4,3\\n' >c && "
                  "for e in 'arch.account card=mine T=1' arch.cards 'gqa.cost card=mine' 'mla.cost card=mine' "
                  "'kv.size cards=mine'; do $L run $e file=- <c || exit; done");
    assert_string_equal(r.err.s, "");
    assert_int_equal(r.code, 0);
    assert_non_null(strstr(r.out.s, "mine"));
    ran_done(&r);
}

/* A table that options ask for is no file without them. */
static void tables_on_request(void **state) {
    (void)state;
    Ran r = shell("$L run arch.account --csv four && $L run arch.account tokens=1e9 --csv five");
    assert_int_equal(r.code, 0);
    assert_int_equal(files_in("four"), 4);
    assert_int_equal(files_in("five"), 5);
    ran_done(&r);
    r = shell("$L run arch.account | grep -c training; $L run arch.account tokens=1e9 | grep -c '^training$'");
    assert_string_equal(r.out.s, "1\n1\n"); /* training_state alone; the table */
    ran_done(&r);
}

static void about_reproduces(void **state) {
    (void)state;
    Ran r = shell("printf 'a  b\\n' >\"it's \\$x\" && $L run text.batch file=\"it's \\$x\" seed=7 --csv first && "
                  "ln -sf \"$L\" lantern && PATH=.:$PATH && "
                  "c=$(sed -n 's/^command,//p' first/text.batch.about.csv) && eval \"$c --csv second\" && "
                  "diff -r first second");
    assert_string_equal(r.err.s, "");
    assert_int_equal(r.code, 0);
    ran_done(&r);
}

/* Where OpenBLAS cannot be opened, once, and only where it would have been used. */
static void slow_products_are_said(void **state) {
    (void)state;
    Ran r = shell("mkdir -p no && echo no >no/libopenblas.so.0 && cp no/libopenblas.so.0 no/libopenblas.so && "
                  "export LD_LIBRARY_PATH=no && $L run attn.step && $L run window.cost T=64 window=4 >costs");
    assert_int_equal(r.code, 0);
    const char *first = strstr(r.err.s, "lantern: note: OpenBLAS cannot be opened");
    assert_non_null(first);
    assert_int_equal(lines_in(r.err.s), 1);
    assert_non_null(strstr(first, "libopenblas0"));
    ran_done(&r);
}

/* An option that is not given says what it comes to, and no other says so. */
static void help_says_what_follows(void **state) {
    (void)state;
    Ran r = shell("$L run decode.beam --help | grep -c '= that of </s>'; $L run decode.beam --help | grep '^end ' | "
                  "grep -c '= that of </s>'");
    assert_string_equal(r.out.s, "1\n1\n");
    ran_done(&r);
}

static void the_locale_changes_nothing(void **state) {
    (void)state;
    Ran r = shell(
        "for l in C de_DE.UTF-8 zh_CN.UTF-8 nonsense; do LC_ALL=$l $L run text.batch --csv - --table waste; done");
    assert_int_equal(r.code, 0);
    const char *once = "block,sentences,cut_sentences,cut_tokens,pads,positions,pad_share\n10,8,3,4,7,80,0.0875\n";
    Str four;
    str_init(&four);
    for (int i = 0; i < 4; i++) str_add(&four, once);
    assert_string_equal(r.out.s, four.s);
    str_done(&four);
    ran_done(&r);
}

/* ---- pipes and signals ---- */

/* Starts the program with these streams; blanks separate the words of LINE. */
static pid_t start(int out, int err, const char *line) {
    pid_t child = fork();
    if (child != 0) return child;
    char buffer[200], *words[16];
    int n = 0;
    snprintf(buffer, sizeof buffer, "lantern %s", line);
    for (char *word = strtok(buffer, " "); word; word = strtok(NULL, " ")) words[n++] = word;
    words[n] = NULL;
    if (out >= 0) dup2(out, STDOUT_FILENO);
    if (err >= 0) dup2(err, STDERR_FILENO);
    signal(SIGPIPE, SIG_DFL);
    execv(LANTERN_PROGRAM, words);
    _exit(99);
}

static int wait_for(pid_t child) {
    int result;
    while (waitpid(child, &result, 0) < 0) {}
    return result;
}

static void nobody_reads(void **state) {
    (void)state;
    static const char *const lines[] = {"run text.batch --csv -", "run text.batch", "list"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int out[2], err[2];
        assert_int_equal(pipe(out), 0);
        assert_int_equal(pipe(err), 0);
        close(out[0]);
        fcntl(err[0], F_SETFD, FD_CLOEXEC);
        pid_t child = start(out[1], err[1], lines[i]);
        close(out[1]);
        close(err[1]);
        char said[200];
        assert_int_equal(read(err[0], said, sizeof said), 0); /* quiet */
        close(err[0]);
        int result = wait_for(child);
        assert_true(WIFEXITED(result));
        assert_int_equal(WEXITSTATUS(result), 1);
    }
}

/* Interrupts a training once it says how far it is: the rows so far are printed, and the code is that of the signal. */
static void expect_stop(int signal_number) {
    int out[2], err[2];
    assert_int_equal(pipe(out), 0);
    assert_int_equal(pipe(err), 0);
    fcntl(out[0], F_SETFD, FD_CLOEXEC);
    fcntl(err[0], F_SETFD, FD_CLOEXEC);
    pid_t child = start(out[1], err[1], "run lm.train epochs=1000 --csv - --progress");
    close(out[1]);
    close(err[1]);
    FILE *said = fdopen(err[0], "r"), *gave = fdopen(out[0], "r");
    char line[300] = "";
    while (!strstr(line, "step") && fgets(line, sizeof line, said)) {}
    assert_non_null(strstr(line, " of 313000, loss "));
    kill(child, signal_number);
    assert_non_null(fgets(line, sizeof line, gave));
    assert_string_equal(line, "step,tokens,loss,learning_rate,grad_norm,tokens_per_s\n");
    assert_non_null(fgets(line, sizeof line, gave));
    assert_int_equal(strncmp(line, "1,", 2), 0);
    while (fgets(line, sizeof line, gave)) {}
    assert_int_equal(line[strlen(line) - 1], '\n');
    fclose(said);
    fclose(gave);
    int result = wait_for(child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 128 + signal_number);
}

/* A corpus of so many sentences is sampled in one go that looks at nothing else: the program ends all the same. */
static void what_does_not_stop_is_left(void **state) {
    (void)state;
    int err[2];
    assert_int_equal(pipe(err), 0);
    fcntl(err[0], F_SETFD, FD_CLOEXEC);
    pid_t child = start(-1, err[1], "run lm.train sentences=90000000 --csv made --progress");
    close(err[1]);
    FILE *said = fdopen(err[0], "r");
    char line[300] = "";
    while (!strstr(line, "corpus") && fgets(line, sizeof line, said)) {}
    kill(child, SIGINT);
    while (fgets(line, sizeof line, said)) {}
    assert_string_equal(line, "lantern: cancelled\n");
    fclose(said);
    int result = wait_for(child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 130);
    assert_int_equal(files_in("made"), -1);
}

static void stopping_keeps_the_rows(void **state) {
    (void)state;
    expect_stop(SIGINT);
    expect_stop(SIGTERM);
}

/* ---- the screen ---- */

static void scripts_need_no_terminal(void **state) {
    (void)state;
    Ran r = shell("printf 'wait loaded\nexpect lantern\n' >good && $L --script good start=pause sentences=64");
    assert_int_equal(r.code, 0);
    assert_string_equal(r.out.s, "");
    ran_done(&r);
    r = shell("printf 'wait loaded\nexpect no such words\n' >bad && $L --script bad start=pause sentences=64");
    assert_int_equal(r.code, 1);
    assert_non_null(strstr(r.err.s, "bad:2"));
    ran_done(&r);
}

/* The screen goes away and the shell sees which signal it was. */
static void expect_ended_by(int signal_number, const char *option, bool mouse) {
    int terminal;
    pid_t child = forkpty(&terminal, NULL, NULL, &(struct winsize){.ws_row = 30, .ws_col = 100});
    if (child == 0) {
        setenv("TERM", "xterm-256color", 1);
        execl(LANTERN_PROGRAM, "lantern", "start=pause", "sentences=64", option, (char *)NULL);
        _exit(99);
    }
    char part[4096];
    Str shown;
    str_init(&shown);
    bool sent = false; /* once the screen stands */
    for (ssize_t n; (n = read(terminal, part, sizeof part)) > 0;) {
        str_add_n(&shown, part, (size_t)n);
        if (!sent && strstr(shown.s, "lantern")) sent = kill(child, signal_number) == 0;
    }
    int result = wait_for(child);
    close(terminal);
    assert_true(sent);
    assert_non_null(strstr(shown.s, "\033[?1049l"));
    assert_int_equal(strstr(shown.s, "\033[?1002h") != NULL, mouse);
    assert_true(WIFSIGNALED(result));
    assert_int_equal(WTERMSIG(result), signal_number);
    str_done(&shown);
}

static void signals_end_the_screen(void **state) {
    (void)state;
    expect_ended_by(SIGTERM, NULL, true);
    expect_ended_by(SIGINT, "--no-mouse", false);
    expect_ended_by(SIGHUP, "--ascii", true);
}

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    Ran r = shell("$L run lm.train d=16 sentences=64 epochs=1 save=small && "
                  "$L run lm.train arch=modern d=16 sentences=64 epochs=1 save=rotary");
    int code = r.code;
    ran_done(&r);
    return code;
}

static int remove_folder(void **state) {
    (void)state;
    char command[64];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_are_exact),           cmocka_unit_test(every_table_stands_here),
        cmocka_unit_test(list_names_every_experiment), cmocka_unit_test(help_goes_to_standard_output),
        cmocka_unit_test(faults_have_one_line),        cmocka_unit_test(a_folder_gets_every_table),
        cmocka_unit_test(a_grammar_beside_us),         cmocka_unit_test(cards_come_from_a_pipe),
        cmocka_unit_test(tables_on_request),           cmocka_unit_test(about_reproduces),
        cmocka_unit_test(slow_products_are_said),      cmocka_unit_test(help_says_what_follows),
        cmocka_unit_test(the_locale_changes_nothing),  cmocka_unit_test(nobody_reads),
        cmocka_unit_test(stopping_keeps_the_rows),     cmocka_unit_test(what_does_not_stop_is_left),
        cmocka_unit_test(scripts_need_no_terminal),    cmocka_unit_test(signals_end_the_screen),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
