/* test_pass.c -- tests of passes: the module Before, run through a pipeline, must equal the module
 * Expected. */
#include "lang/dialect/packed.h"
#include "lang/tool/test.h"
#include "passes/passes.h"
#include "lang/value/object.h"

/* The value of a global as a module; a lone function is called main on both sides. */
static Node *module_named(Session *s, const char *name, Span span) {
  Value *v = names_get(&s->globals->names, str_intern(name));
  if (!v) {
    diag_error(span, "the case defines no %s", name);
    return NULL;
  }
  if (!value_is_node(*v, NK_PrimFunc) && !value_is_node(*v, NK_Function))
    return to_module(*v, span);
  Node *f = func_with_attr(v->node, "global_symbol", string_imm("main", span));
  return to_module(value_node(f), span);
}

typedef struct PassTest {
  Session *session;
  const char *pipeline, *target; /* target: NULL, or what stands behind "for" */
  Span span;
  bool ok;
} PassTest;

static void run_pass_test(void *context) {
  PassTest *t = context;
  Node *before = module_named(t->session, "Before", t->span),
       *expected = module_named(t->session, "Expected", t->span);
  if (!before || !expected) return;
  Pipeline pipeline = pipeline_parse(t->pipeline, t->span);
  const Target *target = t->target ? target_parse(t->target, t->span) : NULL;
  Node *after = pipeline_run(&pipeline, before, target, &(Instruments){.verify_each = true});
  const char *why = NULL;
  t->ok = node_equal(after, expected, false, &why);
  if (t->ok) return;
  Diag *d =
      diag_error(t->span, "after %s the module differs from Expected at %s", t->pipeline, why);
  diag_help(d, "found and expected:\n%s", ir_print_diff(after, expected));
}

/* "Simplify for llvm": a pipeline, and the target that its passes may ask about. */
static void split_argument(PassTest *t, const char *argument) {
  static const char word[] = " for ";
  const char *at = strstr(argument, word);
  t->pipeline = at ? str_copy_n(argument, (size_t)(at - argument)) : argument;
  t->target = at ? at + strlen(word) : NULL;
}

bool test_pass(const TestCase *t) {
  PassTest test = {.session = session_new(t->path)};
  split_argument(&test, t->argument);
  const Source *source = test_source(t);
  test.span = (Span){source->base, source->base};
  const char *line = strstr(source->text, "# TEST:");
  if (line) {
    test.span.lo = source->base + (uint32_t)(line - source->text);
    test.span.hi = test.span.lo + (uint32_t)strcspn(line, "\n");
  }
  if (!session_run(test.session, source, NULL)) return false;
  Error *e = eval_protect(run_pass_test, &test);
  if (e) error_report(e);
  return test.ok;
}
