#include "rope_options.h"

#include "intl.h"

const Option rope_base_rows[] = {
    {"base", OPTION_REAL, "10000", 1e-12, 1e12, NULL, "", N_("above 0: pair i turns by base^(-2i/d) a token")},
    {0},
};

Status rope_check_width(const Options *o) {
    long long d = options_int(o, "d");
    if (d % 2) return status_usage(_("d (%lld) must be even: RoPE turns pairs of numbers"), d);
    return status_ok();
}
