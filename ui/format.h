/* format: numbers as a person reads them. Always '.' for the decimal point; a number that does not exist (NaN) is a
 * dash. */
#ifndef UI_FORMAT_H
#define UI_FORMAT_H

#include <stddef.h>

#define FORMAT_BYTES 32

typedef struct {
    char s[FORMAT_BYTES];
} Text;

Text format_count(long long n);                  /* 99,648 */
Text format_fixed(double x, int decimals);       /* 0.9302; inf, -inf as signs */
Text format_short(double x);                     /* 251k, 3.5M: three digits or so */
Text format_small(double x);                     /* 2e-8, 0.0012: two digits and a magnitude */
Text format_bytes(double bytes);                 /* 3,072 B; 512 KiB, 2.25 GiB: powers of 1,024 */
Text format_figures(double x);                   /* four significant digits: 56, 0.6652, 1.234e+09 */
Text format_probability(double p);               /* 0.2121; 3e-6 where that would be 0.0000; 0 is impossible */
Text format_percent(double share, int decimals); /* +1.6 % of .016, always signed */

#endif
