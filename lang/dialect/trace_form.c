/* trace_form.c -- the steps of a trace in the form of upstream's JSON: a kind, inputs (random
 * variables, and what may be one), attributes and results. */
#include "lang/dialect/trace_value.h"
#include "lang/value/object.h"

/* Primitives whose kind is not just their name in other letters, or whose inputs are not just their
 * blocks and loops; NULL: as others. */
static const struct {
  const char *primitive, *kind, *inputs;
} forms[] = {
    {"get_block", "GetSBlock", NULL},
    {"rfactor", "RFactor", NULL},
    {"reindex", "ReIndex", NULL},
    {"unsafe_set_dtype", "UnsafeSetDType", NULL},
    {"split", NULL, "loop;factors"},
    {"loop_partition", NULL, "loop;factors"},
    {"cache_read", NULL, "block;consumer_blocks"},
    {"cache_write", NULL, "block;consumer_blocks"},
    {"reindex_cache_read", NULL, "block;index_map"},
    {"reindex_cache_write", NULL, "block;index_map"},
    {"transform_layout", NULL, "block;index_map"},
    {"transform_block_layout", NULL, "block;index_map"},
    {"annotate", NULL, "block_or_loop;ann_val"},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* Of all other primitives. */
#define INPUTS                                                                                     \
  "block;loop;block_or_loop;loops;ordered_loops;scope_block;target;reduction_block;epilogue_block"

static int form_of(const Primitive *p) {
  for (int i = 0; i < FORMS; i++)
    if (str_same(forms[i].primitive, p->name)) return i;
  return -1;
}

static const char *camel_case(const char *name) {
  Str s = {0};
  for (bool upper = true; *name; name++) {
    if (*name != '_') str_add_char(&s, upper && *name >= 'a' ? *name - 'a' + 'A' : *name);
    upper = *name == '_';
  }
  return str_text(&s);
}

const char *step_kind(const Primitive *p) {
  int form = form_of(p);
  return form >= 0 && forms[form].kind ? forms[form].kind : camel_case(p->name);
}

static const Primitive *primitive_of_kind(const char *kind) {
  if (str_same(kind, "GetBlock")) kind = "GetSBlock"; /* its name until then */
  for (int i = 0; primitive_at(i); i++)
    if (str_same(step_kind(primitive_at(i)), kind)) return primitive_at(i);
  return NULL;
}

static bool is_input(const Primitive *p, const Param *x) {
  int form = form_of(p);
  const char *inputs = form >= 0 && forms[form].inputs ? forms[form].inputs : INPUTS;
  return str_in_list(inputs, x->name);
}

/* The items of a list are inputs of their own. */
static bool is_spread(const Param *x) {
  return x->kind == PARAM_STAR || str_same(x->name, "factors") ||
         str_same(x->name, "consumer_blocks");
}

/* ("write", 1) as the attributes 1 and whether it is written. */
static bool is_buffer(const Param *x) { return str_same(x->name, "buffer"); }

static void add_buffer(NodeVec *attrs, const Node *arg) {
  REQUIRE(IS(Array, arg), "a step has its buffer by side and number");
  NodeVec pair = ((const Array *)(const void *)arg)->items;
  bool written = str_same(AS(StringImm, pair.at[0])->value, "write");
  vec_push(attrs, pair.at[1]);
  vec_push(attrs, int_imm(INT32, written, pair.at[1]->span));
}

StepForm step_to_form(const Instruction *in) {
  const Signature *s = signature_parse(in->primitive->signature);
  StepForm f = {.kind = step_kind(in->primitive)};
  for (int i = 0; i < in->args.len; i++) {
    const Param *x = &s->params.at[i];
    Node *arg = in->args.at[i];
    if (!is_input(in->primitive, x)) {
      if (is_buffer(x)) add_buffer(&f.attrs, arg);
      else vec_push(&f.attrs, arg);
    } else if (is_spread(x) && IS(Array, arg)) {
      for each (Node *, item, &AS(Array, arg)->items) vec_push(&f.inputs, *item);
    } else if (!is_spread(x) || arg) vec_push(&f.inputs, arg);
  }
  return f;
}

/* ---- back ---- */

typedef struct Reader {
  const StepForm *form;
  int input, attr; /* what comes next */
  Span span;
  const char *lacks; /* what there is none of, or NULL */
} Reader;

static Node *or_null(Node *n) { return IS(None, n) ? NULL : n; }

static Node *read_input(Reader *r, const Param *x) {
  NodeVec all = r->form->inputs, rest = {0};
  if (!is_spread(x)) {
    if (r->input < all.len) return or_null(all.at[r->input++]);
    r->lacks = "inputs";
    return NULL;
  }
  while (r->input < all.len) vec_push(&rest, all.at[r->input++]);
  if (!rest.len && x->kind != PARAM_STAR) return NULL;
  return MAKE(Array, r->span, VOID_TYPE, .items = rest);
}

/* Attributes that were not known when the trace was written have their defaults. */
static Node *read_attr(Reader *r, const Param *x) {
  NodeVec all = r->form->attrs;
  if (r->attr >= all.len) {
    if (!x->value.type) r->lacks = "attributes";
    return !x->value.type || value_is_none(x->value) ? NULL : to_attr(x->value, r->span);
  }
  Node *first = all.at[r->attr++];
  if (!is_buffer(x)) return or_null(first);
  int64_t written;
  if (r->attr >= all.len || !expr_is_const_int(all.at[r->attr++], &written)) {
    r->lacks = "attributes";
    return NULL;
  }
  NodeVec pair = NODES(string_imm(written ? "write" : "read", r->span), first);
  return MAKE(Array, r->span, VOID_TYPE, .items = pair, .is_tuple = true);
}

const char *step_from_form(const StepForm *f, Instruction *out, Span span) {
  const Primitive *p = out->primitive = primitive_of_kind(f->kind);
  if (!p) return str_format("a kind of steps, not '%s'", f->kind);
  const Signature *s = signature_parse(p->signature);
  Reader r = {.form = f, .span = span};
  out->args = (NodeVec){0};
  for each (Param, x, &s->params)
    if (!str_same(x->name, "decision"))
      vec_push(&out->args, is_input(p, x) ? read_input(&r, x) : read_attr(&r, x));
  if (r.input < f->inputs.len) r.lacks = "fewer inputs";
  if (r.attr < f->attrs.len) r.lacks = "fewer attributes";
  return r.lacks ? str_format("%s of %s", r.lacks, f->kind) : NULL;
}
