/* beside: a thread that makes one call at a time while its owner does something else. It stays between calls, with what
 * the engine keeps for it. Private to the laboratory. */
#ifndef LAB_BESIDE_H
#define LAB_BESIDE_H

typedef struct Beside Beside;

Beside *beside_new(void); /* NULL: there is no room for another thread */
void beside_free(Beside *b);
/* CALL(DATA) begins; the last one has been waited for. */
void beside_begin(Beside *b, void (*call)(void *data), void *data);
void beside_wait(Beside *b); /* until it has returned */

#endif
