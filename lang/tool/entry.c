/* entry.c -- main(), alone, so that tests can link all the rest. */
#include "ir/support/gc.h"
#include "lang/lang.h"

int main(int argc, char **argv) {
  gc_start();
  return tool_main(argc, argv);
}
