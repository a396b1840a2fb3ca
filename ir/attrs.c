/* attrs.c -- dictionaries of attributes: small, immutable, keys in the order they were set. */
#include "ir/ir.h"

Node *dict_new(void) { return MAKE(Dict, (Span){0}, VOID_TYPE, .keys = {0}); }

Node *dict_make(StrVec keys, NodeVec values) {
  return MAKE(Dict, (Span){0}, VOID_TYPE, .keys = keys, .values = values);
}

static int find_key(const Dict *d, const char *key) {
  for (int i = 0; i < d->keys.len; i++)
    if (str_same(d->keys.at[i], key)) return i;
  return -1;
}

static const Dict *as_dict(const Node *n) {
  return IS(Dict, n) ? (const Dict *)(const void *)n : NULL;
}

Node *dict_get(const Node *dict, const char *key) {
  const Dict *d = as_dict(dict);
  int i = d ? find_key(d, key) : -1;
  return i < 0 ? NULL : d->values.at[i];
}

Node *dict_with(const Node *dict, const char *key, Node *value) {
  const Dict *d = as_dict(dict);
  Dict *out = AS(Dict, dict_new());
  out->node.span = d ? d->node.span : (Span){0};
  bool set = false;
  for (int i = 0; d && i < d->keys.len; i++) {
    bool same = str_same(d->keys.at[i], key);
    set |= same;
    if (same && !value) continue;
    vec_push(&out->keys, d->keys.at[i]);
    vec_push(&out->values, same ? value : d->values.at[i]);
  }
  if (!set && value) {
    vec_push(&out->keys, str_intern(key));
    vec_push(&out->values, value);
  }
  return &out->node;
}

int64_t dict_get_int(const Node *dict, const char *key, int64_t otherwise) {
  Node *n = dict_get(dict, key);
  return IS(IntImm, n) ? AS(IntImm, n)->value : otherwise;
}

const char *dict_get_str(const Node *dict, const char *key, const char *otherwise) {
  Node *n = dict_get(dict, key);
  return IS(StringImm, n) ? AS(StringImm, n)->value : otherwise;
}

const char *dict_key(const char *text) {
  static const char *const of_today[] = {"tirx.jit", "tirx.constexpr", "tirx.optional"};
  if (!str_begins(text, "tirx.")) return text;
  for (int i = 0; i < 3; i++)
    if (str_same(text, of_today[i])) return text;
  return str_intern(str_format("tir.%s", text + strlen("tirx.")));
}
