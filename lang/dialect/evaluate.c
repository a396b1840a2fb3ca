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

/* The program as a function. The last one stays: weights alike are treated alike. */
static Value compiled(Node *program, const char *kind) {
  static struct {
    Node *program;
    const char *kind;
    Value function;
  } last;
  if (last.program == program && str_same(last.kind, kind)) return last.function;
  Span span = program->span;
  Node *f = func_with_attr(program, "global_symbol", string_imm("main", span));
  Node *global =
      MAKE(GlobalVar, span, VOID_TYPE, .sinfo = sinfo_object(), .name = str_intern("main"));
  Node *alone = module_with(module_new(), global, f);
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

void evaluate_start(void) { evaluate_program_hook = evaluate_program; }
