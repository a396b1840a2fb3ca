/* place_concat_operands.c -- what is to be joined is written where the whole wants it.
 *
 * In:  a = alloc; f(x, a); b = alloc; g(x, b); c = alloc; concat(a, b, c), where the kernel
 * `concat` copies its operands one behind the other, as a concat along the outer axis does. Out: c
 * = alloc; a = view(c, 0); f(x, a); b = view(c, ...); g(x, b). Operands that have to be where they
 * are, as parameters of the function, are copied, each by a kernel of its own, where the others
 * have no fewer bytes: c is needed before they are. */
#include "lower/memory/memory.h"

/* Where an operand lies in its whole. */
typedef struct Claim {
  Node *whole, *offset; /* in bytes */
} Claim;

typedef struct Join {
  const Target *target;
  Node *module; /* with the kernels made so far */
  Map made;     /* "kernel parameter", interned, to the GlobalVar of the kernel that copies it */
  Aliases aliases;
  Analyzer *arith; /* of the function at hand */
  Map entry_dims;  /* variables that are known where it begins */
  /* Of the list of bindings at hand: */
  Map allocs;  /* root to its binding */
  Map claims;  /* root to its Claim */
  Map dropped; /* calls that have nothing left to do, to NodeVec *: the copies in their place */
  Map emitted; /* roots whose binding stands already */
} Join;

static WalkResult stop_at_new_var(Walker *w, Node *n) {
  return IS(Var, n) && !map_has(w->context, n) ? WALK_STOP : WALK_ON;
}

static bool is_known_at_entry(Join *j, Node *sinfo) {
  Walker w = {.enter = stop_at_new_var, .context = &j->entry_dims};
  return walk(&w, sinfo);
}

/* The root whose memory the operand is all of, if it can be placed; else NULL. */
static Node *root_to_place(Join *j, Node *operand) {
  NodeVec roots = alias_roots(&j->aliases, operand);
  Node *root = roots.len == 1 ? roots.at[0] : NULL;
  bool can_be = root && map_has(&j->allocs, root) && !map_has(&j->claims, root) &&
                !map_has(&j->aliases.opaque, root);
  if (!can_be) return NULL;
  bool is_all = root == operand || node_equal(memory_nbytes(sinfo_of(root)),
                                              memory_nbytes(sinfo_of(operand)), false, NULL);
  return is_all ? root : NULL;
}

/* ---- operands that are copied ---- */

static bool tells_its_dims(Buffer *b) {
  int64_t extent;
  for each (Node *, d, &b->shape)
    if (!IS(Var, *d) && !expr_is_const_int(*d, &extent)) return false;
  return true;
}

static Node *buffer_like(Buffer *b, const char *name) {
  Buffer copy = *b;
  Var data = *AS(Var, b->data);
  copy.name = data.name = str_intern(name);
  copy.data = gc_copy(&data, sizeof data);
  return gc_copy(&copy, sizeof copy);
}

static Node *realized(Node *block, NodeVec values) {
  return MAKE(BlockRealize, block->span, VOID_TYPE, .iter_values = values,
              .predicate = int_imm(BOOL, 1, block->span), .block = block);
}

/* The loops around one block that copies element by element. */
static Node *copying_nest(Node *from, Node *to) {
  NodeVec shape = AS(Buffer, from)->shape, loops = {0}, vars = {0}, iters = {0};
  Span span = from->span;
  for (int i = 0; i < shape.len; i++) {
    DataType t = shape.at[i]->dtype;
    Node *var = var_new(str_format("v%d", i), t, span);
    Node *dom = MAKE(Range, span, VOID_TYPE, .min = int_imm(t, 0, span), .extent = shape.at[i]);
    vec_push(&loops, var_new(str_format("i%d", i), t, span));
    vec_push(&vars, var);
    vec_push(&iters,
             MAKE(IterVar, span, VOID_TYPE, .dom = dom, .var = var, .iter_kind = ITER_SPATIAL));
  }
  Node *load = MAKE(BufferLoad, span, AS(Buffer, from)->elem, .buffer = from, .indices = vars);
  Node *store = MAKE(BufferStore, span, VOID_TYPE, .buffer = to, .value = load, .indices = vars);
  Node *block =
      MAKE(Block, span, VOID_TYPE, .name = str_intern("copy"), .iter_vars = iters, .body = store);
  block_access_regions(block, NULL, &AS(Block, block)->reads, &AS(Block, block)->writes);
  Node *body = realized(block, loops);
  for (int i = shape.len - 1; i >= 0; i--)
    body = MAKE(For, span, VOID_TYPE, .min = int_imm(shape.at[i]->dtype, 0, span),
                .extent = shape.at[i], .var = loops.at[i], .body = body);
  Node *root = MAKE(Block, span, VOID_TYPE, .name = str_intern("root"), .body = body);
  return realized(root, (NodeVec){0});
}

