/* observe: what can be seen of a model on the sentence that is looked at: a row each in observers.def. An observer
 * turns the probe (a tape of its own, parameters untouched, a random stream of its own) into fields and tables of a
 * snapshot.
 *
 * What each adds (indices from 0; names of fields and tables are what panes and exports read):
 *   tokens     table tokens: position,token,id,source (prompt|generated)
 *   curve      table curve: step,tokens,loss,learning_rate,grad_norm,tokens_per_s (a row per step, up to the head)
 *              table test: step,tokens,nll,perplexity,floor_perplexity
 *   model      table model: part,parameters
 *   attention  fields attention.{l}.scores .scaled .softcapped (when on) .masked .weights [H T T]
 *              fields attention.{l}.query [H T hd] .key .value [Hkv T hd] (q and k after RoPE) .mix [H T hd]
 *              fields attention.{l}.query_before .key_before: before RoPE, when the model has it
 *              of long texts the stages are made when they are asked for, and there are fields attention.{l}.blocks
 *              [H 64 64]: the largest weight of each block, -1 where all of it is hidden
 *              field attention.head_off [L H]: 1 where a head is switched off; and the table tokens
 *              field attention.softcap [1]: the cap of the scores, when it is on
 *   rope       what positions do: see observe_rope.h
 *   step       a training step from inside: see observe_step.h
 *   next       table next: token,id,logit,model_p,true_p (after the last visible token, by falling logit; true_p
 *              empty without a grammar and after an impossible prefix)
 *   path       tables path: step,token,id,p,log_p,true_p and sentence: of,text,log_p,true_log_p (greedy continuation of
 *              what is visible; of = model, and truth when the grammar is known; log_p counts the tokens added, END
 *              included)
 *   filter     the sampling pipeline after the last visible token: table filter: stage,index,value,kept (of a large
 *              vocabulary the likeliest; index -1 stands for all others, kept says how many), table draws:
 *              number,id,token (the first draw is the one that decoding takes there)
 *   beam       the search from what is visible of the prompt: table beam (one row): width,length_norm,of,tokens,
 *              prompt_tokens,since_step,before,compared_step (every look from since_step on has found the same best
 *              sentence, and the one before it BEFORE; nodes are new against the tree of compared_step); tables tree,
 *              best and stop as in decode.beam; beam_marks: node,greedy,samples,new (a row per node of the tree: it
 *              lies on the greedy path; so many samples pass it, empty without samples; it was not taken in the tree
 *              compared with); beam_rivals: of,text,log_p,score,true_log_p (beam: the best, greedy, mode: the
 *              language's likeliest). log_p is by whoever OF names. Where nothing can be searched only the row is
 *              there
 *   beam_samples  on that tree, a table of that name: sample,text,log_p,true_log_p,ended,node,depth (node: the last of
 *              the tree that it passes)
 *   mask       fields mask.{l} [T T]: 1 where a query (row) may look at a key; mask.{l}.chunks [T T]: 1 where the
 *              sliding chunks of window_kernel work a score out
 *              fields mask.{l}.packed and mask.{l}.padded [R R], the same of a batch in which other sentences stand
 *              behind this one, and of one that is filled up with pads; tables packed and padded:
 *              row,sentence,position,token,pad name their rows
 *              table scores: layer,window,full,causal,allowed,masked,loop,chunks (window 0: none; how many scores of
 *              one head each makes)
 *              field poke.change [L T]: the largest change of a layer's states when one word is another; table poke:
 *              position,token,other; table reach: layer,window,farthest_measured,farthest_formula (in positions after
 *              the changed one; the formula adds up window - 1, and is empty from the first layer without a window
 *              on); all missing while there is no word to change
 *   cache      fields cache.{l}.keys and cache.{l}.values [Hkv slots hd]: what a decoder holds after the visible tokens
 *              (keys after RoPE), slot by slot
 *              table cache_slots: slot,position,token,phase (prefill|decode)
 *              table cache_layers: layer,window,slots (window 0: none; slots: how many the decoder keeps at most, 0:
 *              as many as there are tokens)
 *              table cache_steps: step,phase,tokens,cached,bytes,without,with (step 0 feeds the prompt; the last two
 *              in FLOPs, of that step alone)
 *              table cache_check: position,token,max_difference,same_token (cached against the whole pass)
 *              table cache_sizes: model,scheme,own,kv_heads,layers,head_dim,window,tokens,value_bytes,bytes_per_token,
 *              bytes,rolling_bytes,weights_bytes (scheme mha|gqa|mqa|mla; own 1: as the model is; the run's model, "",
 *              with the tokens that are there; real models with 8,192 and 131,072; a rolling cache lets a layer with a
 *              window keep that much; weights_bytes is empty where it is not known)
 *   bpe        of the sub-words that are learnt beside the run, as after the last finished merge: table bpe (one row):
 *              corpus,unit,lowercase,words,distinct,merges,vocabulary,units,tokens,ties,running,rate,text,text_units
 *              (ties: pairs as frequent as the next; text_units: the text to be cut, in units); tables merges and
 *              words as bpe.train has them (the most frequent words only); pairs:
 *              place,left,right,merged,count,tied,left_hex,right_hex in the order in which they would be taken;
 *              growth: merges,vocabulary,tokens_per_word; encoded and steps: the text cut, as tokens and steps of
 *              bpe.encode. All missing until it is asked for
 */
#ifndef LAB_OBSERVE_H
#define LAB_OBSERVE_H

#include "snapshot.h"

/* Tables made from a snapshot's fields: the one source of the pane's export and of the experiment's CSV. NULL: the
 * fields are not there. LAYER and HEAD -1: all. attention:
 * layer,head,query,key,query_token,key_token,score,scaled,softcapped,masked,weight; vectors:
 * layer,head,position,which,index,value. */
extern const Column observe_attention_columns[], observe_vectors_columns[];
extern const Column observe_next_columns[]; /* of the table next */
int observe_layers(const Snapshot *s);      /* of which attention is there; 0: of none */
Table *observe_attention_table(const Snapshot *s, int layer, int head);
Table *observe_vectors_table(const Snapshot *s, int layer, int head);
/* What one head puts out, the weights times the values: layer,head,position,index,value. */
Table *observe_mix_table(const Snapshot *s, int layer, int head);

/* layer,query,key,query_token,key_token,allowed,chunks of view "", "packed" or "padded"; chunks is empty but in "". */
Table *observe_mask_table(const Snapshot *s, int layer, const char *view);
/* layer,head,which,slot,position,token,phase,index,value: the cells of the cache; head is a KV head. */
extern const Column observe_cache_columns[];
Table *observe_cache_table(const Snapshot *s, int layer, int head);

/* layer,position,token,change; LAYER -1: all. */
Table *observe_poke_table(const Snapshot *s, int layer);

#endif
