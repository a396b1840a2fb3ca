/* parallel.c -- parallel loops: the body becomes a function that runs a part of the range.
 *
 * Two functions are made. f_parallel has the variables that the body uses as parameters, so
 * pointers that are known to be distinct stay so; it runs iterations [begin, end). f_closure, which
 * tvms_parallel calls, unpacks them from a struct that lies in the function with the loop. */
#include "target/c/c.h"
#include "target/work.h"

typedef struct ParallelLoop {
  For *loop;
  NodeVec vars;
  const char *body, *closure, *type; /* names */
} ParallelLoop;

static ParallelLoop loop_new(CGen *g, For *n) {
  int number = g->f->parallel_loops++;
  const char *stem = number ? str_format("%s_%d", g->f->c_name, number + 1) : g->f->c_name;
  return (ParallelLoop){n, lowered_captures(n, &g->f->values),
                        c_name(str_format("%s_parallel", stem), &g->names, NULL),
                        c_name(str_format("%s_closure", stem), &g->names, NULL),
                        c_name(str_format("%s_variables", stem), &g->names, NULL)};
}

static const char *parameters(CGen *g, CFunc *outer, CFunc *inner, const NodeVec *vars) {
  Str s = {0};
  for each (Node *, var, vars) {
    CVar *v = map_get(&inner->values, *var);
    bool restricted = map_has(&outer->distinct, *var);
    const char *constant = v->is_const ? "const " : "";
    if (restricted) str_printf(&s, "%s%srestrict %s, ", constant, c_pointer(g, v->elem), v->name);
    else str_printf(&s, "%s, ", c_declare(g, *var, v));
  }
  return str_text(&s);
}

/* The loop over its part, as a function before the one with the loop. */
static void write_body(CGen *g, ParallelLoop *p) {
  CFunc *outer = g->f;
  Str lines = {0};
  CUses uses = c_uses_of(p->loop->body);
  CFunc f = {.sort = CFUNC_PARALLEL_BODY,
             .uses = &uses,
             .name = outer->name,
             .c_name = p->body,
             .result = VOID_TYPE,
             .may_alias = outer->may_alias,
             .depth = 1,
             .out = &lines};
  g->f = &f;
  c_name("begin", &f.names, NULL);
  c_name("end", &f.names, NULL);
  for each (Node *, var, &p->vars) {
    CVar *v = c_bind(g, *var);
    CVar *seen = map_get(&outer->values, *var);
    v->elem = seen->elem;
    v->is_const = seen->is_const;
    Range64 *known = map_get(&outer->ranges.vars, *var);
    if (known) range_bind(&f.ranges, *var, *known);
    if (map_has(&outer->distinct, *var)) map_set(&f.distinct, *var, *var);
  }
  c_mark_unused(g, &p->vars);
  DataType t = p->loop->var->dtype;
  CText begin = {"begin", BINDS_ATOM}, end = {"end", BINDS_ATOM};
  c_loop(g, p->loop, c_cast(g, begin, INT64, t).at, c_cast(g, end, INT64, t).at);
  c_line(g, "return 0;");
  g->f = outer;
  str_printf(&g->functions, "\nstatic int32_t %s(%sint64_t begin, int64_t end) {\n%s}\n", p->body,
             parameters(g, outer, &f, &p->vars), str_text(&lines));
}

static void write_closure(CGen *g, ParallelLoop *p) {
  Str fields = {0}, args = {0};
  for each (Node *, var, &p->vars) {
    CVar *v = map_get(&g->f->values, *var);
    str_printf(&fields, "  %s;\n", c_declare(g, *var, v));
    str_printf(&args, "v->%s, ", v->name);
  }
  if (p->vars.len)
    str_printf(&g->functions, "\ntypedef struct %s {\n%s} %s;\n", p->type, str_text(&fields),
               p->type);
  const char *unpack =
      p->vars.len ? str_format("const %s *v = variables;", p->type) : "(void)variables;";
  str_printf(&g->functions,
             "\nstatic int32_t %s(void *variables, int64_t begin, int64_t end) {\n  %s\n"
             "  return %s(%sbegin, end);\n}\n",
             p->closure, unpack, p->body, str_text(&args));
}

/* The struct with the variables, or NULL if there are none. */
static const char *fill_closure(CGen *g, ParallelLoop *p) {
  Str values = {0};
  for each (Node *, var, &p->vars) {
    CVar *v = map_get(&g->f->values, *var);
    str_printf(&values, "%s.%s = %s", values.len ? ", " : "", v->name, v->name);
  }
  if (!p->vars.len) return "NULL";
  const char *name = c_name("variables", &g->f->names, &g->names);
  c_line(g, "%s %s = {%s};", p->type, name, str_text(&values));
  return str_format("&%s", name);
}

void c_parallel(CGen *g, For *n) {
  ParallelLoop p = loop_new(g, n);
  CText min = c_cast(g, c_operand(g, n->min), n->min->dtype, INT64);
  CText extent = c_cast(g, c_operand(g, n->extent), n->extent->dtype, INT64);
  CText grain = c_operand(g, work_grain(n));
  write_body(g, &p);
  write_closure(g, &p);
  const char *variables = fill_closure(g, &p);
  c_fail_if(g, str_format("tvms_parallel((void *)(uintptr_t)%s, %s, %s, %s, %s) != 0", p.closure,
                          variables, min.at, extent.at, grain.at));
}
