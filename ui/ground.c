#include "ground.h"

#include "str.h"

#include <string.h>

#define DIGITS_MOST 4
#define PARTS_MOST  4 /* red, green, blue, and alpha after "rgba:" */

static int digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The parts of "R/G/B", each 0..255 of one to four hexadecimal digits. */
typedef struct {
    int part[PARTS_MOST], count;
} Colour;

/* False: no colour, and not the beginning of one. */
static bool read_colour(const char *s, int n, int parts, Colour *out) {
    int value = 0, digits = 0;
    *out = (Colour){.count = 0};
    for (int i = 0; i <= n; i++) {
        if (i == n || s[i] == '/') {
            if (digits == 0) return i == n; /* the next part is still to come */
            out->part[out->count++] = value * 255 / ((1 << 4 * digits) - 1);
            if (i < n && out->count == parts) return false;
            value = digits = 0;
        } else if (digit_value(s[i]) >= 0 && digits < DIGITS_MOST) {
            value = value * 16 + digit_value(s[i]);
            digits++;
        } else {
            return false;
        }
    }
    return true;
}

static GroundMatch match_form(const char *bytes, int n, const char *form, int parts, Colour *out) {
    int length = (int)strlen(form);
    if (n <= length) return strncmp(bytes, form, (size_t)n) == 0 ? GROUND_PART : GROUND_OTHER;
    if (strncmp(bytes, form, (size_t)length) != 0 || !read_colour(bytes + length, n - length, parts, out))
        return GROUND_OTHER;
    return out->count == parts ? GROUND_WHOLE : GROUND_PART;
}

static GroundMatch match(const char *bytes, int n, Colour *out) {
    GroundMatch plain = match_form(bytes, n, "11;rgb:", 3, out);
    return plain != GROUND_OTHER ? plain : match_form(bytes, n, "11;rgba:", 4, out);
}

GroundMatch ground_match(const char *bytes, int n) {
    Colour colour;
    return match(bytes, n, &colour);
}

int32_t ground_colour(const char *bytes, int n) {
    Colour colour;
    if (match(bytes, n, &colour) != GROUND_WHOLE) return 0;
    return colour.part[0] << 16 | colour.part[1] << 8 | colour.part[2];
}

ThemeName ground_theme(int32_t rgb) {
    return style_luminance(0x1000000 | rgb) > 0.18 ? THEME_LIGHT : THEME_DARK; /* half way in lightness (L* 50) */
}

/* Of the sixteen, the greys and the bright ones are light, but not the dark grey, 8. */
bool ground_hint(const char *colorfgbg, ThemeName *out) {
    const char *last = colorfgbg == NULL ? NULL : strrchr(colorfgbg, ';');
    long long index;
    if (last == NULL || !str_to_long(last + 1, &index) || index < 0 || index > 15) return false;
    *out = index == 7 || index > 8 ? THEME_LIGHT : THEME_DARK;
    return true;
}
