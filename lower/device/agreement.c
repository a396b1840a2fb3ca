/* agreement.c -- what all threads of a block have the same: where they come together, and where a
 * barrier may stand.
 *
 * All is taken to agree but for the variables of threads; what follows from something that differs
 * differs, too, until nothing more does. Memory that each thread has for itself agrees as a whole,
 * if all that is stored there does, at places that do, where all threads come. Shared and global
 * memory is the same for all who read it between the same barriers.
 * See: Karrenberg and Hack, Improving Performance of OpenCL on CPUs (2012). */
#include "lower/device/device.h"
#include "passes/tensor/tensor.h"

/* ---- expressions ---- */

static const char *scope_of_pointer(const Node *data) {
  const char *scope = IS(Var, data) ? ((const Var *)(const void *)data)->scope : NULL;
  return scope ? scope : "global";
}

/* Its scope is none that a whole block sees. */
static bool is_private(const Node *data) {
  const char *scope = scope_of_pointer(data);
  return !str_same(scope, "global") && !str_begins(scope, "shared");
}

static bool is_agreed(const Agreement *a, const Node *data) {
  return !is_private(data) || map_has(&a->agreed, data);
}

/* What atomics and calls of elsewhere give is not the same twice. */
static bool call_differs(Node *n) {
  const Intrin *in = intrin_of(AS(Call, n)->op);
  return !in || in->effect == EFFECT_STATE || is_intrin_call(n, "tvm_warp_activemask") ||
         is_intrin_call(n, "call_pure_extern") || is_intrin_call(n, "call_llvm_pure_intrin");
}

static WalkResult find_difference(Walker *w, Node *n) {
  const Agreement *a = w->context;
  if (IS(Var, n) && map_has(&a->differs, n)) return WALK_STOP;
  if (IS(BufferLoad, n) && !is_agreed(a, AS(Buffer, AS(BufferLoad, n)->buffer)->data))
    return WALK_STOP;
  if (is_intrin_call(n, "tvm_thread_invariant")) return WALK_PRUNE;
  if (IS(Call, n) && call_differs(n)) return WALK_STOP;
  return IS(Buffer, n) ? WALK_PRUNE : WALK_ON;
}

bool may_differ(const Agreement *a, Node *n) {
  Walker w = {.enter = find_difference, .context = (void *)(uintptr_t)a};
  return n && !walk(&w, n);
}

bool threads_part(const Agreement *a, Node *n) {
  if (IS(IfThenElse, n)) return may_differ(a, AS(IfThenElse, n)->cond);
  if (map_has(&a->ragged, n)) return true;
  return may_differ(a, IS(For, n) ? AS(For, n)->extent : AS(While, n)->cond);
}

/* ---- statements ---- */

typedef struct Search {
  Agreement *a;
  bool more;     /* something new was found to differ */
  bool diverges; /* not all threads come here */
  Node *loop;    /* innermost */
  Node *skip;    /* ends its step for some threads: they don't come to the rest of it; or NULL */
  Node *end;     /* leaves the function for some threads, or NULL */
} Search;

static void differ(Search *s, Node *var) {
  s->more |= !map_has(&s->a->differs, var);
  map_set(&s->a->differs, var, var);
}

static void disagree(Search *s, Node *data) { s->more |= map_remove(&s->a->agreed, data); }

/* A pointer by itself: who gets it may store there. */
static WalkResult find_pointers(Walker *w, Node *n) {
  Search *s = w->context;
  if (IS(Var, n)) disagree(s, n);
  if (is_intrin_call(n, "address_of") && IS(BufferLoad, AS(Call, n)->args.at[0]))
    disagree(s, AS(Buffer, AS(BufferLoad, AS(Call, n)->args.at[0])->buffer)->data);
  return IS(Buffer, n) ? WALK_PRUNE : WALK_ON;
}

static void search_expr(Search *s, Node *e) {
  Walker w = {.enter = find_pointers, .context = s};
  if (e) walk(&w, e);
}

static void search(Search *s, Node *n);

static void part_in(Search *s, Node *loop, Node *jump) {
  if (!loop || map_has(&s->a->ragged, loop)) return;
  map_set(&s->a->ragged, loop, jump);
  s->more = true;
}

