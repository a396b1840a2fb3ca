/* verify_memory_plan.c -- does every read of a planned tensor find what was written to it?
 *
 * Looks at the planned function alone, as the machine will run it, and shares nothing with the
 * planner: each variable is a piece of a storage, from one byte to another. Whatever writes to a
 * piece spoils all others that may overlap it, but for a whole that is put together from views of
 * it. Reading a piece that is spoiled, or was given up by kill_tensor, is refused; so is one that
 * reaches out of its storage. Arms of an `if` begin alike; behind it, what either arm spoiled is
 * spoiled. */
#include "lower/memory/size_proof.h"

typedef enum { EMPTY, WRITTEN, ASSEMBLED, SPOILED, DEAD } State;

typedef struct Piece Piece;
struct Piece {
  Node *var, *storage; /* NULL: memory that is not planned */
  Node *begin, *end;
  Piece *base; /* that it is a view of */
  State state;
  Node *by; /* what spoiled it */
};
typedef VEC(Piece *) PieceVec;

/* The pieces that a value may be; of a tuple field by field. */
typedef struct Held Held;
struct Held {
  bool is_tuple;
  VEC(Held *) fields;
  PieceVec pieces;
};

typedef struct Check {
  Node *module;
  Map held;     /* RelaxVar to Held */
  Map storages; /* RelaxVar to its size */
  Map effects;  /* PrimFunc to KernelEffects */
  PieceVec all;
  PieceVec alive; /* all that are not dead, perhaps some that are */
  SizeFacts sizes;
} Check;

/* ---- pieces ---- */

static bool is_base_of(const Piece *base, const Piece *p) {
  for (p = p->base; p; p = p->base)
    if (p == base) return true;
  return false;
}

/* Where a view lies may be told in dims of its own: it is apart from what its whole is apart from.
 */
static bool may_overlap(Check *c, const Piece *a, const Piece *b) {
  bool apart = a->storage != b->storage || size_within(&c->sizes, a->end, b->begin) ||
               size_within(&c->sizes, b->end, a->begin);
  return !apart && (!a->base || may_overlap(c, a->base, b)) &&
         (!b->base || may_overlap(c, a, b->base));
}

static void spoil(Piece *p, Node *by) {
  p->state = SPOILED;
  p->by = by;
}

/* Of thousands of pieces few are alive at a time. */
static void drop_dead(Check *c) {
  int kept = 0;
  for each (Piece *, p, &c->alive)
    if ((*p)->state != DEAD) c->alive.at[kept++] = *p;
  c->alive.len = kept;
}

static void write_piece(Check *c, Piece *w) {
  drop_dead(c);
  for each (Piece *, it, &c->alive) {
    Piece *p = *it;
    if (p == w || p->storage == NULL || p->storage != w->storage) continue;
    if (is_base_of(p, w)) {
      if (p->state == EMPTY || p->state == ASSEMBLED) p->state = ASSEMBLED;
      else if (p->state == WRITTEN) spoil(p, w->var);
      continue;
    }
    if ((p->state != WRITTEN && p->state != ASSEMBLED) || !may_overlap(c, p, w)) continue;
    spoil(p, w->var);
    for (Piece *b = p->base; b && !is_base_of(b, w); b = b->base)
      if (b->state == ASSEMBLED) spoil(b, w->var);
    for (Piece *b = p->base; b; b = b->base) /* siblings in one whole */
      if (is_base_of(b, w) && b->state == ASSEMBLED) spoil(b, w->var);
  }
  if (w->state == DEAD) vec_push(&c->alive, w);
  w->state = WRITTEN;
}

static const char *name_of(Node *var) { return IS(RelaxVar, var) ? AS(RelaxVar, var)->name : "?"; }

static void read_piece(const Piece *p, const char *reader, Span span) {
  if (p->state == SPOILED)
    error_raisef("LowerError", span,
                 "memory plan: %s reads '%s', whose memory was written over by '%s'", reader,
                 name_of(p->var), name_of(p->by));
  if (p->state == DEAD)
    error_raisef("LowerError", span, "memory plan: %s reads '%s' after its memory was given up",
                 reader, name_of(p->var));
}

static void kill_piece(Check *c, Piece *dead) {
  for each (Piece *, p, &c->alive)
    if (*p == dead || is_base_of(dead, *p)) (*p)->state = DEAD;
}

/* ---- values ---- */

static Held *held_of(Check *c, Node *n);

static void flatten(const Held *h, PieceVec *out) {
  for each (Piece *, p, &h->pieces) vec_push(out, *p);
  for each (Held *, f, &h->fields) flatten(*f, out);
}

