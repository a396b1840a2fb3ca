/* parser.c -- mutates texts and checks that the parser returns a sound tree for each.
 *
 *   fuzz_parser SEED COUNT FILE...
 *
 * The same seed makes the same texts. A text that breaks a check is printed, and the status is 1.
 * Run it under AddressSanitizer with GC_DONT_GC=1 ASAN_OPTIONS=detect_leaks=0. */
#include "parser/parser.h"
#include "ir/support/diag.h"
#include <stdio.h>
#include <stdlib.h>

/* ---- randomness: xorshift64* ---- */

static uint64_t state;

static uint32_t pick(uint32_t n) {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return n ? (uint32_t)((state * 0x2545f4914f6cdd1du) >> 33) % n : 0;
}

/* ---- mutation ---- */

static const char *const pieces[] = {"(",
                                     ")",
                                     "[",
                                     "]",
                                     "{",
                                     "}",
                                     ":",
                                     ",",
                                     ";",
                                     "=",
                                     ":=",
                                     "->",
                                     "...",
                                     "*",
                                     "**",
                                     "/",
                                     "@",
                                     "~",
                                     "\\\n",
                                     "\n",
                                     "\r\n",
                                     "\n  ",
                                     "\n\t",
                                     "\n    ",
                                     "'",
                                     "\"",
                                     "'''",
                                     "\"\"\"",
                                     "f'{x!r}'",
                                     "f\"{a:{b}}\"",
                                     "rb'",
                                     "\\x4",
                                     "\\u12",
                                     "0x",
                                     "1e5",
                                     "1_0",
                                     "012",
                                     "3j",
                                     "not ",
                                     "if ",
                                     "else",
                                     "elif",
                                     "for x in y",
                                     "while ",
                                     "with ",
                                     "def f(",
                                     "class A",
                                     "lambda ",
                                     "try:",
                                     "except",
                                     "finally:",
                                     "raise ",
                                     "return ",
                                     "yield ",
                                     "import a.b",
                                     "from . import (",
                                     "async ",
                                     "await ",
                                     "in ",
                                     "is not ",
                                     "pass",
                                     "# c",
                                     "\xc3\xa9",
                                     "\xff",
                                     "\xe2\x80\x9c",
                                     "\f",
                                     "global a",
                                     "del ",
                                     "None",
                                     "!="};

typedef struct Text {
  char *at;
  size_t len;
} Text;

static Text splice(Text t, size_t lo, size_t hi, const char *with, size_t n) {
  Text out = {malloc(t.len - (hi - lo) + n + 1), t.len - (hi - lo) + n};
  memcpy(out.at, t.at, lo);
  memcpy(out.at + lo, with, n);
  memcpy(out.at + lo + n, t.at + hi, t.len - hi);
  out.at[out.len] = '\0';
  free(t.at);
  return out;
}

static Text mutate_once(Text t) {
  uint32_t size = (uint32_t)t.len;
  size_t lo = pick(size + 1), n = pick(pick(4) ? 8 : 200);
  size_t hi = lo + n < t.len ? lo + n : t.len;
  const char *piece = pieces[pick(sizeof pieces / sizeof *pieces)];
  switch (pick(6)) {
  case 0: return splice(t, lo, hi, "", 0);
  case 1: return splice(t, lo, lo, piece, strlen(piece));
  case 2: return splice(t, lo, hi, piece, strlen(piece));
  case 3: {
    char byte = (char)pick(256);
    return splice(t, lo, lo < t.len ? lo + 1 : lo, &byte, 1);
  }
  case 4: {
    char *copy = malloc(hi - lo + 1);
    memcpy(copy, t.at + lo, hi - lo);
    size_t to = pick(size + 1);
    t = splice(t, to, to, copy, hi - lo);
    free(copy);
    return t;
  }
  default: {
    char *copy = malloc(strlen(piece) * 300);
    size_t times = pick(300);
    for (size_t i = 0; i < times; i++) memcpy(copy + i * strlen(piece), piece, strlen(piece));
    t = splice(t, lo, lo, copy, times * strlen(piece));
    free(copy);
    return t;
  }
  }
}

/* ---- checks ---- */

typedef struct Checked {
  const Source *source;
  int depth, errors; /* levels above; Error nodes seen */
  const char *fault;
} Checked;

static void check_node(void *context, Ast *node) {
  Checked *c = context;
  uint32_t end = c->source->base + c->source->len;
  if (node->span.lo > node->span.hi || node->span.lo < c->source->base || node->span.hi > end)
    c->fault = "a span is outside of the text";
  if (node->kind == AST_KIND_Error && node->depth != 1) c->fault = "poison is in the tree";
  if (c->depth > AST_DEPTH_MAX) c->fault = "the tree is too deep";
  c->errors += node->kind == AST_KIND_Error;
  c->depth++;
  if (!c->fault) ast_each_child(node, check_node, c);
  c->depth--;
}

/* What is wrong with the parser's work on this text; NULL if nothing. */
static const char *check(Text t) {
  const Source *source = source_add("fuzz", t.at, t.len);
  if (!source) return "the source map is full: use a smaller count";
  AstModule *m = parse_module(source);
  Checked c = {.source = source};
  check_node(&c, &m->ast);
  int reported = diag_error_count();
  if (!c.fault && c.errors && !reported) c.fault = "an Error node was not reported";
  if (!c.fault) ast_dump(&m->ast);
  parse_expression(source);
  parse_wants_more(t.at, t.len);
  FILE *null = fopen("/dev/null", "w");
  diag_flush(null, DIAG_PLAIN);
  fclose(null);
  return c.fault;
}

/* ---- the run ---- */

static Text read_file(const char *path) {
  Text t = {malloc(1), 0};
  FILE *in = fopen(path, "rb");
  if (!in) return t;
  char block[4096];
  for (size_t n; (n = fread(block, 1, sizeof block, in)) > 0;)
    t = splice(t, t.len, t.len, block, n);
  fclose(in);
  return t;
}

static bool run_one(const char *path) {
  Text t = read_file(path);
  for (uint32_t i = pick(12) + 1; i > 0; i--) t = mutate_once(t);
  const char *fault = check(t);
  if (!fault) return true;
  printf("fuzz_parser: %s\n", fault);
  fwrite(t.at, 1, t.len, stdout);
  return false;
}

int main(int argc, char **argv) {
  gc_start();
  if (argc < 4) {
    fprintf(stderr, "usage: fuzz_parser SEED COUNT FILE...\n");
    return 2;
  }
  state = strtoull(argv[1], NULL, 10) * 2 + 1;
  long count = strtol(argv[2], NULL, 10);
  for (long i = 0; i < count; i++)
    if (!run_one(argv[3 + pick((uint32_t)argc - 3)])) return 1;
  printf("fuzz_parser: %ld texts, no fault\n", count);
  return 0;
}
