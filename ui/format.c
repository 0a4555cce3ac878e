#include "format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static Text dash(void) {
    return (Text){"\xe2\x80\x93"};
} /* an en dash */

Text format_count(long long n) {
    char digits[FORMAT_BYTES];
    Text t;
    int length = snprintf(digits, sizeof digits, "%lld", n);
    int at = 0;
    for (int i = 0; i < length; i++) {
        int left = length - i;
        if (i > 0 && left % 3 == 0 && digits[i - 1] != '-') t.s[at++] = ',';
        t.s[at++] = digits[i];
    }
    t.s[at] = '\0';
    return t;
}

Text format_fixed(double x, int decimals) {
    if (isnan(x)) return dash();
    if (isinf(x)) return x > 0 ? (Text){"\xe2\x88\x9e"} : (Text){"\xe2\x88\x92\xe2\x88\x9e"};
    Text t;
    snprintf(t.s, sizeof t.s, fabs(x) < 1e12 ? "%.*f" : "%.*e", decimals, x);
    return t;
}

Text format_short(double x) {
    if (!isfinite(x)) return format_fixed(x, 0);
    static const char suffix[] = {'\0', 'k', 'M', 'G', 'T'};
    int i = 0;
    while (fabs(x) >= 999.5 && i < 4) x /= 1000, i++;
    Text t;
    snprintf(t.s, sizeof t.s, fabs(x) < 9.95 && i > 0 ? "%.1f%c" : "%.0f%c", x, suffix[i]);
    return t;
}

Text format_small(double x) {
    if (!isfinite(x)) return format_fixed(x, 0);
    if (x == 0) return (Text){"0"};
    Text t;
    snprintf(t.s, sizeof t.s, fabs(x) < 1e-3 || fabs(x) >= 1e4 ? "%.1e" : "%.4f", x);
    char *e = strchr(t.s, 'e');
    if (!e) return t;
    int exponent = 0;
    sscanf(e + 1, "%d", &exponent);
    snprintf(e, sizeof t.s - (size_t)(e - t.s), "e%d", exponent);
    return t;
}

Text format_bytes(double bytes) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    if (!isfinite(bytes)) return format_fixed(bytes, 0);
    Text t;
    if (bytes < 9999.5) {
        snprintf(t.s, sizeof t.s, "%.20s B", format_count((long long)round(bytes)).s);
        return t;
    }
    int i = 0;
    while (bytes >= 999.5 && i < 5) bytes /= 1024, i++;
    snprintf(t.s, sizeof t.s, bytes < 9.995 ? "%.2f %s" : bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, unit[i]);
    return t;
}

Text format_figures(double x) {
    if (!isfinite(x)) return format_fixed(x, 0);
    Text t;
    snprintf(t.s, sizeof t.s, "%.4g", x);
    return t;
}

Text format_probability(double p) {
    if (p == 0) return (Text){"0"};
    return p > 0 && p < 0.00005 ? format_small(p) : format_fixed(p, 4);
}

Text format_percent(double share, int decimals) {
    if (!isfinite(share)) return format_fixed(share, 0);
    Text t;
    snprintf(t.s, sizeof t.s, "%+.*f %%", decimals, 100 * share);
    return t;
}
