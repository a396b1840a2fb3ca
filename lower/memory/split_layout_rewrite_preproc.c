/* split_layout_rewrite_preproc.c -- what kernels do to constants ahead of all else is done now.
 *
 * In:  kernels whose outermost blocks are marked meta_schedule.layout_rewrite_preproc where they
 * only read parameters that layout_free_buffers names, or what such blocks write; calls with
 * constants there. Out: kernels without these nests, which take what they made in the place of the
 * constants; calls with what they compute. A kernel stays as it is where they can't be run. */
#include "lower/memory/memory.h"

/* Results for the constants of a call: others may have the same. */
typedef struct Done {
  NodeVec operands, results;
} Done;

/* A kernel in two parts: what runs ahead takes `sources` and makes `made`. */
typedef struct Parts {
  PrimFunc *f;
  Node *global, *ahead; /* of the rest, and the program that runs ahead; NULL: it is one part */
  NodeVec made;         /* buffers that the rest takes */
  VEC(int) sources;     /* numbers of parameters */
  bool *kept;           /* of each parameter: does the rest still take it? */
  VEC(Done) done;
} Parts;

typedef struct Split {
  Node *module;
  Map parts; /* interned name of a kernel to its Parts */
} Split;

/* ---- nests ---- */

/* What statements mention, and what of it they write. */
typedef struct Mentions {
  Map mentioned, written; /* buffers, and their data */
} Mentions;

static WalkResult note_mention(Walker *w, Node *n) {
  Mentions *m = w->context;
  if (IS(Buffer, n)) map_set(&m->mentioned, n, n), map_set(&m->mentioned, AS(Buffer, n)->data, n);
  if (IS(Var, n)) map_set(&m->mentioned, n, n);
  if (IS(BufferStore, n)) map_set(&m->written, AS(BufferStore, n)->buffer, n);
  return WALK_ON;
}

static Mentions mentions_of(const NodeVec *stmts) {
  Mentions m = {0};
  Walker w = {.enter = note_mention, .context = &m};
  for each (Node *, s, stmts) walk(&w, *s);
  return m;
}

static WalkResult find_mark(Walker *w, Node *n) {
  if (!IS(Block, n)) return WALK_ON;
  bool *marked = w->context;
  *marked = dict_get_int(AS(Block, n)->annotations, "meta_schedule.layout_rewrite_preproc", 0) != 0;
  return *marked ? WALK_PRUNE : WALK_STOP;
}

static bool is_marked(Node *nest) {
  bool marked = false;
  Walker w = {.enter = find_mark, .context = &marked};
  return walk(&w, nest) && marked;
}

static bool is_free(PrimFunc *f, int param) {
  Node *attr = func_attr(&f->node, "layout_free_buffers");
  int64_t number;
  if (!IS(Array, attr)) return false;
  for each (Node *, i, &AS(Array, attr)->items)
    if (expr_is_const_int(*i, &number) && number == param) return true;
  return false;
}

static bool mentions_param(const Mentions *m, PrimFunc *f, int i) {
  Node *buffer = f->buffers.at[i];
  return map_has(&m->mentioned, f->params.at[i]) ||
         (buffer &&
          (map_has(&m->mentioned, buffer) || map_has(&m->mentioned, AS(Buffer, buffer)->data)));
}

/* Do the nests touch no other memory than constants and what the rest does not write? */
static bool may_run_ahead(PrimFunc *f, const Mentions *ahead, const Mentions *rest) {
  for (int i = 0; i < f->params.len; i++)
    if (!is_free(f, i) && mentions_param(ahead, f, i)) return false;
  for (int i = 0; i < rest->written.len; i++)
    if (map_has(&ahead->mentioned, rest->written.at[i].key)) return false;
  return true;
}

/* ---- kernels ---- */

static Node *body_of(Block *root, NodeVec stmts, NodeVec buffers) {
  Block b = *root;
  Span span = root->node.span;
  b.body = stmt_seq(stmts, span);
  b.alloc_buffers = buffers;
  return MAKE(BlockRealize, span, VOID_TYPE, .predicate = int_imm(BOOL, 1, span),
              .block = gc_copy(&b, sizeof b));
}

