/* Must not compile: a pane that reaches into the engine. The test builds it and wants the compiler's refusal. */
#include "pane.h"
#include "tape.h"

int layer_violation(void);
int layer_violation(void) { return 0; }
