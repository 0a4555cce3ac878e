#include "ascii.h"

#include "utf8.h"

#include <ctype.h>
#include <string.h>

#define SQUARE_ROOT 0x221Au

typedef struct {
    uint32_t first, last;
    const char *cell, *words; /* words NULL: the cell says it */
} Substitute;

/* By code point; the ranges do not meet. */
static const Substitute substitutes[] = {
    {0x00A0, 0x00A0, " ", NULL},    {0x00B0, 0x00B0, "o", "deg"},    {0x00B1, 0x00B1, "~", "+-"},
    {0x00B2, 0x00B2, "2", "^2"},    {0x00B3, 0x00B3, "3", "^3"},     {0x00B5, 0x00B5, "u", NULL},
    {0x00B7, 0x00B7, ".", NULL},    {0x00D7, 0x00D7, "x", NULL},     {0x00F7, 0x00F7, "/", NULL},
    {0x0393, 0x0393, "G", "Gamma"}, {0x0394, 0x0394, "D", "delta"},  {0x03A3, 0x03A3, "S", "sum"},
    {0x03B1, 0x03B1, "a", "alpha"}, {0x03B2, 0x03B2, "b", "beta"},   {0x03B3, 0x03B3, "g", "gamma"},
    {0x03B4, 0x03B4, "d", "delta"}, {0x03B5, 0x03B5, "e", "eps"},    {0x03B7, 0x03B7, "n", "eta"},
    {0x03B8, 0x03B8, "o", "theta"}, {0x03BB, 0x03BB, "l", "lambda"}, {0x03BC, 0x03BC, "u", "mu"},
    {0x03C0, 0x03C0, "p", "pi"},    {0x03C1, 0x03C1, "p", "rho"},    {0x03C3, 0x03C3, "s", "sigma"},
    {0x03C4, 0x03C4, "t", "tau"},   {0x03C6, 0x03C6, "f", "phi"},    {0x03C9, 0x03C9, "w", "omega"},
    {0x1D62, 0x1D62, "i", NULL},    {0x2010, 0x2015, "-", NULL},     {0x2016, 0x2016, "|", "||"},
    {0x2018, 0x2019, "'", NULL},    {0x201C, 0x201D, "\"", NULL},    {0x2022, 0x2022, "*", NULL},
    {0x2026, 0x2026, "~", "..."},   {0x2044, 0x2044, "/", NULL},     {0x207B, 0x207B, "-", "^-"},
    {0x2080, 0x2080, "0", NULL},    {0x2081, 0x2081, "1", NULL},     {0x2082, 0x2082, "2", NULL},
    {0x2099, 0x2099, "n", NULL},    {0x2190, 0x2190, "<", "<-"},     {0x2191, 0x2191, "^", NULL},
    {0x2192, 0x2192, ">", "->"},    {0x2193, 0x2193, "v", NULL},     {0x21D2, 0x21D2, ">", "=>"},
    {0x2202, 0x2202, "d", NULL},    {0x2205, 0x2205, "o", NULL},     {0x2207, 0x2207, "V", "grad"},
    {0x2208, 0x2208, "e", "in"},    {0x220F, 0x220F, "P", "prod"},   {0x2211, 0x2211, "S", "sum"},
    {0x2212, 0x2212, "-", NULL},    {0x221E, 0x221E, "8", "inf"},    {0x2225, 0x2225, "|", "||"},
    {0x2248, 0x2248, "~", "~="},    {0x2260, 0x2260, "!", "!="},     {0x2261, 0x2261, "=", NULL},
    {0x2264, 0x2264, "<", "<="},    {0x2265, 0x2265, ">", ">="},     {0x22C5, 0x22C5, ".", NULL},
    {0x22EF, 0x22EF, "~", "..."},   {0x23CE, 0x23CE, "$", NULL},     {0x23F8, 0x23F8, "|", NULL},
    {0x2400, 0x2400, "0", NULL},    {0x2420, 0x2420, "_", NULL},     {0x2421, 0x2421, "?", NULL},
    {0x2423, 0x2423, "_", NULL},    {0x2424, 0x2424, "$", NULL},     {0x2500, 0x2501, "-", NULL},
    {0x2502, 0x2503, "|", NULL},    {0x2504, 0x2505, "-", NULL},     {0x2506, 0x2507, "|", NULL},
    {0x2508, 0x2509, "-", NULL},    {0x250A, 0x250B, "|", NULL},     {0x250C, 0x254B, "+", NULL},
    {0x254C, 0x254D, "-", NULL},    {0x254E, 0x254F, "|", NULL},     {0x2550, 0x2550, "=", NULL},
    {0x2551, 0x2551, "|", NULL},    {0x2552, 0x2570, "+", NULL},     {0x2571, 0x2571, "/", NULL},
    {0x2572, 0x2572, "\\", NULL},   {0x2573, 0x2573, "x", NULL},     {0x2574, 0x2574, "-", NULL},
    {0x2575, 0x2575, "|", NULL},    {0x2576, 0x2576, "-", NULL},     {0x2577, 0x2577, "|", NULL},
    {0x2578, 0x2578, "=", NULL},    {0x2579, 0x2579, "|", NULL},     {0x257A, 0x257A, "-", NULL},
    {0x257B, 0x257F, "|", NULL},    {0x2580, 0x2580, "\"", NULL},    {0x2581, 0x2582, "_", NULL},
    {0x2583, 0x2584, "_", NULL},    {0x2585, 0x2586, "=", NULL},     {0x2587, 0x258B, "#", NULL},
    {0x258C, 0x258F, "|", NULL},    {0x2590, 0x2590, "|", NULL},     {0x2591, 0x2591, ".", NULL},
    {0x2592, 0x2592, ":", NULL},    {0x2593, 0x2593, "%", NULL},     {0x2594, 0x2594, "\"", NULL},
    {0x2595, 0x2595, "|", NULL},    {0x2596, 0x259F, "#", NULL},     {0x25A0, 0x25A0, "#", NULL},
    {0x25A1, 0x25A1, "o", NULL},    {0x25A4, 0x25A4, "=", NULL},     {0x25B2, 0x25B5, "^", NULL},
    {0x25B6, 0x25BB, ">", NULL},    {0x25BC, 0x25BF, "v", NULL},     {0x25C0, 0x25C5, "<", NULL},
    {0x25C6, 0x25C6, "*", NULL},    {0x25C7, 0x25CC, "o", NULL},     {0x25CF, 0x25CF, "*", NULL},
    {0x25E6, 0x25E6, "o", NULL},    {0x2605, 0x2605, "*", NULL},     {0x26A0, 0x26A0, "!", NULL},
    {0x2702, 0x2702, "x", NULL},    {0x2713, 0x2714, "v", NULL},     {0x2717, 0x2718, "x", NULL},
    {0x2800, 0x2800, " ", NULL},    {0x2801, 0x28FF, "*", NULL},     {0x2C7C, 0x2C7C, "j", NULL},
    {0xFFFD, 0xFFFD, "?", NULL},
};