static Held *one_of(const Held *a, const Held *b) {
  Held *out = NEW(Held, 0);
  if (a->is_tuple && b->is_tuple && a->fields.len == b->fields.len) {
    out->is_tuple = true;
    for (int i = 0; i < a->fields.len; i++)
      vec_push(&out->fields, one_of(a->fields.at[i], b->fields.at[i]));
    return out;
  }
  flatten(a, &out->pieces);
  flatten(b, &out->pieces);
  return out;
}

static Held *held_of(Check *c, Node *n) {
  Held *known = IS(RelaxVar, n) ? map_get(&c->held, n) : NULL, *out = NEW(Held, 0);
  if (known) return known;
  if (IS(Tuple, n)) {
    out->is_tuple = true;
    for each (Node *, f, &AS(Tuple, n)->fields) vec_push(&out->fields, held_of(c, *f));
  } else if (IS(TupleGetItem, n)) {
    Held *whole = held_of(c, AS(TupleGetItem, n)->tuple);
    if (whole->is_tuple) return whole->fields.at[AS(TupleGetItem, n)->index];
    flatten(whole, &out->pieces);
  }
  return out;
}

static PieceVec pieces_of(Check *c, Node *n) {
  PieceVec out = {0};
  flatten(held_of(c, n), &out);
  return out;
}

static Held *new_piece(Check *c, Piece p) {
  Held *h = NEW(Held, 0);
  Piece *made = NEW(Piece, 0);
  *made = p;
  vec_push(&c->all, made);
  vec_push(&c->alive, made);
  vec_push(&h->pieces, made);
  return h;
}

/* ---- calls ---- */

typedef struct KernelEffects {
  bool *reads, *writes; /* for each parameter */
} KernelEffects;

typedef struct FindEffects {
  Map params; /* data pointer to the number of its parameter + 1 */
  KernelEffects *found;
} FindEffects;

static void note_access(FindEffects *f, Node *buffer, bool *of) {
  int i = (int)(intptr_t)map_get(&f->params, AS(Buffer, buffer)->data) - 1;
  if (i >= 0) of[i] = true;
}

static WalkResult find_effects(Walker *w, Node *n) {
  FindEffects *f = w->context;
  if (IS(BufferStore, n)) note_access(f, AS(BufferStore, n)->buffer, f->found->writes);
  if (IS(BufferLoad, n)) note_access(f, AS(BufferLoad, n)->buffer, f->found->reads);
  if (is_intrin_call(n, "address_of") && IS(BufferLoad, AS(Call, n)->args.at[0]))
    note_access(f, AS(BufferLoad, AS(Call, n)->args.at[0])->buffer, f->found->writes);
  int i = IS(Var, n) ? (int)(intptr_t)map_get(&f->params, n) - 1 : -1;
  if (i >= 0) f->found->reads[i] = f->found->writes[i] = true; /* a pointer may be used for both */
  return IS(Buffer, n) ? WALK_PRUNE : WALK_ON;
}

static KernelEffects *effects_of(Check *c, PrimFunc *f) {
  KernelEffects *known = map_get(&c->effects, f);
  if (known) return known;
  int n = f->params.len + 1;
  known = NEW(KernelEffects, NEW_ARRAY(bool, n), NEW_ARRAY(bool, n));
  FindEffects find = {.found = known};
  for (int i = 0; i < f->params.len; i++)
    if (f->buffers.at[i])
      map_set(&find.params, AS(Buffer, f->buffers.at[i])->data, (void *)(intptr_t)(i + 1));
  Walker w = {.enter = find_effects, .context = &find};
  walk(&w, f->body);
  map_set(&c->effects, f, known);
  return known;
}

static void check_kernel(Check *c, RelaxCall *call, PrimFunc *f, const char *name) {
  KernelEffects *e = effects_of(c, f);
  for (int i = 0; i < call->args.len && i < f->params.len; i++) {
    PieceVec pieces = pieces_of(c, call->args.at[i]);
    for each (Piece *, p, &pieces)
      if (e->reads[i] && !(e->writes[i] && (*p)->state == EMPTY))
        read_piece(*p, name, call->node.span);
  }
  for (int i = 0; i < call->args.len && i < f->params.len; i++) {
    PieceVec pieces = pieces_of(c, call->args.at[i]);
    for each (Piece *, p, &pieces)
      if (e->writes[i]) write_piece(c, *p);
  }
}

