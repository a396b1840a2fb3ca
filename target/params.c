/* params.c -- see params.h. */
#include "target/params.h"
#include "target/lowered.h"

static const struct {
  const char *dtype, *name;
} dtypes[] = {{"float64", "F64"},        {"float32", "F32"},
              {"float16", "F16"},        {"bfloat16", "BF16"},
              {"int64", "I64"},          {"int32", "I32"},
              {"int16", "I16"},          {"int8", "I8"},
              {"uint64", "U64"},         {"uint32", "U32"},
              {"uint16", "U16"},         {"uint8", "U8"},
              {"bool", "BOOL"},          {"float8_e4m3fn", "F8_E4M3"},
              {"float8_e5m2", "F8_E5M2"}};

const char *param_dtype(DataType t) {
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
    if (str_same(dtypes[i].dtype, dtype_text(t))) return dtypes[i].name;
  return NULL;
}

const char *param_name(AllocateConst *n) {
  return dict_get_str(n->annotations, "tvms.param", NULL);
}

/* ---- marking ---- */

static Node *mark(Mutator *m, Node *n) {
  Map *names = m->context; /* ConstData to its name */
  if (node_is_expr(n) || IS(Buffer, n)) return n;
  if (!IS(AllocateConst, n)) return mutate_children(m, n);
  AllocateConst c = *AS(AllocateConst, mutate_children(m, n));
  const char *name = map_get(names, c.data);
  if (!param_dtype(c.data->elem))
    error_raisef("CompileError", n->span, "a .safetensors file can't hold constants of %s",
                 dtype_text(c.data->elem));
  if (!name) {
    name = str_format("constant_%d", names->live);
    map_set(names, c.data, (void *)(uintptr_t)name);
  }
  Node *old = c.annotations ? c.annotations : dict_new();
  c.annotations = dict_with(old, "tvms.param", string_imm(name, n->span));
  return gc_copy(&c, sizeof c);
}

Node *params_mark(Node *lowered, const char *file) {
  IRModule m = *AS(IRModule, lowered);
  Map names = {0};
  NodeVec functions = {0};
  for each (Node *, f, &m.functions) {
    bool is_host = IS(PrimFunc, *f) && lowered_is_packed(AS(PrimFunc, *f));
    Mutator mutator = {.rewrite = mark, .context = &names};
    PrimFunc copy = is_host ? *AS(PrimFunc, *f) : (PrimFunc){0};
    if (is_host) copy.body = mutate(&mutator, copy.body);
    vec_push(&functions, is_host ? gc_copy(&copy, sizeof copy) : *f);
  }
  m.functions = functions;
  m.attrs = dict_with(m.attrs ? m.attrs : dict_new(), "tvms.params", string_imm(file, (Span){0}));
  return gc_copy(&m, sizeof m);
}

const char *params_file(Node *lowered) {
  return dict_get_str(AS(IRModule, lowered)->attrs, "tvms.params", NULL);
}

/* ---- collecting ---- */

typedef struct Collect {
  Map seen;
  ParamVec found;
} Collect;

static WalkResult collect(Walker *w, Node *n) {
  Collect *c = w->context;
  const char *name = IS(AllocateConst, n) ? param_name(AS(AllocateConst, n)) : NULL;
  if (!name || map_has(&c->seen, str_intern(name))) return WALK_ON;
  map_set(&c->seen, str_intern(name), n);
  Param p = {str_intern(name), AS(AllocateConst, n)->data};
  vec_push(&c->found, p);
  return WALK_ON;
}

ParamVec params_of(Node *lowered) {
  Collect c = {0};
  Walker w = {.enter = collect, .context = &c};
  for each (Node *, f, &AS(IRModule, lowered)->functions) walk(&w, *f);
  return c.found;
}

/* ---- the file: data of wide elements first, so that all are aligned ---- */

static ParamVec by_width(const ParamVec *params) {
  ParamVec out = {0};
  for (int width = 8; width; width /= 2)
    for each (const Param, p, params)
      if (lowered_nbytes(p->data->elem) == width) vec_push(&out, *p);
  return out;
}

static void add_header(Str *s, const ParamVec *params) {
  size_t at = 0;
  str_add_char(s, '{');
  for each (const Param, p, params) {
    str_printf(s, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", p > params->at ? "," : "", p->name,
               param_dtype(p->data->elem));
    for (int i = 0; i < p->data->ndim; i++)
      str_printf(s, "%s%lld", i ? "," : "", (long long)p->data->shape[i]);
    str_printf(s, "],\"data_offsets\":[%zu,%zu]}", at, at + p->data->nbytes);
    at += p->data->nbytes;
  }
  str_add_char(s, '}');
  while ((8 + s->len) % 64) str_add_char(s, ' ');
}

const char *params_text(const ParamVec *params, size_t *n) {
  ParamVec order = by_width(params);
  Str header = {0}, s = {0};
  add_header(&header, &order);
  uint64_t length = header.len;
  str_add_n(&s, (const char *)&length, 8);
  str_add_n(&s, header.at, header.len);
  for each (const Param, p, &order) str_add_n(&s, p->data->bytes, p->data->nbytes);
  *n = s.len;
  return str_text(&s);
}
