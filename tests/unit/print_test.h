/* print_test.h -- what the tests of printing share. */
#ifndef TESTS_UNIT_PRINT_TEST_H
#define TESTS_UNIT_PRINT_TEST_H

#include "ir/ir.h"

/* Random numbers from a seed. */
extern uint64_t print_seed;
int below(int n);
bool one_in(int n);
/* Names that clash, are reserved, or no identifiers. */
const char *random_name(void);

/* Prints modules that make() gives, PRINT_RUNS in number (or so many), from PRINT_SEED on, in both
 * spellings, reads them and compares. False, and the module is shown, if a difference is found. */
bool print_survives_all(Node *(*make)(void), long runs);

#endif
