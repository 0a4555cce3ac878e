/* fixture: snapshots made by hand, of a run that could have been: the numbers are invented, fixed, and the same on
 * every machine, so golden screens can rest on them. Attention is computed here from invented q and k, stage by stage
 * in float. */
#ifndef TESTS_FIXTURE_H
#define TESTS_FIXTURE_H

#include "snapshot.h"

typedef struct {
    int layers, heads, kv_heads, head_dim;
    int tokens, prompt_tokens, position; /* there, of the prompt, visible */
    int window;                          /* 0: none */
    int global_every;                    /* every n-th layer is without; 0: none. Only in what the mask pane reads */
    int probe_window;                    /* -1: the model's own */
    double softcap;                      /* 0: off */
    const char *pos;                     /* rope (adjacent pairs, base 10000), learned, sinusoid, none */
    int head_off;                        /* layer * heads + head + 1 of the head that is switched off; 0: none */
    long step, head, steps;
    bool truth;        /* a grammar is known */
    bool letters;      /* every token is A */
    bool reads_only;   /* somebody else's model, with its own tokenizer */
    bool no_curve;     /* the model came from a file */
    bool length_norm;  /* of the beam */
    bool samples, sampled; /* sentences are being drawn; all were */
    bool pieces;       /* the path's text is that of a tokenizer of others: tokens do not stand apart in it */
    char versus;       /* a run beside it: 'A' or 'B' is looked at */
    const char *rival; /* what B is called; NULL: "window=4 softcap=20" */
    bool untested, whole_test; /* no test was made yet; the last one was of all sentences */
    bool changed;      /* its options were set on the way */
    RunState state;
    bool decode_running;
    const char *tamper, *message;
    int message_level;
    long message_number;
} FixtureSpec;

/* 2 layers x 4 heads, "<s> the dogs near the cat", step 1240 of 1565, paused. */
FixtureSpec fixture_spec(void);
Snapshot *fixture_snapshot(const FixtureSpec *spec);
void fixture_add_mask(Snapshot *s, const FixtureSpec *spec); /* what the mask pane reads; part of fixture_snapshot */
void fixture_add_beam(Snapshot *s, const FixtureSpec *spec); /* what the beam pane reads; part of fixture_snapshot */
void fixture_add_bpe(Snapshot *s, const FixtureSpec *spec);  /* what the bpe pane reads; part of it too */
const char *fixture_word(int i);                             /* of the words that the tokens are made of */
double fixture_noise(unsigned a, unsigned b); /* a number in -1 .. 1 for each pair, by integer arithmetic alone */
Snapshot *fixture_plain(void);                /* of fixture_spec */
Snapshot *fixture_empty(void);                /* being loaded: facts only */

#endif
