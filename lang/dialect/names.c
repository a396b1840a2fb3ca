/* names.c -- the namespaces T, R, I and tvm, from the rows of dialect.def, dtype.def and
 * intrin.def. */
#include "lang/dialect/node_class.h"
#include "lang/dialect/te.h"
#include "lower/lower.h"
#include "passes/passes.h"

typedef struct NameRow {
  enum { IN_T, IN_R, IN_I } ns;
  bool annotation;
  Builtin builtin;
  const char *alias_of; /* another spelling: only `builtin.name` holds */
} NameRow;

static const NameRow rows[] = {
#define NAME(ns, name, signature, fn, doc)       {IN_##ns, false, {name, signature, fn, doc}, NULL},
#define ANNOTATION(ns, name, signature, fn, doc) {IN_##ns, true, {name, signature, fn, doc}, NULL},
#define ALIAS(ns, name, of)                      {IN_##ns, false, {name, NULL, NULL, NULL}, of},
#define ELSEWHERE(ns, name, instead)
#include "lang/dialect/dialect.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- names that are not here: what to write instead ---- */

static const struct {
  const char *ns, *name, *instead;
} elsewhere[] = {
#define NAME(ns, name, signature, fn, doc)
#define ANNOTATION(ns, name, signature, fn, doc)
#define ALIAS(ns, name, of)
#define ELSEWHERE(ns, name, instead) {#ns, name, instead},
#include "lang/dialect/dialect.def"
};

static const char *find_elsewhere(const Namespace *ns, const char *name) {
  for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
    if (str_same(elsewhere[i].ns, ns->name) && str_same(elsewhere[i].name, name))
      return elsewhere[i].instead;
  return NULL;
}

/* ---- annotations ---- */

static Value annotation_call(Value f, CallArgs *args) {
  return builtin_call(f.object, value_absent(), args);
}

/* T.Buffer[(n, m), "float32"]: the index is the arguments. */
static Value annotation_item(Value f, Value index, Span span) {
  CallArgs args = {.span = span};
  if (index.type == &type_tuple) args.positional = *value_items(index);
  else vec_push(&args.positional, index);
  return annotation_call(f, &args);
}

static void annotation_repr(Value v, Str *out) { str_add(out, ((const Builtin *)v.object)->name); }

const ValueType type_annotation = {.name = "annotation",
                                   .repr = annotation_repr,
                                   .call = annotation_call,
                                   .get_item = annotation_item};

Value value_annotation(const Builtin *b) {
  return value_of(&type_annotation, (void *)(uintptr_t)b);
}

/* ---- what T holds besides the rows ---- */

Node *intrin_argument(Value v, Span span) {
  if (value_is_none(v) || v.type == &type_list || v.type == &type_tuple) return to_attr(v, span);
  bool itself = v.type == &type_node && (IS(Array, v.node) || IS(GlobalVar, v.node) ||
                                         IS(CommReducer, v.node) || IS(None, v.node));
  return itself ? v.node : to_expr(v, span);
}

/* A buffer as the argument of T.address_of: its first element. */
static Value first_element(Value v, Span span) {
  if (!value_is_node(v, NK_Buffer)) return v;
  NodeVec zeros = {0};
  for each (Node *, d, &AS(Buffer, v.node)->shape) vec_push(&zeros, int_imm((*d)->dtype, 0, span));
  return value_node(expr_load(v.node, zeros, span));
}

/* A buffer as the argument of T.call_packed: a tensor on the stack. */
static Value packed_buffer(Value v, Span span) {
  if (!value_is_node(v, NK_Buffer)) return v;
  Buffer *b = AS(Buffer, v.node);
  Node *none = int_imm(INT32, 0, span),
       *like = dtype_is_float(b->elem) ? float_imm(b->elem, 0, span) : int_imm(b->elem, 0, span);
  Node *shape = expr_call("tvm_stack_make_shape", HANDLE, b->shape, span), *strides = none;
  if (b->strides.len) strides = expr_call("tvm_stack_make_shape", HANDLE, b->strides, span);
  NodeVec parts = NODES(b->data, shape, strides, int_imm(INT32, b->shape.len, span), like,
                        b->elem_offset ? b->elem_offset : none);
  return value_node(expr_call("tvm_stack_make_array", HANDLE, parts, span));
}

/* Where the dtype stands among the arguments of T.reinterpret("int32", x), T.tvm_struct_get(...,
 * "int32"): -1: it is a keyword, or left out. */
static int dtype_place(const Intrin *in, CallArgs *args) {
  for each (const char *, name, &args->names)
    if (str_same(*name, "dtype")) return -1;
  int n = args->positional.len;
  if (in->rule == RULE_LAST && in->args >= 0 && n > in->args) return n - 1;
  return in->rule == RULE_GIVEN && n ? 0 : -1;
}

/* The arguments without names but for dtype. A default is put in only before one that is given.
 * What takes any number of arguments takes none of them by name. */
static CallArgs *without_names(const Intrin *in, CallArgs *args) {
  bool named = false;
  for each (const char *, name, &args->names) named |= !str_same(*name, "dtype");
  if (!named || strchr(in->params, '*')) return args;
  const char *form = in->rule == RULE_GIVEN ? "dtype=None, %s" : "%s, dtype=None";
  const Signature *s = signature_parse(str_format(form, in->params));
  Value bound[s->params.len];
  signature_bind(s, str_format("T.%s", in->name), args, NULL, bound, NULL);
  CallArgs *out = NEW(CallArgs, .span = args->span, .env = args->env);
  int end = args->positional.len;
  for (int i = end; i < s->params.len; i++)
    for each (const char *, name, &args->names)
      if (*name == s->params.at[i].name) end = i + 1;
  for (int i = 0; i < end; i++) {
    if (!str_same(s->params.at[i].name, "dtype")) vec_push(&out->positional, bound[i]);
    else if (!value_is_none(bound[i]))
      vec_push(&out->names, "dtype"), vec_push(&out->named, bound[i]);
  }
  return out;
}

static Value call_intrin(Value f, CallArgs *args) {
  const Intrin *in = f.object;
  args = without_names(in, args);
  NodeVec operands = {0};
  DataType t = str_same(in->name, "undef") ? INT32 : VOID_TYPE;
  int place = dtype_place(in, args);
  if (place >= 0) t = to_dtype(args->positional.at[place], args->span);
  for (int i = 0; i < args->names.len; i++) {
    if (!str_same(args->names.at[i], "dtype"))
      raise("TypeError", args->span, "T.%s has no argument '%s'", in->name, args->names.at[i]);
    if (in->rule == RULE_GIVEN || in->rule == RULE_LAST)
      t = to_dtype(args->named.at[i], args->span);
  }
  bool meet = in->rule == RULE_SAME || in->rule == RULE_SECOND;
  if (meet) operands = to_operands(args->positional.len, args->positional.at, args->span);
  bool pointer = str_same(in->name, "address_of");
  bool packed = str_same(in->name, "call_packed") || str_same(in->name, "call_cpacked");
  for (int i = 0; !meet && i < args->positional.len; i++) {
    if (i == place) continue;
    Value v = args->positional.at[i];
    if (pointer) v = first_element(v, args->span);
    if (packed) v = packed_buffer(v, args->span);
    vec_push(&operands, intrin_argument(v, args->span));
  }
  return value_node(expr_call(in->name, t, operands, args->span));
}
static void intrin_repr(Value v, Str *out) {
  str_printf(out, "T.%s", ((const Intrin *)v.object)->name);
}
static Value intrin_attr(Value v, const char *name, Span span) {
  (void)span;
  return str_same(name, "__name__") ? value_str(((const Intrin *)v.object)->name) : value_absent();
}
static const ValueType type_intrin = {
    .name = "intrinsic", .repr = intrin_repr, .call = call_intrin, .get_attr = intrin_attr};

static Value search_T(const char *name) {
  DataType t;
  if (dtype_parse(name, &t)) return value_dtype(t);
  if (str_same(name, "boolean")) return value_dtype(BOOL);
  static const struct {
    const char *alias, *name;
  } other_names[] = {{"tvm_call_packed", "call_packed"},
                     {"tvm_call_cpacked", "call_cpacked"},
                     {"tvm_call_packed_lowered", "call_packed_lowered"},
                     {"tvm_call_cpacked_lowered", "call_cpacked_lowered"},
                     {"power", "pow"}};
  for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
    if (str_same(name, other_names[i].alias)) name = other_names[i].name;
  if (family_has(name)) return value_open(name);
  static const char *const scopes[] = {"warp", "wg", "warpgroup", "cta", "cluster", "thread"};
  for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) /* tile primitives of a scope */
    if (str_same(name, scopes[i])) return value_open(str_format("tile.%s", name));
  const Intrin *in = intrin_find(name);
  if (in) return value_of(&type_intrin, (void *)(uintptr_t)in);
  return node_class_find("tir", name);
}

