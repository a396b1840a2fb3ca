/* unit.h -- the harness of the C unit tests: TEST(name) { CHECK(x); } registers itself.
 *
 * A test's name is a sentence. The program's arguments select tests by a part of their names. Each
 * test has a diagnostics list of its own; a raised error fails it. */
#ifndef TESTS_UNIT_UNIT_H
#define TESTS_UNIT_UNIT_H

#include <stdbool.h>

typedef struct Test Test;
struct Test {
  const char *name;
  void (*run)(void);
  Test *next;
};

void unit_add(Test *t);
void unit_check(bool good, const char *file, int line, const char *what);

#define TEST(name)                                                                                 \
  static void test_##name(void);                                                                   \
  __attribute__((constructor)) static void add_##name(void) {                                      \
    static Test t = {#name, test_##name, 0};                                                       \
    unit_add(&t);                                                                                  \
  }                                                                                                \
  static void test_##name(void)

/* Goes on after a failure: one run shows all. */
#define CHECK(x) unit_check((x), __FILE__, __LINE__, #x)

#endif
