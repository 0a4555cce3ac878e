#include "ticks.h"

#include <math.h>
#include <stdio.h>

static double nice_step(double least) {
    double power = pow(10, floor(log10(least)));
    double digit = least / power;
    return power * (digit <= 1.0001 ? 1 : digit <= 2.0001 ? 2 : digit <= 5.0001 ? 5 : 10);
}

static void label_format(Ticks *t, double step, double greatest) {
    t->scale = greatest >= 1e6 ? 1e-6 : greatest >= 1e5 ? 1e-3 : 1;
    t->suffix = greatest >= 1e6 ? "M" : greatest >= 1e5 ? "k" : "";
    int decimals = (int)ceil(-log10(step * t->scale) - 1e-9);
    t->decimals = decimals < 0 ? 0 : decimals > 5 ? -1 : decimals;
}

static Ticks ticks_from(double low, double high, int most, double least_step) {
    Ticks t = {.suffix = "", .scale = 1};
    if (most > TICKS_MOST) most = TICKS_MOST;
    if (!(high > low) || most < 1) return t;
    double step = fmax(nice_step((high - low) / most), least_step);
    for (double k = ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && t.count < TICKS_MOST; k++)
        t.at[t.count++] = k * step;
    label_format(&t, step, fmax(fabs(low), fabs(high)));
    return t;
}

double ticks_top(double low, double high, int most) {
    if (!(high > low) || !isfinite(high - low) || most < 1) return high;
    double step = nice_step((high - low) / most);
    return step * ceil(high / step - 1e-9);
}

Ticks ticks_linear(double low, double high, int most) {
    return ticks_from(low, high, most, 0);
}

Ticks ticks_whole(double low, double high, int most) {
    return ticks_from(low, high, most, 1);
}

/* Within a decade: round numbers at even distances. They crowd at the upper end, so there are fewer. */
static Ticks ticks_short_log(double low, double high, int most) {
    Ticks t = ticks_linear(pow(10, low), pow(10, high), most * 2 / 3 > 1 ? most * 2 / 3 : 1);
    for (int i = 0; i < t.count; i++) t.at[i] = log10(t.at[i]);
    return t;
}

Ticks ticks_log(double low, double high, int most) {
    static const double digits[] = {1, 2, 5};
    Ticks t = {.suffix = "", .scale = 1, .decimals = -1};
    if (high - low < 1) return ticks_short_log(low, high, most);
    int per_decade = high - low > 0.5 * most ? 1 : 3;
    int every = per_decade == 1 ? (int)ceil((high - low) / (most > 0 ? most : 1)) : 1;
    for (int k = (int)floor(low); k <= (int)ceil(high); k++) {
        if (k % (every > 0 ? every : 1) != 0) continue;
        for (int d = 0; d < per_decade; d++) {
            double at = k + log10(digits[d]);
            if (at >= low - 1e-9 && at <= high + 1e-9 && t.count < TICKS_MOST) t.at[t.count++] = at;
        }
    }
    return t;
}

void ticks_label(const Ticks *t, double value, char *out, size_t bytes) {
    value *= t->scale;
    if (value == 0) value = 0; /* no minus */
    if (value == 0 && t->suffix[0] != '\0')
        snprintf(out, bytes, "0");
    else if (t->decimals < 0)
        snprintf(out, bytes, "%.6g%s", value, t->suffix);
    else
        snprintf(out, bytes, "%.*f%s", t->decimals, value, t->suffix);
}
