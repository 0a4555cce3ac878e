/* The laboratory's command table, made from commands.def. */
#include "lab_internal.h"

#include "intl.h"

#define COMMAND(name, arguments, least, most, help)                                                                    \
    static Status perform_##name(void *lab, const Words *w) {                                                          \
        return lab_do_##name(lab, w);                                                                                  \
    }
#include "commands.def"
#undef COMMAND

static const Command table[] = {
#define COMMAND(name, arguments, least, most, help) {#name, arguments, help, least, most, perform_##name},
#include "commands.def"
#undef COMMAND
    {0},
};

const Command *lab_commands(void) {
    return table;
}