/* What was found once is kept: T.int64 and the like are asked for again and again. */
static Value find_in_T(Namespace *ns, const char *name) {
  static Names known;
  (void)ns;
  name = str_intern(name);
  Value *kept = names_get(&known, name);
  if (kept) return *kept;
  Value v = search_T(name);
  if (v.type) names_set(&known, name, v);
  return v;
}

static void names_of_T(Namespace *ns, StrVec *out) {
  (void)ns;
#define INTRIN(name, params, takes, rule, effect, doc) vec_push(out, #name);
#include "ir/intrin.def"
  static const char *const dtypes[] = {"int8",    "int16",    "int32",  "int64",   "uint8",
                                       "uint16",  "uint32",   "uint64", "float16", "float32",
                                       "float64", "bfloat16", "bool"};
  for (int i = 0; i < 13; i++) vec_push(out, dtypes[i]);
}

/* ---- building the namespaces ---- */

static Value row_value(const NameRow *row) {
  return row->annotation ? value_annotation(&row->builtin) : value_builtin(&row->builtin);
}

/* Below R the operators of stdlib are found, too. */
static Value new_namespace(const char *name) {
  Value ns = value_namespace(name);
  if (*name != 'R') return ns;
  ((Namespace *)ns.object)->find = op_namespace_find;
  ((Namespace *)ns.object)->names = op_namespace_names;
  return ns;
}

