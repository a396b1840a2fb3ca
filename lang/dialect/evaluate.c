/* evaluate.c -- what tensor programs compute of constants, for passes: by the interpreter, or
 * compiled where that pays. */
#include "lang/builtin/tensor.h"
#include "lang/dialect/packed.h"
#include "passes/passes.h"

/* It runs once: machine code that is made fast, not fast code. */
#define QUICK "llvm -opt-level=1"

/* From so many bytes of operands and results on, compiling costs less than interpreting. */
enum { LARGE = 1 << 14 };

typedef struct Evaluation {
  Node *program;
  NodeVec operands, infos, *results;
} Evaluation;

static Value new_tensor(Node *info) {
  NodeVec dims;
  TvmsTensor *t;
  DataType elem = AS(TensorStructInfo, info)->elem;
  bool known = sinfo_tensor_shape(info, &dims);
  REQUIRE(known, "a result has a shape");
  int64_t *shape = (int64_t *)(void *)NEW_BYTES(sizeof *shape * (size_t)(dims.len + 1));
  for (int i = 0; i < dims.len; i++) expr_is_const_int(dims.at[i], &shape[i]);
  DLDataType type = {(uint8_t)dtype_dlpack_code(elem), elem.bits, elem.lanes};
  if (tvms_tensor_new(&t, dims.len, shape, type))
    raise("RuntimeError", info->span, "%s", tvms_last_error());
  return value_tensor(t);
}

static Node *global_named(const char *name, Span span) {
  return MAKE(GlobalVar, span, VOID_TYPE, .sinfo = sinfo_object(), .name = str_intern(name));
}

/* ---- compiled at once ---- */

static Map prepared; /* programs to their functions, as Value * */

static bool is_large(Node *program) {
  int64_t nbytes = 0, n;
  for each (Node *, b, &AS(PrimFunc, program)->buffers) {
    int64_t size = dtype_nbytes(AS(Buffer, *b)->elem);
    for each (Node *, d, &AS(Buffer, *b)->shape) size *= expr_is_const_int(*d, &n) ? n : 0;
    nbytes += size;
  }
  return nbytes >= LARGE;
}

/* One of several programs alike stands for all. */
typedef struct Batch {
  NodeVec programs;
  IntVec same; /* of each program: the number of the first one like it */
  Node *module;
} Batch;

static int first_like(const Batch *b, Node *program) {
  for (int i = 0; i < b->programs.len; i++)
    if (node_hash(b->programs.at[i]) == node_hash(program) &&
        node_equal(b->programs.at[i], program, false, NULL))
      return i;
  return b->programs.len;
}

static const char *name_of(int i) { return str_format("program_%d", i); }

static void build_batch(void *context) {
  Batch *b = context;
  const Target *target = target_parse(QUICK, (Span){0});
  Value built = value_compiled_module(build_module(b->module, target), b->module, target);
  for (int i = 0; i < b->programs.len; i++) {
    Value *function = NEW_ARRAY(Value, 1);
    *function = value_get_attr(built, str_intern(name_of(b->same.at[i])), (Span){0});
    map_set(&prepared, b->programs.at[i], function);
  }
}

/* If that fails, they are compiled one by one, and those at fault are told then. */
static void prepare_programs(NodeVec programs) {
  Batch b = {.module = module_new()};
  prepared = (Map){0};
  for each (Node *, p, &programs) {
    if (!is_large(*p)) continue;
    int i = b.programs.len, first = first_like(&b, *p);
    vec_push(&b.programs, *p);
    vec_push(&b.same, first);
    if (first < i) continue;
    Node *named = func_with_attr(*p, "global_symbol", string_imm(name_of(i), (*p)->span));
    b.module = module_with(b.module, global_named(name_of(i), (*p)->span), named);
  }
  Error *error = b.programs.len ? eval_protect(build_batch, &b) : NULL;
  if (error && str_same(error->kind, "KeyboardInterrupt")) error_raise(error);
}

/* ---- one by one ---- */

/* The program as a function. The last one stays: weights alike are treated alike. */
static Value compiled(Node *program, const char *kind) {
  static struct {
    Node *program;
    const char *kind;
    Value function;
  } last;
  Value *ready = str_same(kind, QUICK) ? map_get(&prepared, program) : NULL;
  if (ready) return *ready;
  if (last.program == program && str_same(last.kind, kind)) return last.function;
  Span span = program->span;
  Node *f = func_with_attr(program, "global_symbol", string_imm("main", span));
  Node *alone = module_with(module_new(), global_named("main", span), f);
  const Target *target = target_parse(kind, span);
  Value built = value_compiled_module(build_module(alone, target), alone, target);
  last.program = program;
  last.kind = kind;
  last.function = value_get_attr(built, str_intern("main"), span);
  return last.function;
}

static void evaluate(void *context) {
  Evaluation *e = context;
  size_t nbytes = 0;
  ValueVec args = {0};
  for each (Node *, c, &e->operands) {
    nbytes += AS(Constant, *c)->data->nbytes;
    vec_push(&args, constant_value(AS(Constant, *c)->data));
  }
  for each (Node *, info, &e->infos) {
    vec_push(&args, new_tensor(*info));
    nbytes += (size_t)tvms_tensor_nbytes(value_as_tensor(vec_last(&args), (*info)->span));
  }
  Value f = compiled(e->program, nbytes < LARGE ? "interp" : QUICK);
  value_call_with(f, args.len, args.at, e->program->span);
  for (int i = e->operands.len; i < args.len; i++)
    vec_push(e->results, constant_node(args.at[i], e->program->span));
}

static bool evaluate_program(Node *program, NodeVec operands, NodeVec infos, NodeVec *results) {
  Evaluation e = {program, operands, infos, results};
  Error *error = eval_protect(evaluate, &e);
  if (error && str_same(error->kind, "KeyboardInterrupt")) error_raise(error);
  return !error;
}

void evaluate_start(void) {
  evaluate_program_hook = evaluate_program;
  prepare_programs_hook = prepare_programs;
}
