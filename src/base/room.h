/* room: how much memory the system can still give without paging, for those who are about to ask for much. */
#ifndef BASE_ROOM_H
#define BASE_ROOM_H

#include <stddef.h>

size_t room_left(void);          /* bytes; SIZE_MAX: nobody knows */
void room_pretend(size_t bytes); /* tests: room_left says so from now on; 0: the truth again */

#endif