/* "axis.spatial" goes into the namespace axis of ns. */
static void set_dotted(Value ns, const char *name, Value x) {
  const char *dot = strchr(name, '.');
  if (!dot) return namespace_set(ns, name, x);
  const char *head = str_intern_n(name, (size_t)(dot - name));
  Value *inner = names_get(&((Namespace *)ns.object)->values, head);
  if (!inner) {
    const char *full = str_intern(str_format("%s.%s", ((Namespace *)ns.object)->name, head));
    namespace_set(ns, head, new_namespace(full));
    inner = names_get(&((Namespace *)ns.object)->values, head);
  }
  set_dotted(*inner, dot + 1, x);
}

static Value find_row(int which, const char *name) {
  for (int i = 0; i < ROWS; i++)
    if ((int)rows[i].ns == which && str_same(rows[i].builtin.name, name))
      return row_value(&rows[i]);
  BUG("dialect.def has no row '%s'", name);
}

static Value make_namespace(const char *name, int which) {
  Value ns = new_namespace(name);
  ((Namespace *)ns.object)->elsewhere = find_elsewhere;
  for (int i = 0; i < ROWS; i++)
    if ((int)rows[i].ns == which) {
      const char *of = rows[i].alias_of;
      set_dotted(ns, rows[i].builtin.name, of ? find_row(which, of) : row_value(&rows[i]));
    }
  return ns;
}

static Value tree_decorator(const TreeDecorator *d) {
  return value_of(&type_tree_decorator, (void *)(uintptr_t)d);
}

Value tensor_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = make_namespace("T", IN_T);
  namespace_set(ns, "prim_func", tree_decorator(&decorate_prim_func));
  namespace_set(ns, "jit", tree_decorator(&decorate_jit));
  namespace_set(ns, "macro", tree_decorator(&decorate_macro));
  namespace_set(ns, "inline", tree_decorator(&decorate_inline));
  namespace_set(ns, "let", value_of(&type_let, NEW(Value, 0)));
  ((Namespace *)ns.object)->find = find_in_T;
  ((Namespace *)ns.object)->names = names_of_T;
  return ns;
}

Value graph_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = make_namespace("R", IN_R);
  namespace_set(ns, "function", tree_decorator(&decorate_function));
  namespace_set(ns, "rewriter", tree_decorator(&decorate_rewriter));
  namespace_set(ns, "macro", tree_decorator(&decorate_graph_macro));
  namespace_set(ns, "op", new_namespace("R")); /* relax.op.add is R.add */
  return ns;
}

static Value ir_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = make_namespace("I", IN_I);
  namespace_set(ns, "ir_module", tree_decorator(&decorate_module));
  namespace_set(ns, "pyfunc", tree_decorator(&decorate_pyfunc));
  return ns;
}

static const Builtin from_source = {"from_source",
                                    "program, extra_vars=None, check_well_formed=True",
                                    tvm_from_source, "the module or function that a text defines"};

/* tvm.script: what `from tvm.script import ir as I, tir as T, relax as R` reads. */
static Value script_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  ns = value_namespace("tvm.script");
  namespace_add_builtins(ns, &from_source, 1);
  namespace_set(ns, "ir_module", tree_decorator(&decorate_module));
  namespace_set(ns, "ir", ir_namespace());
  namespace_set(ns, "tir", tensor_namespace());
  namespace_set(ns, "tirx", tensor_namespace());
  namespace_set(ns, "relax", graph_namespace());
  return ns;
}