/* What nothing was written to yet is written, everything else read. */
static void check_other_call(Check *c, RelaxCall *call, const char *name) {
  PieceVec empty = {0};
  for each (Node *, a, &call->args) {
    PieceVec pieces = pieces_of(c, *a);
    for each (Piece *, p, &pieces)
      if ((*p)->state == EMPTY) vec_push(&empty, *p);
      else read_piece(*p, name, call->node.span);
  }
  for each (Piece *, p, &empty) write_piece(c, *p);
}

/* ---- bindings ---- */

static Node *number_of(Node *n, int64_t otherwise) {
  if (IS(PrimValue, n)) return expr_cast(INT64, AS(PrimValue, n)->value, n->span);
  return int_imm(INT64, otherwise, (Span){0});
}

static Held *placed_tensor(Check *c, Node *var, RelaxCall *call) {
  Node *storage = call->args.at[0], *size = map_get(&c->storages, storage);
  Node *begin = number_of(call->args.at[1], 0), *nbytes = memory_nbytes(call->sinfo);
  Piece p = {.var = var, .storage = storage, .begin = begin, .end = expr_add(begin, nbytes)};
  if (!size)
    error_raisef("LowerError", call->node.span, "memory plan: '%s' lies in no storage",
                 name_of(var));
  if (!size_within(&c->sizes, int_imm(INT64, 0, begin->span), begin) ||
      !size_within(&c->sizes, p.end, size))
    error_raisef("LowerError", call->node.span,
                 "memory plan: '%s' reaches from byte %s to %s, but the storage has %s",
                 name_of(var), ir_print(begin, NULL), ir_print(p.end, NULL), ir_print(size, NULL));
  return new_piece(c, p);
}

/* The bytes of a piece from begin to end, under another name. */
static Piece *part_of(Check *c, Piece *base, Node *var, Node *begin, Node *end) {
  State state = base->state == ASSEMBLED ? WRITTEN : base->state;
  Held *h = new_piece(c, (Piece){.var = var,
                                 .storage = base->storage,
                                 .begin = begin,
                                 .end = end,
                                 .base = base,
                                 .state = state,
                                 .by = base->by});
  return h->pieces.at[0];
}

/* Of memory that is not planned there is nothing to tell. */
static Held *viewed(Check *c, Node *var, RelaxCall *call) {
  PieceVec bases = pieces_of(c, call->args.at[0]);
  Held *out = NEW(Held, 0);
  Node *offset = call->args.len > 3 ? call->args.at[3] : NULL;
  for each (Piece *, b, &bases) {
    Node *begin = expr_add((*b)->begin, number_of(offset, 0));
    Node *end = expr_add(begin, memory_nbytes(call->sinfo));
    if (!size_within(&c->sizes, (*b)->begin, begin) || !size_within(&c->sizes, end, (*b)->end))
      error_raisef("LowerError", call->node.span, "memory plan: '%s' is no part of '%s'",
                   name_of(var), name_of((*b)->var));
    vec_push(&out->pieces, part_of(c, *b, var, begin, end));
  }
  return out;
}

static Held *check_call(Check *c, Node *var, RelaxCall *call) {
  Node *n = &call->node, *callee = NULL;
  if (is_op_call(n, "relax.memory.alloc_storage")) {
    map_set(&c->storages, var, AS(ShapeExpr, call->args.at[0])->values.at[0]);
    return NEW(Held, 0);
  }
  if (is_op_call(n, "relax.memory.alloc_tensor")) return placed_tensor(c, var, call);
  if (is_op_call(n, "relax.memory.view")) return viewed(c, var, call);
  if (is_op_call(n, "relax.memory.kill_tensor")) {
    PieceVec dead = pieces_of(c, call->args.at[0]);
    for each (Piece *, p, &dead) kill_piece(c, *p);
    return NEW(Held, 0);
  }
  if (IS(GlobalVar, call->op)) callee = module_find(c->module, AS(GlobalVar, call->op)->name);
  const char *name = IS(GlobalVar, call->op) ? AS(GlobalVar, call->op)->name
                     : IS(Op, call->op)      ? AS(Op, call->op)->name
                                             : "a call";
  if (IS(PrimFunc, callee)) check_kernel(c, call, AS(PrimFunc, callee), name);
  else check_other_call(c, call, name);
  return NEW(Held, 0);
}

static void check_seq(Check *c, SeqExpr *s, const char *reader);

typedef struct Saved {
  State *states;
  Node **by;
  int n;
} Saved;

static Saved save(Check *c) {
  Saved s = {NEW_ARRAY(State, c->all.len + 1), NEW_ARRAY(Node *, c->all.len + 1), c->all.len};
  for (int i = 0; i < s.n; i++) s.states[i] = c->all.at[i]->state, s.by[i] = c->all.at[i]->by;
  return s;
}

