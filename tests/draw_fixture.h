/* What the tests of shapes share: two curves to plot, and how a shape must look (golden/draw-*.txt, UPDATE=1). */
#ifndef TESTS_DRAW_FIXTURE_H
#define TESTS_DRAW_FIXTURE_H

#include "expect.h"

#include "draw.h"
#include "golden.h"

#include <math.h>
#include <stdio.h>

#define NONE ((double)NAN) /* no value */

#define POINTS 200
static double steps[POINTS], losses[POINTS], tests[POINTS];

static const Series *curves(void) {
    static const Series series[2] = {{steps, losses, POINTS, STYLE_MODEL, "train", 0},
                                     {steps, tests, POINTS, STYLE_SERIES_B, "test", 0}};
    for (int i = 0; i < POINTS; i++) {
        steps[i] = 1 + i * 8;
        losses[i] = 0.93 + 3.1 / (1 + 0.06 * i);
        tests[i] = i % 20 == 0 && i > 0 ? NONE : 1.05 + 2.8 / (1 + 0.05 * i);
    }
    return series;
}

static Plot loss_plot(void) {
    return (Plot){.series = curves(),
                  .count = 2,
                  .x_label = "step",
                  .y_label = "loss, nats",
                  .level = 0.9145,
                  .level_label = "floor 0.9145",
                  .cursor_x = NONE};
}

static void assert_looks(Canvas *c, const char *name) {
    char file[64];
    Str got;
    str_init(&got);
    canvas_dump(c, true, &got);
    snprintf(file, sizeof file, "draw-%s", name);
    golden_check(file, got.s);
    str_done(&got);
    canvas_free(c);
}

#endif
