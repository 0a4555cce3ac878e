/* fingerprint: what the engine comes to in this program on this processor, as one number: a hash of the parameters of
 * two small models after some updates. Other code, another compiler or other kernels that make other bits show here,
 * whether or not anybody thought of it. Private to the laboratory. */
#ifndef LAB_FINGERPRINT_H
#define LAB_FINGERPRINT_H

#include <stdint.h>

/* Worked out at the first call, in a few milliseconds. Thread-safe. */
uint64_t fingerprint(void);

#endif
