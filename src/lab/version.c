#include "version.h"

#include "intl.h"
#include "real.h"

const char *version_number(void) {
    return LANTERN_VERSION;
}

void version_add(Str *out) {
    str_addf(out, "lantern %s\n", LANTERN_VERSION);
    str_addf(out, _("compiler  %s\n"), __VERSION__);
    str_addf(out, _("numbers   %s\n"), REAL_IS_DOUBLE ? "double" : "float");
}