/* The body of a loop, or an arm of a branch. */
static void search_part(Search *s, Node *head, Node *body) {
  bool is_loop = !IS(IfThenElse, head), outer = s->diverges;
  Node *loop = s->loop, *skip = s->skip, *end = s->end;
  s->diverges |= threads_part(s->a, head);
  if (is_loop) s->loop = head;
  if (body) search(s, body);
  if (is_loop && s->end != end) part_in(s, head, s->end);
  if (is_loop) s->skip = skip;
  s->diverges = outer || s->end || s->skip;
  s->loop = loop;
}

/* A jump that not all threads take, or a barrier after one. */
static void search_jump(Search *s, Node *call) {
  bool leaves = is_intrin_call(call, "ret") || is_intrin_call(call, "thread_return");
  if (s->skip && waits_for_block(call)) part_in(s, s->loop, s->skip);
  if (!s->diverges) return;
  if (leaves && !s->end) s->end = call, s->more = true;
  if (is_intrin_call(call, "break_loop")) part_in(s, s->loop, call);
  if (is_intrin_call(call, "continue_loop")) s->skip = call;
}

static void search_store(Search *s, BufferStore *n) {
  Node *data = AS(Buffer, n->buffer)->data;
  bool same = !s->diverges && !may_differ(s->a, n->value) && !may_differ(s->a, n->predicate);
  for each (Node *, i, &n->indices) {
    search_expr(s, *i);
    same = same && !may_differ(s->a, *i);
  }
  search_expr(s, n->value);
  if (!same) disagree(s, data);
}

static void search_for(Search *s, For *f) {
  bool is_thread = f->loop_kind == LOOP_THREAD && launch_axis(f->thread_tag) >= 3;
  bool begins_apart = may_differ(s->a, f->min);
  search_expr(s, f->min);
  search_expr(s, f->extent);
  if (is_thread || begins_apart) differ(s, f->var);
  search_part(s, &f->node, f->body);
}

static void search_one(Search *s, Node *n) {
  switch (n->kind) {
  case NK_SeqStmt:
    for each (Node *, x, &AS(SeqStmt, n)->stmts) search(s, *x);
    break;
  case NK_For: search_for(s, AS(For, n)); break;
  case NK_While:
    search_expr(s, AS(While, n)->cond);
    search_part(s, n, AS(While, n)->body);
    break;
  case NK_IfThenElse: {
    IfThenElse *branch = AS(IfThenElse, n);
    search_expr(s, branch->cond);
    search_part(s, n, branch->then);
    search_part(s, n, branch->orelse);
    break;
  }
  case NK_BufferStore: search_store(s, AS(BufferStore, n)); break;
  case NK_Evaluate:
    search_expr(s, AS(Evaluate, n)->value);
    search_jump(s, AS(Evaluate, n)->value);
    break;
  default: break;
  }
}

static void search(Search *s, Node *n) {
  for (Node **rest; n; n = *rest) {
    if (IS(LetStmt, n)) {
      search_expr(s, AS(LetStmt, n)->value);
      if (may_differ(s->a, AS(LetStmt, n)->value)) differ(s, AS(LetStmt, n)->var);
    }
    if (IS(AssertStmt, n)) search_expr(s, AS(AssertStmt, n)->cond);
    if (is_launch(n) && launch_axis(launch_tag(n)) >= 3)
      differ(s, AS(IterVar, AS(AttrStmt, n)->subject)->var);
    rest = stmt_rest(n);
    if (!rest) return search_one(s, n);
  }
}

static WalkResult note_private(Walker *w, Node *n) {
  if (IS(Allocate, n) && str_same(scope_of_pointer(AS(Allocate, n)->var), "local"))
    map_set(w->context, AS(Allocate, n)->var, n);
  return node_is_expr(n) ? WALK_PRUNE : WALK_ON;
}

void agree_in(Agreement *a, Node *body) {
  Walker w = {.enter = note_private, .context = &a->agreed};
  walk(&w, body);
  Search s = {.a = a};
  do {
    s.more = false;
    s.diverges = s.end != NULL;
    search(&s, body);
  } while (s.more);
}