/* The kernel that copies a tensor like parameter `param` of a kernel. */
static Node *copying_kernel(Join *j, Node *global, PrimFunc *f, int param) {
  const char *name = AS(GlobalVar, global)->name;
  const char *key = str_intern(str_format("%s %d", name, param));
  Node *made = map_get(&j->made, key);
  if (made) return made;
  Buffer *like = AS(Buffer, f->buffers.at[param]);
  Node *from = buffer_like(like, "source"), *to = buffer_like(like, "target");
  PrimFunc copy = *f;
  copy.sinfo = NULL;
  copy.params =
      NODES(var_new("source", HANDLE, f->node.span), var_new("target", HANDLE, f->node.span));
  copy.buffers = NODES(from, to);
  copy.body = copying_nest(from, to);
  copy.attrs = dict_with(f->attrs, "global_symbol", NULL);
  made = MAKE(GlobalVar, global->span, VOID_TYPE, .sinfo = sinfo_object(),
              .name = module_fresh_name(j->module, str_format("%s_copy", name)));
  j->module = module_with(j->module, made, copy_with_fresh_vars(gc_copy(&copy, sizeof copy)));
  map_set(&j->made, key, made);
  return made;
}

/* A view of the whole, and the call that fills it. */
static void push_copy(Join *j, RelaxCall *c, int param, Node *whole, Node *offset, NodeVec *out) {
  PrimFunc *f = AS(PrimFunc, module_find(j->module, AS(GlobalVar, c->op)->name));
  Node *operand = c->args.at[param], *sinfo = sinfo_of(operand);
  Node *part = memory_var("part", sinfo, c->node.span);
  vec_push(out, memory_bind(part, memory_view(whole, sinfo, offset, c->node.span)));
  RelaxCall call = *c;
  call.op = copying_kernel(j, c->op, f, param);
  call.args = NODES(operand, part);
  vec_push(out, memory_bind(memory_var("_", c->sinfo, c->node.span), gc_copy(&call, sizeof call)));
}

/* ---- concats ---- */

/* Which operands can be placed: roots by part, NULL where it is copied. False if it does not pay.
 */
static bool choose_roots(Join *j, RelaxCall *c, PrimFunc *f, const KernelParts *parts, Node *whole,
                         NodeVec *roots) {
  Map seen = {0};
  int64_t placed = 0, copied = 0;
  for each (const KernelPart, p, parts) {
    Node *operand = c->args.at[p->param], *root = root_to_place(j, operand);
    if (root == whole) return false;
    int64_t size = memory_typical(&j->entry_dims, j->arith, memory_nbytes(sinfo_of(operand)));
    bool is_placed = root && !map_has(&seen, root);
    if (is_placed) map_set(&seen, root, root);
    else if (size < 0 || !tells_its_dims(AS(Buffer, f->buffers.at[p->param]))) return false;
    *(is_placed ? &placed : &copied) += size;
    vec_push(roots, is_placed ? root : NULL);
  }
  return seen.live > 0 && placed >= copied;
}