static void push_param(PrimFunc *out, Node *param, Node *buffer) {
  vec_push(&out->params, param);
  vec_push(&out->buffers, buffer);
}

static void push_made(PrimFunc *out, const Parts *p) {
  for each (Node *, b, &p->made) {
    Buffer *buffer = AS(Buffer, *b);
    push_param(out, var_new(buffer->name, HANDLE, buffer->node.span), *b);
  }
}

/* The program with other parameters and another body. */
static PrimFunc like(PrimFunc *f, Node *body) {
  PrimFunc out = *f;
  out.params = out.buffers = (NodeVec){0};
  out.sinfo = NULL;
  out.body = body;
  out.attrs = dict_with(out.attrs, "layout_free_buffers", NULL);
  return out;
}

static Node *program_ahead(Parts *p, Block *root, NodeVec stmts, const Mentions *m) {
  NodeVec buffers = {0};
  Map made = {0};
  for each (Node *, b, &p->made) map_set(&made, *b, *b);
  for each (Node *, b, &root->alloc_buffers)
    if (map_has(&m->mentioned, *b) && !map_has(&made, *b)) vec_push(&buffers, *b);
  PrimFunc out = like(p->f, body_of(root, stmts, buffers));
  for each (int, i, &p->sources) push_param(&out, p->f->params.at[*i], p->f->buffers.at[*i]);
  push_made(&out, p);
  return copy_with_fresh_vars(gc_copy(&out, sizeof out));
}

/* What is made stands before the outputs, in the place of the last source. */
static Node *program_after(Parts *p, Block *root, NodeVec stmts, const Mentions *ahead) {
  NodeVec buffers = {0};
  for each (Node *, b, &root->alloc_buffers)
    if (!map_has(&ahead->mentioned, *b)) vec_push(&buffers, *b);
  PrimFunc out = like(p->f, body_of(root, stmts, buffers));
  for (int i = 0; i < p->f->params.len; i++) {
    if (p->kept[i]) push_param(&out, p->f->params.at[i], p->f->buffers.at[i]);
    if (i == vec_last(&p->sources)) push_made(&out, p);
  }
  return copy_with_fresh_vars(gc_copy(&out, sizeof out));
}

static bool has_known_shape(Node *buffer) {
  int64_t extent;
  for each (Node *, d, &AS(Buffer, buffer)->shape)
    if (!expr_is_const_int(*d, &extent)) return false;
  return true;
}

/* False if there is nothing to do ahead. */
static bool cut(Parts *p, Block *root, NodeVec *ahead, NodeVec *rest) {
  if (!IS(SeqStmt, root->body) || !func_attr(&p->f->node, "layout_free_buffers")) return false;
  for each (Node *, s, &AS(SeqStmt, root->body)->stmts) vec_push(is_marked(*s) ? ahead : rest, *s);
  return ahead->len && rest->len;
}

static Parts *parts_of(Split *split, Node *global) {
  const char *name = str_intern(AS(GlobalVar, global)->name);
  Parts *p = map_get(&split->parts, name);
  Node *found = module_find(split->module, name);
  if (p || !IS(PrimFunc, found)) return p;
  map_set(&split->parts, name, p = NEW(Parts, .f = AS(PrimFunc, found)));
  Node *body = p->f->body;
  NodeVec ahead = {0}, rest = {0};
  Block *root = IS(BlockRealize, body) ? AS(Block, AS(BlockRealize, body)->block) : NULL;
  if (!root || root->iter_vars.len || !cut(p, root, &ahead, &rest)) return p;
  Mentions before = mentions_of(&ahead), after = mentions_of(&rest);
  if (!may_run_ahead(p->f, &before, &after)) return p;
  int n = p->f->params.len;
  p->kept = (bool *)(void *)NEW_BYTES(sizeof(bool) * (size_t)(n + 1));
  for (int i = 0; i < n; i++) {
    bool is_source = mentions_param(&before, p->f, i);
    if (is_source) vec_push(&p->sources, i);
    p->kept[i] = !is_source || mentions_param(&after, p->f, i);
  }
  for each (Node *, b, &root->alloc_buffers)
    if (map_has(&before.written, *b) && map_has(&after.mentioned, *b)) vec_push(&p->made, *b);
  for each (Node *, b, &p->made)
    if (!has_known_shape(*b)) return p;
  if (!p->sources.len || !p->made.len) return p;
  p->ahead = program_ahead(p, root, ahead, &before);
  Node *program = program_after(p, root, rest, &before);
  const char *fresh = module_fresh_name(split->module, str_format("%s_packed", name));
  p->global = MAKE(GlobalVar, found->span, VOID_TYPE, .sinfo = sinfo_object(), .name = fresh);
  split->module = module_with(split->module, p->global, program);
  return p;
}