static Held *check_if(Check *c, RelaxIf *n) {
  SeqExpr *then = AS(SeqExpr, n->then), *orelse = AS(SeqExpr, n->orelse);
  PieceVec cond = pieces_of(c, n->cond);
  for each (Piece *, p, &cond) read_piece(*p, "a branch", n->node.span);
  Saved before = save(c);
  check_seq(c, then, "an arm");
  Saved first = save(c);
  for (int i = 0; i < before.n; i++) {
    c->all.at[i]->state = before.states[i];
    c->all.at[i]->by = before.by[i];
  }
  for (int i = before.n; i < first.n; i++) c->all.at[i]->state = EMPTY; /* of the other arm */
  c->alive = (PieceVec){0};
  for each (Piece *, p, &c->all) vec_push(&c->alive, *p);
  check_seq(c, orelse, "an arm");
  for (int i = 0; i < first.n; i++) {
    bool of_first = i >= before.n, worse = first.states[i] > c->all.at[i]->state;
    if (!of_first && !worse) continue;
    c->all.at[i]->state = first.states[i];
    c->all.at[i]->by = first.by[i];
  }
  return one_of(held_of(c, then->body), held_of(c, orelse->body));
}

typedef struct Reach {
  const Map *definitions;
  const Node *var;
} Reach;

static WalkResult find_reached(Walker *w, Node *n) {
  const Reach *r = w->context;
  if (!IS(Var, n)) return WALK_ON;
  Node *definition = map_get(r->definitions, n);
  return n == r->var || (definition && !walk(w, definition)) ? WALK_STOP : WALK_ON;
}

/* A dim that is compared with what it is part of, or that was told before, is defined by neither.
 */
static bool may_define(const Map *definitions, const Node *var, Node *value) {
  Reach r = {definitions, var};
  Walker w = {.enter = find_reached, .context = &r};
  return IS(Var, var) && !map_has(definitions, var) && walk(&w, value);
}

static void note_definition(Check *c, MatchCast *m) {
  if (!IS(ShapeExpr, m->value) || !IS(ShapeStructInfo, m->sinfo)) return;
  NodeVec vars = AS(ShapeStructInfo, m->sinfo)->values, values = AS(ShapeExpr, m->value)->values;
  for (int i = 0; i < vars.len && i < values.len; i++)
    if (may_define(&c->sizes.definitions, vars.at[i], values.at[i]))
      map_set(&c->sizes.definitions, vars.at[i], values.at[i]);
}

/* What has passed the cast has its dims, whichever arm of an `if` it comes from: its size is told
 * in them from here on, so that parts of it can be. */
static Held *cast_of(Check *c, MatchCast *m) {
  Held *value = held_of(c, m->value);
  NodeVec dims = {0};
  if (value->is_tuple || !IS(TensorStructInfo, m->sinfo) || !sinfo_tensor_shape(m->sinfo, &dims))
    return value;
  Held *out = NEW(Held, 0);
  for each (Piece *, p, &value->pieces) {
    Node *end = expr_add((*p)->begin, memory_nbytes(m->sinfo));
    bool same = node_equal(end, (*p)->end, false, NULL);
    vec_push(&out->pieces, same ? *p : part_of(c, *p, m->var, (*p)->begin, end));
  }
  return out;
}

static void check_seq(Check *c, SeqExpr *s, const char *reader) {
  for each (Node *, block, &s->blocks)
    for each (Node *, n, &AS(BindingBlock, *block)->bindings) {
      if (IS(MatchCast, *n)) {
        note_definition(c, AS(MatchCast, *n));
        map_set(&c->held, AS(MatchCast, *n)->var, cast_of(c, AS(MatchCast, *n)));
        continue;
      }
      VarBinding *b = AS(VarBinding, *n);
      Held *h = IS(RelaxCall, b->value) ? check_call(c, b->var, AS(RelaxCall, b->value))
                : IS(RelaxIf, b->value) ? check_if(c, AS(RelaxIf, b->value))
                                        : held_of(c, b->value);
      map_set(&c->held, b->var, h);
    }
  PieceVec left = pieces_of(c, s->body);
  for each (Piece *, p, &left) read_piece(*p, reader, s->node.span);
}

Node *pass_verify_memory_plan(Node *function, const PassContext *context) {
  Function *f = AS(Function, function);
  Check c = {.module = context->module, .sizes = {.f = f, .arith = memory_analyzer(f)}};
  check_seq(&c, AS(SeqExpr, f->body), "the result");
  return function;
}