static void claim_operands(Join *j, RelaxCall *c) {
  Node *found = IS(GlobalVar, c->op) ? module_find(j->module, AS(GlobalVar, c->op)->name) : NULL;
  KernelParts parts;
  if (!IS(PrimFunc, found) || c->args.len != AS(PrimFunc, found)->params.len) return;
  PrimFunc *f = AS(PrimFunc, found);
  int out = c->args.len - 1;
  while (out > 0 && !f->buffers.at[out]) out--;
  Node *whole = c->args.at[out];
  if (!map_has(&j->allocs, whole) || map_has(&j->aliases.opaque, whole)) return;
  if (!is_known_at_entry(j, sinfo_of(whole))) return;
  if (!kernel_copies(f, out, &parts) || parts.len < 2) return;
  Map bound = {0};
  NodeVec roots = {0}, offsets = {0};
  if (!kernel_call_dims(f, c->args, &bound)) return;
  if (!choose_roots(j, c, f, &parts, whole, &roots)) return;
  int nbytes = dtype_nbytes(AS(TensorStructInfo, sinfo_of(whole))->elem);
  for each (KernelPart, p, &parts) {
    Node *at = expr_mul(substitute(p->to, &bound), int_imm(INT64, nbytes, c->node.span));
    if (!memory_may_begin(j->target, at)) return;
    vec_push(&offsets, at);
  }
  NodeVec *copies = NEW(NodeVec, 0);
  for (int i = 0; i < parts.len; i++)
    if (roots.at[i]) map_set(&j->claims, roots.at[i], NEW(Claim, whole, offsets.at[i]));
    else push_copy(j, c, parts.at[i].param, whole, offsets.at[i], copies);
  map_set(&j->dropped, c, copies);
}

static void emit_root(Join *j, Node *root, NodeVec *out) {
  if (map_has(&j->emitted, root)) return;
  map_set(&j->emitted, root, root);
  Node *binding = map_get(&j->allocs, root);
  Claim *claim = map_get(&j->claims, root);
  if (!claim) return vec_push(out, binding), (void)0;
  emit_root(j, claim->whole, out);
  vec_push(out, memory_bind(
                    root, memory_view(claim->whole, sinfo_of(root), claim->offset, binding->span)));
}

static void rewrite(Bindings *b, NodeVec bindings, NodeVec *out) {
  Join *j = b->context;
  j->allocs = j->claims = j->dropped = j->emitted = (Map){0};
  for each (Node *, n, &bindings) {
    if (!IS(VarBinding, *n)) continue;
    VarBinding *v = AS(VarBinding, *n);
    if (is_op_call(v->value, "relax.builtin.alloc_tensor")) map_set(&j->allocs, v->var, *n);
    else if (IS(RelaxCall, v->value)) claim_operands(j, AS(RelaxCall, v->value));
  }
  for each (Node *, n, &bindings) {
    Node *var = IS(VarBinding, *n) ? AS(VarBinding, *n)->var : NULL;
    NodeVec *copies = var ? map_get(&j->dropped, AS(VarBinding, *n)->value) : NULL;
    if (copies)
      for each (Node *, copy, copies) vec_push(out, *copy);
    else if (var && map_has(&j->allocs, var)) emit_root(j, var, out);
    else vec_push(out, *n);
  }
}

static WalkResult note_var(Walker *w, Node *n) {
  if (IS(Var, n)) map_set(w->context, n, n);
  return WALK_ON;
}

static Node *rewrite_function(Join *j, Node *function) {
  j->aliases = memory_aliases(j->module, function);
  j->arith = memory_analyzer(AS(Function, function));
  j->entry_dims = (Map){0};
  Walker w = {.enter = note_var, .context = &j->entry_dims};
  for each (Node *, p, &AS(Function, function)->params) walk(&w, sinfo_of(*p));
  Bindings b = {rewrite, j};
  return memory_rewrite(&b, function);
}

Node *pass_place_concat_operands(Node *module, const PassContext *context) {
  Join j = {.target = context->target, .module = module};
  IRModule *m = AS(IRModule, module);
  for (int i = 0; i < m->functions.len; i++) {
    if (!IS(Function, m->functions.at[i])) continue;
    Node *f = rewrite_function(&j, m->functions.at[i]);
    if (f != m->functions.at[i]) j.module = module_with(j.module, m->globals.at[i], f);
  }
  return j.module;
}