/* ---- calls ---- */

static bool same_data(const NodeVec *a, const NodeVec *b) {
  for (int i = 0; i < a->len; i++)
    if (AS(Constant, a->at[i])->data != AS(Constant, b->at[i])->data) return false;
  return true;
}

/* What is made of the constants of a call; NULL if that fails. */
static const NodeVec *results_of(Parts *p, const NodeVec *args) {
  Done done = {0};
  NodeVec infos = {0};
  for each (int, i, &p->sources) vec_push(&done.operands, args->at[*i]);
  for each (Done, d, &p->done)
    if (same_data(&d->operands, &done.operands)) return &d->results;
  for each (Node *, b, &p->made)
    vec_push(&infos, sinfo_tensor(AS(Buffer, *b)->shape, AS(Buffer, *b)->elem, (*b)->span));
  if (!evaluate_program_hook ||
      !evaluate_program_hook(p->ahead, done.operands, infos, &done.results))
    return NULL;
  vec_push(&p->done, done);
  return &vec_last(&p->done).results;
}

static Node *packed_call(Parts *p, Node *binding) {
  RelaxCall c = *AS(RelaxCall, AS(VarBinding, binding)->value);
  const NodeVec *results = results_of(p, &c.args);
  if (!results) return binding;
  NodeVec args = {0};
  for (int i = 0; i < c.args.len; i++) {
    if (i >= p->f->params.len || p->kept[i]) vec_push(&args, c.args.at[i]);
    if (i == vec_last(&p->sources))
      for each (Node *, r, results) vec_push(&args, *r);
  }
  c.op = p->global;
  c.args = args;
  return memory_bind(AS(VarBinding, binding)->var, gc_copy(&c, sizeof c));
}

/* Of the kernel that a binding calls; NULL if it is one part. */
static Parts *called_parts(Split *split, Node *binding) {
  Node *call = IS(VarBinding, binding) ? AS(VarBinding, binding)->value : NULL;
  bool is_direct = IS(RelaxCall, call) && IS(GlobalVar, AS(RelaxCall, call)->op);
  Parts *p = is_direct ? parts_of(split, AS(RelaxCall, call)->op) : NULL;
  return p && p->global ? p : NULL;
}

static void find_programs(Bindings *b, NodeVec bindings, NodeVec *out) {
  for each (Node *, n, &bindings) {
    called_parts(b->context, *n);
    vec_push(out, *n);
  }
}

static void rewrite(Bindings *b, NodeVec bindings, NodeVec *out) {
  for each (Node *, n, &bindings) {
    Parts *p = called_parts(b->context, *n);
    vec_push(out, p ? packed_call(p, *n) : *n);
  }
}

static void prepare(const Split *split) {
  NodeVec programs = {0};
  for (int i = 0; i < split->parts.len; i++) {
    const Parts *p = split->parts.at[i].value;
    if (p && p->global) vec_push(&programs, p->ahead);
  }
  if (programs.len && prepare_programs_hook) prepare_programs_hook(programs);
}

Node *pass_split_layout_rewrite_preproc(Node *module, const PassContext *context) {
  (void)context;
  Split split = {.module = module};
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++) {
    Bindings b = {find_programs, &split};
    if (IS(Function, m->functions.at[i])) memory_rewrite(&b, m->functions.at[i]);
  }
  prepare(&split);
  for (int i = 0; i < m->functions.len; i++) {
    if (!IS(Function, m->functions.at[i])) continue;
    Bindings b = {rewrite, &split};
    Node *f = memory_rewrite(&b, m->functions.at[i]);
    if (f != m->functions.at[i]) split.module = module_with(split.module, m->globals.at[i], f);
  }
  return split.module;
}