static const Substitute *find(uint32_t ch) {
    size_t low = 0, high = sizeof substitutes / sizeof *substitutes;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const Substitute *s = &substitutes[middle];
        if (ch >= s->first && ch <= s->last) return s;
        if (ch < s->first)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

uint32_t ascii_cell(uint32_t ch) {
    if (ch < 0x7F) return ch;
    const Substitute *s = find(ch);
    if (s != NULL) return (uint32_t)(unsigned char)s->cell[0];
    return ch == SQUARE_ROOT ? 'V' : '?';
}

/* "sqrt(16)": what is under the root is the number or name that follows. */
static size_t add_root(const char *text, Str *out) {
    size_t n = 0;
    while (isalnum((unsigned char)text[n]) || text[n] == '_') n++;
    str_add(out, n > 0 ? "sqrt(" : "sqrt ");
    str_add_n(out, text, n);
    if (n > 0) str_add_char(out, ')');
    return n;
}

void ascii_words(const char *text, Str *out) {
    for (size_t left = strlen(text); left > 0;) {
        uint32_t ch = 0;
        int bytes = utf8_decode(text, left, &ch);
        if (bytes == 0) bytes = 1;
        size_t taken = (size_t)bytes;
        const Substitute *s = bytes > 1 ? find(ch) : NULL;
        if (bytes > 1 && ch == SQUARE_ROOT)
            taken += add_root(text + bytes, out);
        else if (s != NULL && s->words != NULL)
            str_add(out, s->words);
        else
            str_add_n(out, text, taken);
        text += taken;
        left -= taken;
    }
}
