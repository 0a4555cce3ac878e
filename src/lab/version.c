#include "version.h"

const char *version_number(void) {
    return LANTERN_VERSION;
}
