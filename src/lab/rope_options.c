#include "rope_options.h"

#include "bug.h"
#include "intl.h"

const Option rope_base_rows[] = {
    {"base", OPTION_REAL, "10000", 1e-12, 1e12, NULL, "", N_("above 0: pair i turns by base^(-2i/d) a token")},
    {"scaling", OPTION_TEXT, "none", 0, 0, NULL, "",
     N_("angles slowed for longer texts: none, linear:FACTOR, or llama3:FACTOR:LOW:HIGH:ORIGINAL (slow pairs only)")},
    {0},
};

Status rope_check_scaling(const Options *o) {
    RopeScaling scaling;
    return rope_scaling_parse(options_text(o, "scaling"), &scaling);
}

void rope_options_init(Rotary *r, const Options *o, int d, Pairing pairing) {
    RopeScaling scaling;
    Status s = rope_scaling_parse(options_text(o, "scaling"), &scaling);
    BUG_ON(!status_is_ok(&s));
    rotary_init_scaled(r, d, options_real(o, "base"), &scaling, pairing);
}

Status rope_check_width(const Options *o) {
    long long d = options_int(o, "d");
    if (d % 2) return status_usage(_("d (%lld) must be even: RoPE turns pairs of numbers"), d);
    return rope_check_scaling(o);
}
