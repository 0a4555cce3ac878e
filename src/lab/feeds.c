#include "feeds.h"

#include "differ.h"
#include "intl.h"
#include "mem.h"

#include <math.h>
#include <string.h>

const Option feeds_option_rows[] = {
    {"feeds", OPTION_TEXT, "all,1,5+1,3", 0, 0, NULL, "tokens",
     N_("how it is cut, separated by commas: all at once, or sizes joined by +, of which the last is repeated")},
    {0},
};

/* The size of the next piece of FEED at *AT, which moves behind it unless it is the last; 0: all that is left; -1: not
 * of the form. */
static int next_piece(const char *feed, const char **at) {
    if (strcmp(feed, "all") == 0) return 0;
    char digits[8];
    size_t n = strcspn(*at, "+");
    long long size;
    if (n == 0 || n >= sizeof digits || strspn(*at, "0123456789") < n) return -1;
    memcpy(digits, *at, n);
    digits[n] = '\0';
    if (!str_to_long(digits, &size) || size < 1) return -1;
    if ((*at)[n] == '+') *at += n + 1;
    return (int)size;
}

static Status check_one(const char *feed) {
    for (const char *at = feed, *before = NULL; at != before;) {
        before = at;
        if (next_piece(feed, &at) < 0)
            return status_usage(_("feeds: '%s' is neither all nor sizes from 1 to 9999999 joined by +, as in 5+1"),
                                feed);
    }
    return status_ok();
}

char *feeds_next(const char **list) {
    size_t n = strcspn(*list, ",");
    char *feed = mem_text_n(*list, n);
    *list = (*list)[n] ? *list + n + 1 : NULL;
    return feed;
}

Status feeds_check(const Options *o) {
    Status status = status_ok();
    for (const char *list = options_text(o, "feeds"); list && status_is_ok(&status);) {
        char *feed = feeds_next(&list);
        status = check_one(feed);
        mem_free(feed);
    }
    return status;
}

double feeds_differ(Decoder *d, const int *ids, int n, const real *whole, int vocab, const char *feed,
                    const real **last) {
    const char *at = feed;
    double most = 0;
    decoder_reset(d);
    for (int done = 0, size; done < n; done += size) {
        size = next_piece(feed, &at);
        if (size == 0 || size > n - done) size = n - done;
        const real *logits = decoder_feed_all(d, 0, ids + done, size);
        double off = differ_most(logits, whole + (size_t)done * (size_t)vocab, (size_t)size * (size_t)vocab);
        if (isnan(off) || off > most) most = off; /* a NaN stays */
        *last = logits + (size_t)(size - 1) * (size_t)vocab;
    }
    return most;
}
