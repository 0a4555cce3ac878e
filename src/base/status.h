/* status: the answer of a call that the world can make fail: done, or a sentence for the user. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include <stdbool.h>

typedef enum {
    STATUS_OK = 0,        /* exit 0 */
    STATUS_FAILED = 1,    /* exit 1: failed while running (disk full, diverged) */
    STATUS_USAGE = 2,     /* exit 2: a bad id, key, value or file; nothing was written */
    STATUS_CANCELLED = 3, /* the user stopped it */
} StatusCode;

typedef struct {
    StatusCode code;
    char text[500]; /* one sentence, empty when OK. UTF-8 without newlines and controls, whatever it quotes; cut at a
                     * character's edge, with three points, when too long */
} Status;

#define STATUS_CHECKED __attribute__((warn_unused_result))
#define STATUS_PRINTF  __attribute__((format(printf, 1, 2)))

Status status_ok(void);
Status status_failed(const char *format, ...) STATUS_PRINTF;
Status status_usage(const char *format, ...) STATUS_PRINTF;
Status status_cancelled(void);

static inline bool status_is_ok(const Status *s) {
    return s->code == STATUS_OK;
}

/* Returns from the calling function when CALL did not succeed. */
#define STATUS_TRY(call)                                                                                               \
    do {                                                                                                               \
        Status status_try_ = (call);                                                                                   \
        if (status_try_.code != STATUS_OK) return status_try_;                                                         \
    } while (0)

#endif
