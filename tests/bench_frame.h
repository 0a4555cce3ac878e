/* bench_frame: what a frame costs in the terminal's thread, by the terminal's own code inside a pseudo-terminal: time
 * of the processor, calls of write, bytes. Figures for bench_screen: frame.heat  a map of 200 x 60 characters of which
 * every one changes, and the same frame again frame.wall  all panes at 200 x 60, with another training step in each
 * frame: drawing and sending apart */
#ifndef TESTS_BENCH_FRAME_H
#define TESTS_BENCH_FRAME_H

void bench_heat(int frames);
void bench_wall(int frames);

#endif
