#include "version.h"

#include "gemm.h"
#include "intl.h"
#include "real.h"

const char *version_number(void) {
    return LANTERN_VERSION;
}

#ifdef __clang__
#define VERSION_COMPILER __VERSION__
#else
#define VERSION_COMPILER "gcc " __VERSION__
#endif

void version_add(Str *out) {
    str_addf(out, "lantern %s\n", LANTERN_VERSION);
    str_addf(out, _("compiler  %s\n"), VERSION_COMPILER);
    str_addf(out, _("real      %s\n"), REAL_IS_DOUBLE ? "double" : "float");
    str_addf(out, "OpenBLAS  %s\n", gemm_library());
    str_addf(out, _("kernels   %s, %s build, %d thread in each of ours\n"), gemm_core(), gemm_parallel(),
             gemm_threads());
}

const char *version_warning(void) {
    if (!gemm_misses_library()) return NULL;
    return _("OpenBLAS cannot be opened (its package is libopenblas0): products of matrices are made by plain loops, "
             "slowly");
}
