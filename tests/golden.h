/* golden: texts that must stay as they are, kept as golden/NAME.txt. UPDATE=1 in the environment writes them afresh. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

/* TEXT must agree with golden/NAME.txt; when it does not the test fails with the lines that differ. */
void golden_check(const char *name, const char *text);

#endif
