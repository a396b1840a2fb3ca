/* refuse.c -- how a refused step is told: the reason in words, and the function with the loop or
 * block that it is about underlined. */
#include "passes/schedule/schedule_impl.h"

typedef struct Find {
  const Node *target;
} Find;
static WalkResult find(Walker *w, Node *n) {
  return n == ((Find *)w->context)->target ? WALK_STOP : WALK_ON;
}
static bool holds(Node *func, const Node *stmt) {
  Find f = {stmt};
  Walker w = {.enter = find, .context = &f, .once = true};
  return !walk(&w, func);
}

/* The function of the module that has the statement: its text, or NULL. */
static const char *function_text(Node *module, Node *at) {
  IRModule *m = AS(IRModule, module);
  PrintOptions options = {.marked = NODES(at)};
  for each (Node *, f, &m->functions)
    if (IS(PrimFunc, *f) && holds(*f, at)) return ir_print(*f, &options);
  return NULL;
}

static const char *shown(const ScheduleCall *c, Node *at) {
  if (!at) return "";
  const char *text = function_text(c->before, at);
  if (!text) text = function_text(c->schedule->module, at);
  return str_format("\n%s", text ? text : ir_print(at, NULL));
}

void schedule_fail(ScheduleCall *c, Node *at, const char *format, ...) {
  ErrorRender level = c->schedule->options.render;
  if (level == RENDER_NONE) error_raisef("ScheduleError", c->span, "(not rendered)");
  va_list args;
  va_start(args, format);
  const char *reason = str_vformat(format, args);
  va_end(args);
  error_raisef("ScheduleError", c->span, "%s: %s%s", c->primitive->name, reason,
               level == RENDER_DETAIL ? shown(c, at) : "");
}
