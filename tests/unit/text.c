/* text.c -- formats give what the C library gives; interned texts are one; keys of nodes. */
#include "ir/ir.h"
#include "tests/unit/unit.h"
#include <limits.h>
#include <stdio.h>

/* What str_format gives equals what snprintf gives. */
#define SAME(...)                                                                                  \
  do {                                                                                             \
    char want[400];                                                                                \
    snprintf(want, sizeof want, __VA_ARGS__);                                                      \
    CHECK(strcmp(str_format(__VA_ARGS__), want) == 0);                                             \
  } while (0)

TEST(formats_are_those_of_printf) {
  SAME("%s", "");
  SAME("plain");
  SAME("100%%");
  SAME("%d %d %d", 0, INT_MIN, INT_MAX);
  SAME("%lld %lld", LLONG_MIN, LLONG_MAX);
  SAME("%llu", ULLONG_MAX);
  SAME("%c%c", 'a', 'b');
  SAME("%.*s|%.*s|%.*s", 2, "abc", 5, "abc", 0, "abc");
  SAME("%s=%d, %5d, %-5d|", "a", 1, 2, 3);
  SAME("%s %.3f %s", "a", 1.5, "b");
  SAME("%s %02x %zu %s", "a", 10u, (size_t)7, "b");
  SAME("%s%*s%s", "a", 4, "", "b");
}

/* A vector is often handed on by value: its elements must stay when the copy grows. */
TEST(a_copy_of_a_vector_grows_alone) {
  for (int n = 1; n < 200; n++) {
    VEC(void *) v = {0};
    for (int i = 0; i < n; i++) vec_push(&v, &v);
    VEC(void *) copy = {v.at, v.len, v.cap};
    for (int i = 0; i <= n; i++) vec_push(&copy, NULL);
    for (int i = 0; i < 500; i++)
      memset(gc_alloc(sizeof(void *) * (size_t)v.cap), 1, sizeof(void *) * (size_t)v.cap);
    bool kept = copy.len == 2 * n + 1;
    for each (void *, p, &v) kept &= *p == &v;
    for (int i = 0; i < n; i++) kept &= copy.at[i] == &v;
    CHECK(kept);
  }
}

TEST(long_texts_are_put_together_whole) {
  Str s = {0}, want = {0};
  for (int i = 0; i < 1000; i++) {
    str_printf(&s, "%s%d,", i ? " " : "", i);
    char part[20];
    snprintf(part, sizeof part, "%s%d,", i ? " " : "", i);
    str_add(&want, part);
  }
  CHECK(strcmp(str_text(&s), str_text(&want)) == 0);
  const char *text = str_text(&s), *twice = str_format("%s%s", text, text);
  CHECK(strlen(twice) == 2 * s.len && strcmp(twice + s.len, text) == 0);
}

TEST(interned_texts_of_any_length_are_one) {
  char text[64], again[64];
  for (int n = 0; n < 40; n++) {
    for (int i = 0; i < n; i++) text[i] = again[i] = (char)('a' + (i * 7 + n) % 26);
    const char *one = str_intern_n(text, (size_t)n);
    CHECK(one == str_intern_n(again, (size_t)n) && strlen(one) == (size_t)n);
    for (int i = 0; i < n; i++) {
      again[i] ^= 1;
      CHECK(one != str_intern_n(again, (size_t)n));
      again[i] ^= 1;
    }
  }
}

static bool same_key(Node *a, Node *b) {
  static NodeKey x, y;
  x.len = x.var_count = y.len = y.var_count = 0;
  x.failed = y.failed = false;
  node_key_add(&x, a);
  node_key_add(&y, b);
  CHECK(!x.failed && !y.failed);
  return x.len == y.len && memcmp(x.words, y.words, sizeof *x.words * (size_t)x.len) == 0;
}

static Node *shape_of(NodeVec dims) {
  return MAKE(ShapeExpr, (Span){0}, VOID_TYPE, .values = dims);
}
static Node *shape(Node *a, Node *b) { return shape_of(NODES(a, b)); }

TEST(keys_tell_nodes_apart_but_for_the_identity_of_variables) {
  Span at = {0};
  const char *n = str_intern("n"), *m = str_intern("m");
  Node *n1 = var_new(n, INT64, at), *n2 = var_new(n, INT64, at), *m1 = var_new(m, INT64, at);
  Node *one = int_imm(INT64, 1, at), *two = int_imm(INT64, 2, at), *narrow = int_imm(INT32, 1, at);
  CHECK(same_key(shape(n1, one), shape(n2, one)));
  CHECK(same_key(shape(n1, n2), shape(n2, n1)));
  CHECK(!same_key(shape(n1, n1), shape(n1, n2)));
  CHECK(!same_key(shape(n1, one), shape(m1, one)));
  CHECK(!same_key(shape(n1, one), shape(n1, two)));
  CHECK(!same_key(shape(n1, one), shape(n1, narrow)));
  CHECK(!same_key(shape(n1, var_new(n, INT32, at)), shape(n1, var_new(n, INT64, at))));
  CHECK(!same_key(string_imm("ab", at), string_imm("abc", at)));
}

TEST(what_is_too_large_for_a_key_has_none) {
  NodeVec dims = {0};
  for (int i = 0; i < NODE_KEY_WORDS; i++) vec_push(&dims, int_imm(INT64, i, (Span){0}));
  static NodeKey k;
  node_key_add(&k, shape_of(dims));
  CHECK(k.failed && k.len <= NODE_KEY_WORDS);
}
