/* fpformat: what short floating-point formats keep of a number: IEEE half (fp16), bfloat16 (bf16), IEEE single (fp32).
 *
 * Numbers are rounded to the nearest, ties to even, as the standard and the hardware do it: the bits are those of a
 * machine that computes in the format. Subnormal numbers are kept; what is too large becomes infinite. */
#ifndef BASE_FPFORMAT_H
#define BASE_FPFORMAT_H

#include <stdint.h>

typedef enum { FP16, BF16, FP32 } FpFormat;

const char *fpformat_name(FpFormat f); /* "fp16" */
double fpformat_round(FpFormat f, double x);
/* From |x| (rounded) to the next larger number of the format. NaN when x is none of its finite numbers. */
double fpformat_spacing(FpFormat f, double x);
double fpformat_largest(FpFormat f); /* finite: 65504 in fp16 */

/* The 16 bits of a number in fp16 or bf16, and back. NaN becomes the quiet one without payload. */
uint16_t fpformat_bits(FpFormat f, double x);
double fpformat_from_bits(FpFormat f, uint16_t bits);

#endif