/* The names are made when first used: a lazy namespace costs nothing at start. */
void dialect_add_names(Env *globals) {
  env_set(globals, str_intern("T"), tensor_namespace());
  env_set(globals, str_intern("tir"), tensor_namespace());
  env_set(globals, str_intern("R"), graph_namespace());
  env_set(globals, str_intern("relax"), graph_namespace());
  env_set(globals, str_intern("I"), ir_namespace());
  env_set(globals, str_intern("ir"), ir_namespace());
  env_set(globals, str_intern("tirx"), tensor_namespace());
  env_set(globals, str_intern("Tx"), value_open("tile"));
  env_set(globals, str_intern("Axis"), axis_namespace());
  env_set(globals, str_intern("TypeVar"), value_builtin(&type_var_builtin));
  env_set(globals, str_intern("metadata"), metadata_value());
  env_set(globals, str_intern("tvm"), namespace_import("tvm", (Span){0}));
}

static Value arith_library(void) { return namespace_import("tvm.arith", (Span){0}); }
static Value dpl_namespace(void) { return namespace_import("tvm.relax.dpl", (Span){0}); }
static Value backend_namespace(void) { return namespace_import("tvm.relax.backend", (Span){0}); }

/* Files of TVM's Python packages, by which scripts import what the package has. */
static const struct {
  const char *package, *files;
  Value (*load)(void);
} packages[] = {
    {"tvm.ir", "base module expr function op attrs container global_info type", tvm_ir_namespace},
    {"tvm.tir", "expr stmt function buffer op generic", tvm_tir_namespace},
    {"tvm.relax", "expr struct_info block_builder ty utils vm_build type_converter",
     tvm_relax_namespace},
    {"tvm.relax", "transform", transform_namespace},
    {"tvm.relax.transform", "transform", transform_namespace},
    {"tvm.relax.dpl", "pattern context rewrite", dpl_namespace},
    {"tvm.relax.backend", "patterns pattern_registry", backend_namespace},
    {"tvm.ir", "transform", transform_namespace},
    {"tvm.runtime", "vm", tvm_relax_namespace},
    {"tvm.te", "operation tensor", te_namespace},
    {"tvm.arith", "analyzer", arith_library},
    {"tvm.script", "parser", script_namespace},
    {"tvm.script.parser", "core", script_namespace},
};

static void register_packages(void) {
  for (size_t i = 0; i < sizeof packages / sizeof *packages; i++)
    for (const char *at = packages[i].files; *at;) {
      size_t n = strcspn(at, " ");
      const char *file = str_intern(str_copy_n(at, n));
      namespace_register(str_intern(str_format("%s.%s", packages[i].package, file)),
                         packages[i].load);
      at += n + strspn(at + n, " ");
    }
}

Value package_file(const char *package, const char *name) {
  for (size_t i = 0; i < sizeof packages / sizeof *packages; i++) {
    if (!str_same(packages[i].package, package)) continue;
    const char *found = strstr(packages[i].files, name);
    size_t n = strlen(name);
    bool whole =
        found && (found == packages[i].files || found[-1] == ' ') && (found[n] == ' ' || !found[n]);
    if (whole) return packages[i].load();
  }
  return value_absent();
}

void dialect_start(void) {
  passes_start();
  lower_start();
  namespace_register("tvm.script", script_namespace);
  namespace_register("tvm.script.ir", ir_namespace);
  namespace_register("tvm.script.tir", tensor_namespace);
  namespace_register("tvm.script.tirx", tensor_namespace);
  namespace_register("tvm.script.relax", graph_namespace);
  namespace_register("tvm", tvm_namespace);
  namespace_register("tvm.ir", tvm_ir_namespace);
  namespace_register("tvm.tir", tvm_tir_namespace);
  namespace_register("tvm.tirx", tvm_tir_namespace);
  namespace_register("tvm.s_tir", tvm_tir_namespace);
  namespace_register("tvm.relax", tvm_relax_namespace);
  namespace_register("tvm.te", te_namespace);
  namespace_register("tvm.transform", transform_namespace);
  namespace_register("_arith", arith_namespace);
  namespace_register("_build", build_namespace);
  namespace_register("_target", target_namespace);
  namespace_register("_measure", measure_namespace);
  namespace_register("_analysis", analysis_namespace);
  namespace_register("_pattern", pattern_namespace);
  namespace_register("_library", pattern_files_namespace);
  namespace_register("tvm.script.parser.ir", ir_namespace);
  namespace_register("tvm.script.parser.tir", tensor_namespace);
  namespace_register("tvm.script.parser.relax", graph_namespace);
  namespace_register("tvm.topi", topi_namespace);
  register_packages();
  op_start();
  library_start();
  schedule_rules_start();
  evaluate_start();
  pattern_hooks_start();
  library_pass_start();
}
