/* term_decode: from what a terminal sends to events: UTF-8, SGR and X10 mouse reports, bracketed paste, what it says of its ground.
 * Knows no curses and no time.
 *
 * It is fed one input at a time and says when an event is complete. Broken UTF-8, unknown control sequences and reports that break off
 * are swallowed: they never become keys, so line noise runs no command. An answer about the ground is known by its form, whenever it
 * comes and in how many pieces: once it has begun, what belongs to it is waited for without a limit. */
#ifndef UI_TERM_DECODE_H
#define UI_TERM_DECODE_H

#include "key.h"
#include "str.h"

typedef enum {
    INPUT_BYTE,       /* value: a byte as it came */
    INPUT_KEY,        /* value: a Key that was recognised below */
    INPUT_MOUSE,      /* the start of an SGR report, ESC [ < ; the rest follows as bytes */
    INPUT_MOUSE_X10,  /* the start of an X10 report, ESC [ M ; three bytes follow */
    INPUT_PASTE,      /* ESC [ 200 ~ ; the text follows */
    INPUT_PASTE_END,  /* ESC [ 201 ~ */
    INPUT_NOTHING,    /* a sequence without meaning here */
} InputKind;

typedef struct {
    int state;
    char bytes[32]; /* of a character or a report that is not complete */
    int used, expected;
    bool asked;     /* the terminal has been asked for its ground and has not answered */
    Str paste, given; /* given: the text of the last paste event */
} TermDecoder;

void term_decode_init(TermDecoder *d);
void term_decode_done(TermDecoder *d);
/* True when *out is an event now. */
bool term_decode_feed(TermDecoder *d, InputKind kind, uint32_t value, Event *out);
/* An answer may come, or none any more: a lone escape may be its beginning. */
void term_decode_expect_answer(TermDecoder *d, bool expect);
bool term_decode_expects_answer(const TermDecoder *d);
/* Something has begun and is not complete, and is not waited for without a limit. An escape alone is a key as soon as nothing follows it at once; the rest may be waited for. */
bool term_decode_is_waiting(const TermDecoder *d);
bool term_decode_has_escape(const TermDecoder *d);
bool term_decode_has_paste(const TermDecoder *d);
/* Nothing more comes: gives what is there (an escape, a paste without an end), drops the rest. True when *out is an event. */
bool term_decode_flush(TermDecoder *d, Event *out);

#endif
