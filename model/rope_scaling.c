#include "rope_scaling.h"

#include "intl.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 4 }; /* factor, low, high, original */
#define TWO_PI 6.28318530717958647692
#define MOST   1e12

static const char *const kind_names[] = {
    [SCALING_NONE] = "none", [SCALING_LINEAR] = "linear", [SCALING_LLAMA3] = "llama3"};
static const int kind_numbers[] = {[SCALING_NONE] = 0, [SCALING_LINEAR] = 1, [SCALING_LLAMA3] = NUMBERS};
enum { KINDS = (int)(sizeof kind_names / sizeof *kind_names) };

const RopeScaling rope_unscaled = {.kind = SCALING_NONE};

static bool is_size(double x) {
    return x > 0 && x <= MOST;
}

Status rope_scaling_check(const RopeScaling *s) {
    if (s->kind == SCALING_NONE) return status_ok();
    if ((int)s->kind < 0 || (int)s->kind >= KINDS)
        return status_usage(_("%s has the unknown number %d"), "rope_scaling", (int)s->kind);
    if (!is_size(s->factor))
        return status_usage(_("rope_scaling: the factor is %g; it must be above 0 and at most %g"), s->factor, MOST);
    if (s->kind == SCALING_LINEAR) return status_ok();
    if (!is_size(s->low) || !is_size(s->high) || s->low >= s->high)
        return status_usage(
            _("rope_scaling: the low frequency factor (%g) must be above 0 and below the high one (%g), "
              "which is at most %g"),
            s->low, s->high, MOST);
    if (!is_size(s->original))
        return status_usage(_("rope_scaling: the original context is %g; it must be above 0 and at most %g"),
                            s->original, MOST);
    return status_ok();
}

static Status refuse(const char *text) {
    return status_usage(_("rope_scaling must be none, linear:FACTOR or llama3:FACTOR:LOW:HIGH:ORIGINAL, not \"%s\""),
                        text);
}

/* The numbers behind the kind's name, each with a colon before it; *n how many. */
static bool parse_numbers(const char *rest, double *x, int *n) {
    for (*n = 0; *rest; ++*n) {
        char number[40];
        size_t length = strcspn(rest + 1, ":");
        if (*rest != ':' || *n == NUMBERS || length >= sizeof number) return false;
        memcpy(number, rest + 1, length);
        number[length] = '\0';
        if (!str_to_double(number, &x[*n])) return false;
        rest += 1 + length;
    }
    return true;
}

Status rope_scaling_parse(const char *text, RopeScaling *out) {
    size_t length = strcspn(text, ":");
    double x[NUMBERS] = {0};
    int n = 0, kind = 0;
    *out = (RopeScaling){0};
    while (kind < KINDS && (strlen(kind_names[kind]) != length || strncmp(text, kind_names[kind], length) != 0)) kind++;
    if (kind == KINDS || !parse_numbers(text + length, x, &n) || n != kind_numbers[kind]) return refuse(text);
    *out = (RopeScaling){(ScalingKind)kind, x[0], x[1], x[2], x[3]};
    return rope_scaling_check(out);
}

void rope_scaling_text(const RopeScaling *s, Str *out) {
    const double x[NUMBERS] = {s->factor, s->low, s->high, s->original};
    str_add(out, kind_names[s->kind]);
    for (int i = 0; i < kind_numbers[s->kind]; i++) {
        str_add_char(out, ':');
        str_add_double(out, x[i]);
    }
}

bool rope_scaling_same(const RopeScaling *a, const RopeScaling *b) {
    const double x[] = {a->factor, a->low, a->high, a->original}, y[] = {b->factor, b->low, b->high, b->original};
    bool same = a->kind == b->kind;
    for (int i = 0; same && i < kind_numbers[a->kind]; i++) same = !(x[i] < y[i]) && !(x[i] > y[i]);
    return same;
}

/* Speed by turns in the original context. */
static double slowed(double speed, const RopeScaling *s) {
    double turns = s->original * speed / TWO_PI;
    if (turns <= s->low) return speed / s->factor;
    if (turns >= s->high) return speed;
    double kept = (turns - s->low) / (s->high - s->low);
    return kept * speed + (1 - kept) * speed / s->factor;
}

double rope_speed(double base, int size, int pair, const RopeScaling *s) {
    double speed = pow(base, -2.0 * pair / size);
    if (s->kind == SCALING_LINEAR) return speed / s->factor;
    return s->kind == SCALING_LLAMA3 ? slowed(speed, s) : speed;
}
