/* rope_scaling: how RoPE's angles are slowed down in a model that reads longer texts than it was trained on at first.
 * linear divides every speed by a factor (position interpolation, Chen et al. 2023). llama3 (Llama 3.1, 2024) divides
 * those of slow pairs only: a pair that turns fewer than LOW times in ORIGINAL tokens is slowed by the whole factor,
 * one that turns more than HIGH times not at all, and between the two the share that is slowed falls evenly with the
 * number of turns. As text: "none", "linear:FACTOR", "llama3:FACTOR:LOW:HIGH:ORIGINAL". */
#ifndef MODEL_ROPE_SCALING_H
#define MODEL_ROPE_SCALING_H

#include "status.h"
#include "str.h"

#include <stdbool.h>

typedef enum { SCALING_NONE, SCALING_LINEAR, SCALING_LLAMA3 } ScalingKind;

typedef struct {
    ScalingKind kind;
    double factor;    /* above 0; like all of them at most 1e12 */
    double low, high; /* of llama3: turns, 0 < low < high */
    double original;  /* of llama3: tokens, above 0 */
} RopeScaling;

extern const RopeScaling rope_unscaled; /* SCALING_NONE */
/* Says which number makes no sense; *s may have come from a file. */
Status rope_scaling_check(const RopeScaling *s) STATUS_CHECKED;
Status rope_scaling_parse(const char *text, RopeScaling *out) STATUS_CHECKED;
void rope_scaling_text(const RopeScaling *s, Str *out);
bool rope_scaling_same(const RopeScaling *a, const RopeScaling *b);
/* base^(-2 pair / size) radians a token, slowed as S says. */
double rope_speed(double base, int size, int pair, const RopeScaling *s);

#endif
