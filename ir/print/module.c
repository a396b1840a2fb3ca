/* module.c -- ir_print: whole modules, and any node by itself. */
#include "ir/print/print.h"

static void print_named(Printer *p, Node *f, const char *name) {
  if (IS(PrimFunc, f)) print_prim_func(p, AS(PrimFunc, f), name);
  else if (IS(Function, f)) print_function(p, AS(Function, f), name);
  else line(p, "%s = %s", name, attr_text(p, f));
}

static void print_dict_line(Printer *p, const char *name, Node *dict) {
  if (!dict || !AS(Dict, dict)->keys.len) return;
  line(p, "%s(%s)", name, attr_text(p, dict));
}

/* Names of external functions come first: they are read before functions are. */
static void print_members(Printer *p, IRModule *m, bool external, bool *first) {
  for (int i = 0; i < m->functions.len; i++) {
    if (IS(ExternFunc, m->functions.at[i]) != external) continue;
    if (!*first) str_add_char(&p->out, '\n');
    *first = false;
    print_named(p, m->functions.at[i], AS(GlobalVar, m->globals.at[i])->name);
  }
}

void print_module(Printer *p, IRModule *m) {
  p->class_name = module_fresh_name(&m->node, "Module");
  p->module = m;
  bool rewriter = dict_get(m->attrs, "relax.rewriter") != NULL;
  line(p, "%s%s", rewriter ? "@R.rewriter" : "@I.ir_module",
       p->options.unchecked ? "(check_well_formed=False)" : "");
  line(p, "class %s:", p->class_name);
  p->indent++;
  print_dict_line(p, "I.module_attrs",
                  rewriter ? dict_with(m->attrs, "relax.rewriter", NULL) : m->attrs);
  print_dict_line(p, "I.module_global_infos", m->global_infos);
  bool first = p->out.at[p->out.len - 2] == ':';
  if (!m->functions.len && first) line(p, "pass");
  print_members(p, m, true, &first);
  print_members(p, m, false, &first);
  p->indent--;
}

/* The comment lines that tell a reader where T, R and I come from, and dims of whole texts. */
static void print_header(Str *out, const char *body, const Printer *p) {
  const char *tir = p->options.tvm_style ? "tirx" : "tir";
  if (p->type_vars.len) str_add(out, "# from typing import TypeVar\n");
  if (strstr(body, "I.")) str_add(out, "# from tvm.script import ir as I\n");
  if (strstr(body, "T.")) str_printf(out, "# from tvm.script import %s as T\n", tir);
  if (strstr(body, "Tx.")) str_add(out, "# from tvm.script.tirx import tile as Tx\n");
  if (strstr(body, "Axis.")) str_add(out, "# from tvm.tirx.layout import Axis\n");
  if (strstr(body, "R.")) str_add(out, "# from tvm.script import relax as R\n");
  str_add_char(out, '\n');
  for each (const char *, name, &p->type_vars)
    str_printf(out, "%s = TypeVar(\"%s\")\n", *name, *name);
  if (p->type_vars.len) str_add_char(out, '\n');
}

bool print_style_parse(const char *name, PrintOptions *options) {
  options->tvm_style = str_same(name, "tvm");
  return options->tvm_style || str_same(name, "default");
}

bool print_constants_parse(const char *name, PrintOptions *options) {
  static const char *const names[] = {[CONSTANTS_BY_REFERENCE] = "reference",
                                      [CONSTANTS_INLINE] = "inline",
                                      [CONSTANTS_METADATA] = "metadata"};
  for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
    if (str_same(names[i], name)) return options->constants = (PrintConstants)i, true;
  return false;
}

static WalkResult stop_at_reference(Walker *w, Node *n) {
  (void)w;
  return IS(MetadataRef, n) ? WALK_STOP : WALK_ON;
}

/* Metadata of its own would give another meaning to the references that a text came with. */
static bool has_references(Node *n) {
  Walker w = {.enter = stop_at_reference, .once = true};
  return !walk(&w, n);
}

static bool names_metadata(const Printer *p) {
  return p->options.constants == CONSTANTS_METADATA && p->metadata.len;
}

const char *ir_print(Node *n, const PrintOptions *options) {
  Printer p = {.options = options ? *options : (PrintOptions){0}};
  if (!n) return "None";
  bool whole = IS(IRModule, n) || IS(PrimFunc, n) || IS(Function, n);
  const char *symbol = func_symbol(n);
  bool piece = node_family(n->kind) == FAMILY_STMT || node_is_expr(n) || IS(Buffer, n) ||
               IS(BufferRegion, n) || IS(IterVar, n);
  if (p.options.declares && piece) declare_free(&p, n);
  if (IS(IRModule, n)) print_module(&p, AS(IRModule, n));
  else if (whole) print_named(&p, n, symbol ? symbol : "main");
  else if (node_family(n->kind) == FAMILY_STMT) print_stmt(&p, n, true);
  else if (node_is_expr(n)) print_expr(&p, n);
  else print_attr(&p, n);
  if (names_metadata(&p) && has_references(n)) {
    p.options.constants = CONSTANTS_INLINE;
    return ir_print(n, &p.options);
  }
  if (!whole) return str_text(&p.out);
  Str out = {0};
  print_header(&out, str_text(&p.out), &p);
  if (names_metadata(&p)) print_metadata(&out, &p.metadata);
  str_add_n(&out, p.out.at, p.out.len);
  return str_text(&out);
}
