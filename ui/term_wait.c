#include "term_wait.h"

#include "clock.h"
#include "term_signals.h"

#include <poll.h>

#define LATE_BYTES  0.1 /* s that the rest of a character or report may be late */
#define LATE_PASTE  1.0
#define ANSWER_TIME 10.0 /* s after which a terminal is taken for one that does not answer */

enum { SILENT_MOST = 2 };

static int milliseconds(double seconds) {
    if (seconds < 0) return -1;
    return seconds > 1e6 ? 1000000000 : (int)(seconds * 1000 + 0.999);
}

/* Seconds that the rest of what has begun may be late. */
static double lateness(const TermDecoder *d) {
    return term_decode_has_paste(d) ? LATE_PASTE : LATE_BYTES;
}

static WaitEnd wait_for(TermWait *w, double seconds, int wake_fd) {
    struct pollfd fds[3] = {{w->fd, POLLIN, 0}, {signals_fd(), POLLIN, 0}, {wake_fd, POLLIN, 0}};
    int n = poll(fds, 3, milliseconds(seconds));
    if (n == 0) return WAIT_NOTHING;
    if (n < 0) return WAIT_INPUT; /* a signal: its news are looked at next */
    if ((fds[1].revents & POLLIN) != 0) return WAIT_INPUT;
    bool input = (fds[0].revents & POLLIN) != 0;
    if (fds[0].revents != 0 && (!input || ++w->silent > SILENT_MOST))
        return WAIT_END; /* hung up, or readable without a byte */
    return input ? WAIT_INPUT : WAIT_WAKE;
}

WaitEnd term_wait(TermWait *w, TermDecoder *d, double seconds, int wake_fd) {
    if (!term_wait_expects_answer(w, d, ANSWER_TIME)) term_decode_expect_answer(d, false);
    double late = lateness(d);
    bool cut = term_decode_is_waiting(d) && (seconds < 0 || seconds > late);
    WaitEnd end = wait_for(w, cut ? late : seconds, wake_fd);
    return cut && end == WAIT_NOTHING ? WAIT_LATE : end;
}

bool term_wait_input(const TermWait *w, double seconds) {
    struct pollfd input = {w->fd, POLLIN, 0};
    return poll(&input, 1, milliseconds(seconds)) > 0 && (input.revents & POLLIN) != 0;
}

void term_wait_for_answer(TermWait *w, TermDecoder *d) {
    term_decode_expect_answer(d, true);
    w->asked = clock_now();
}

bool term_wait_expects_answer(const TermWait *w, const TermDecoder *d, double seconds) {
    return term_decode_expects_answer(d) && clock_now() - w->asked < seconds;
}
