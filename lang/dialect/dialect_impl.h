/* dialect_impl.h -- what the files of lang/dialect/ share. */
#ifndef LANG_DIALECT_DIALECT_IMPL_H
#define LANG_DIALECT_DIALECT_IMPL_H

#include "lang/dialect/dialect.h"
#include "lang/value/object.h"

/* ---- values to nodes (convert.c); each raises TypeError at `span` ---- */

/* A scalar expression: an int is int32 (int64 if it needs it), a float float32; a one-region slice
 * becomes a vector load. */
Node *to_expr(Value v, Span span);
/* The same for a place of dtype t, to which a script float is rounded: once, not by way of float32.
 * Other values keep their dtype. */
Node *to_expr_for(Value v, DataType t, Span span);
/* Values that meet in an operator: script floats take the dtype of the first other float. */
NodeVec to_operands(int n, const Value *values, Span span);
/* An argument of a builtin: a scalar expression, or a node that stands for itself (a reducer, a
 * region, ...). */
Node *intrin_argument(Value v, Span span);
int lanes_of_value(Value v, Span span);         /* of a vector; -k for T.vscale() * k */
NodeVec to_exprs(Value list_or_one, Span span); /* of a tuple, a list, or a single expression */
NodeVec to_dims(Value v, Span span);            /* the same, where a text is a quoted dim */
/* The items of a list or tuple; another value is one alone. */
ValueVec items_or_one(Value v);
/* E0504 unless the value is one of the dtype: of uint64 any 64 bits are, of bool any truth. */
void check_int_fits(DataType t, int64_t value, Span span);
bool is_dtype(Value v);                /* T.float32, np.float32, x.dtype of a tensor; not a text */
DataType to_dtype(Value v, Span span); /* "float32", or such a value */
/* Of T.float32("inf"): "inf", "-inf" or "nan", where the dtype has it. */
double to_special(Value text, DataType t, Span span);
/* x.dtype of a graph value: .object is the value's node. */
extern const ValueType type_tensor_dtype;
/* A graph expression: tuples become Tuple, numbers PrimValue (of 64 bits), strings StringValue. */
Node *to_relax(Value v, Span span);
Node *to_shape(Value v, Span span); /* a tuple of dims, a ShapeExpr, or a variable of Shape type */
Node *to_sinfo(Value v,
               Span span); /* R.Tensor and R.Tensor(...), T.int64, None (the empty tuple) */
NodeVec to_sinfos(Value v, Span span); /* one, or a list, or the fields of a tuple */
/* Are the types of a call those of outputs? Several are one tuple in scripts. */
bool call_has_outputs(const Node *op);
const char *builtin_of_op(const char *name); /* if_then_else of tir.if_then_else, tirx. or bare */
bool value_is_target(Value v, Span span);    /* a tvm.target.Target? */
Node *to_attr(Value v, Span span);           /* numbers, text, lists, dicts, None, nodes */
Value from_attr(Node *attr);
Value int_of_imm(const Node *imm); /* of an IntImm */
Node *dict_from_value(Value dict, Span span);
/* The key of an attribute: today's "tirx.noalias" is "tir.noalias". */
const char *attr_key(Value key, Span span);
const char *value_type_name(Value v);

/* Attributes and methods of buffers (buffer_names.c); a vector of dims as a tuple, with constants
 * of dtype `plain` as ints. */
Value buffer_attr(Value v, const char *name);
void buffer_attr_names(StrVec *out);
Value dims_value(NodeVec v, DataType plain);

/* A Constant that holds a copy of a tensor value's elements. */
Node *constant_node(Value tensor_value, Span span);
/* A number, a nested list of numbers, or a tensor. t void: its own dtype (float32, int32, bool for
 * numbers). */
Node *constant_of_value(Value v, DataType t, Span span);
/* A Constant of elements that lie one after the other. */
Node *constant_of_bytes(DataType t, int ndim, const int64_t *shape, const void *bytes, Span span);
Value constant_value(const ConstData *data); /* and back: a new tensor */

/* T.Buffer, R.Tensor, ...: builtins that take their arguments in parentheses or in brackets. */
extern const ValueType type_annotation;
Value value_annotation(const Builtin *b);

/* ---- frames: what `with` and `for` take, and what scopes over the rest of a suite ---- */

typedef enum { FRAME_FOR, FRAME_BLOCK, FRAME_INIT, FRAME_WRAP, FRAME_DATAFLOW } FrameKind;

typedef struct Frame {
  FrameKind kind;
  /* FRAME_FOR */
  NodeVec mins, extents;
  LoopKind loop_kind;
  const char *thread_tag;
  Node *annotations;
  bool is_grid; /* one name may take all the variables */
  Node *step;   /* NULL: 1 */
  /* FRAME_BLOCK */
  const char *name;
  bool no_realize;
  /* FRAME_WRAP: a statement whose body is still to come, and what `as` or `=` binds */
  Node *wrapper;
  Value bound;
} Frame;
extern const ValueType type_frame;
Value value_frame(Frame *f);

/* T.let, T.let[T.int32] as annotations. .object is a Value *: the type, absent without one. */
extern const ValueType type_let;

/* T.ptx.bar.sync: a name below one of the open namespaces of family.def. (open_names.c) */
extern const ValueType type_open;
Value value_open(const char *name); /* "ptx", "ptx.bar.sync" */
Node *open_call(Value name, CallArgs *args);

/* @T.inline, @T.macro. (macro.c) */
extern const TreeDecorator decorate_macro, decorate_inline;
/* A scope in which the names that a definition mentions keep the values that they have now. */
Env *env_captured(Env *env, Ast *definition);

/* T.meta_var(x): assigning it binds x itself, without a let. .object is a Value *. */
extern const ValueType type_meta;
Value value_meta(Value v);

/* The buffer's memory, allocated for the rest of a suite: Allocate and DeclBuffer. `annotations`
 * may be NULL. */
Node *allocation_of(Node *buffer, Node *annotations);

/* Puts `body` into a LetStmt, AttrStmt, Allocate, ... made without one. */
Node *wrap_body(Node *wrapper, Node *body);

/* ---- building a tensor program (tensor.c) ---- */

typedef struct BlockBuilder BlockBuilder;
struct BlockBuilder {
  BlockBuilder *outer;
  const char *name; /* NULL: the function's root */
  Span span;
  NodeVec iter_vars, iter_values, allocs, matches, reads, writes;
  bool has_reads, has_writes, no_realize;
  Node *predicate, *annotations, *init;
};

typedef struct TensorBuilder {
  BlockBuilder *block;      /* innermost; the root at function level */
  bool in_body;             /* past the signature */
  bool saw_block;           /* any block at all */
  Map loops;                /* loop Var to its For (body missing): what T.axis.remap looks up */
  bool is_today;            /* written in today's dialect: `x = e` can change */
  bool allocates_here;      /* T.alloc_buffer stands where memory begins, not in the block around */
  Map reassigned;           /* interned names that some suite assigns twice */
  Map expansions;           /* macros to the number of times that they were called, as a pointer */
  const char *block_suffix; /* of names of blocks, in a macro called again; or NULL */
  Map scalars;              /* Buffers of one element that a name stands for */
  Map views;                /* Buffers that methods of others made: a name declares them */
  Node *attrs;              /* Dict of T.func_attr, or NULL */
  bool is_private;
  NodeVec params, buffers;   /* of the function so far */
  bool is_jit;               /* @T.jit, read as it stands */
  Map constexprs, optionals; /* parameters that @T.jit marks */
  Value fixed;               /* dict: names of parameters to what specialize() gives; or absent */
  Map told;                  /* undefined names that were reported */
  Map dims;                  /* interned name to Var: dims of the signature */
  Map unbound;               /* Vars by T.Var, T.SizeVar, whose name is that which they get first */
  Map launched;              /* Vars of threads to the IterVar that a launch was given */
  bool relaunches;           /* one of them several times, each of which gets a Var of its own */
  Map ended; /* interned names of variables whose suite has ended, to their Span * */
} TensorBuilder;
extern TensorBuilder *tensor; /* of the prim_func being read; NULL outside */

/* The builder, or a raised error: `what` stands only inside a prim_func. */
TensorBuilder *need_tensor(const char *what, Span span);
BlockBuilder *need_block(const char *what, Span span); /* an explicit block, not the root */

/* Names buffers and variables that have no name yet. */
void name_fresh(Value v, const char *name);
static inline bool is_fresh_var(Value v) {
  return (value_is_node(v, NK_Var) && !AS(Var, v.node)->name) ||
         (value_is_node(v, NK_IterVar) && !AS(Var, AS(IterVar, v.node)->var)->name);
}

/* ---- signatures (signature.c) ---- */

/* Declares in `env` every dimension that the annotations of a function introduce: quoted names (of
 * dtype `quoted`), and names in the place of a dim that are known nowhere (int64). A statement `n =
 * T.int32()` of the body decides the dtype of its name. `dims` gets the variables by interned name.
 */
void declare_dims(Env *env, AstDef *def, DataType quoted, Map *dims);
/* n = TypeVar("n") at module level: a name that each function's annotations declare for themselves.
 */
extern const ValueType type_type_var;
extern bool type_vars_exist; /* most programs have none, and no body is searched for them */
extern const Builtin type_var_builtin;
/* A quoted dim of the annotation being evaluated: "n", "n * 2". */
Node *dim_from_text(const char *text, Span span);
/* The value of an annotation, with quoted dims replaced by expressions. */
Value eval_annotation(Env *env, Ast *annotation);

/* ---- faults (undefined.c) ---- */

/* What a dialect knows of names when a statement has failed for one. */
typedef struct UndefinedNames {
  Env *env;
  bool (*tell_ended)(const char *name,
                     Span span); /* reports a name of a suite that has ended; false: it is none */
  Map *told;                     /* names reported in this function already */
  const Map *ended;              /* names of ended suites, for "did you mean" */
  bool found;
} UndefinedNames;

/* If `e` is a NameError: reports every undefined name of the statement. False: nothing was
 * reported. */
bool report_undefined_names(UndefinedNames *u, const Error *e, Ast *statement);

/* ---- functions and modules ---- */

Value tensor_namespace(void); /* T */
Value graph_namespace(void);  /* R */

typedef struct ModuleBuilder {
  NodeVec globals, functions; /* external functions so far */
  Node *attrs, *global_infos; /* Dicts */
  bool is_unchecked;          /* check_well_formed=False: calls may contradict what they call */
} ModuleBuilder;
extern ModuleBuilder *module; /* of the class body being read; NULL outside */
/* May what is read be ill-formed (check_well_formed=False)? */
bool is_unchecked(void);
ModuleBuilder *need_module(const char *what, Span span);
Node *find_vdevice(const char *kind, int64_t nth);
/* A virtual device, or a text such as "cuda:1" that names one of the module; NULL for None. */
Node *vdevice_of(Value v, Span span);

Value tensor_function(Env *env, AstDef *def, CallArgs *args); /* @T.prim_func */
typedef enum { TENSOR_PLAIN, TENSOR_JIT, TENSOR_SPECIALIZED } TensorForm;
Value tensor_function_with(Env *env, AstDef *def, CallArgs *args, TensorForm form, Value fixed);
Value graph_function(Env *env, AstDef *def, CallArgs *args); /* @R.function */
DataType tensor_return_dtype(Env *env, AstDef *def);         /* void if there is no annotation */
DataType returned_dtype(Node *body); /* by what it returns; void if that is nothing */
/* The struct info of a graph function by its signature alone, so that functions of a module may
 * call each other in any order. */
Node *graph_signature(Env *env, AstDef *def, CallArgs *args);
/* A function that does not say pure= is as pure as what it calls. True: it is found to have
 * effects, which its struct info says now. */
bool graph_settle_purity(Function *f);
/* Scalars, struct info and statements: no call of a graph function stands in them. */
bool graph_holds_no_call(const Node *n);
/* The body inside the implicit root block, where there are blocks or buffers to own. */
Node *with_root_block(NodeVec allocs, bool has_blocks, Node *body, Span span);
/* Raises if a decorator is given positional arguments or keywords that it does not know. */
void check_decorator_args(const char *decorator, CallArgs *args, int n, const char *const *known);
/* `v`, or poison if it is ill-formed IR, which is told unless the decorator says
 * check_well_formed=False. Programs of the library are parts of others, and verified with them. */
Value well_formed(Env *env, Value v, CallArgs *args);
bool wants_well_formed(Env *env, const CallArgs *args);
bool keyword_flag(const CallArgs *args, const char *name, bool otherwise);
/* Struct info of a tensor program's parameters and result. */
Node *prim_func_info(PrimFunc *f);
extern const TreeDecorator decorate_jit;
extern const TreeDecorator decorate_prim_func, decorate_function, decorate_module,
    decorate_rewriter, decorate_graph_macro, decorate_pyfunc;
Value module_pyfuncs(Node *m); /* the functions of the script among its methods, by name */
void register_pyfuncs(Node *m);

/* ---- graph functions ---- */

typedef struct GraphBuilder {
  NodeVec blocks;   /* finished BindingBlocks */
  NodeVec bindings; /* of the block being built */
  bool in_dataflow;
  NodeVec outputs; /* that R.output named */
  bool has_output;
  Map dims;  /* interned name to Var: symbolic variables of the function */
  Map told;  /* undefined names that were reported */
  Map ended; /* interned names of variables of dataflow blocks that ended, to them */
  Node *attrs;
  Node *result;               /* what the function returns, once that is read */
  bool may_return;            /* the dataflow block being read ends the function */
  bool is_pure;               /* no call with effects so far */
  bool must_be_pure;          /* pure=True is written */
  struct GraphBuilder *outer; /* of a local function */
} GraphBuilder;
extern GraphBuilder *graph;
GraphBuilder *need_graph(const char *what, Span span);
/* R.emit and its kin outside of functions are those of an IRBuilder, if there is one; else absent.
 */
Value by_builder(BuiltinCall *call);

/* Binds `value` (in normal form) to a fresh variable. hint NULL: lv or gv. */
Node *graph_emit(Node *value, const char *hint, Span span);
/* Makes the operands of `value` leaves, binding what is nested. */
Node *graph_normalize(Node *value);
/* The scalar that a variable of R.Prim stands for, or NULL if none is known. */
Node *graph_scalar(Node *var);
Node *relax_call(Node *op, NodeVec args, Node *attrs, NodeVec sinfo_args,
                 Span span); /* with struct info */

/* ---- operators of the standard library (op.c) ---- */

/* R.<name> as a callable value; absent if stdlib has no "relax.<name>". A prefix such as "nn" is a
 * namespace. */
Value op_value(const char *name);
Value topi_namespace(void); /* tvm.topi */
/* tvm.ir.base and the like: the namespace that a file of a package stands for; or absent. */
Value package_file(const char *package, const char *name);
Value op_namespace_find(Namespace *ns, const char *name); /* of R and its sub-namespaces */
void op_namespace_names(Namespace *ns, StrVec *out);
/* The names of operators that begin so, without that beginning. */
void op_names_below(const char *prefix, StrVec *out);
bool env_is_library(const Env *env); /* a scope of the standard library's files */
void op_start(void);

/* What `metadata` is in a text that comes without it (metadata.c). */
Value metadata_value(void);
Value tvm_load_json(BuiltinCall *call);
Value tvm_save_json(BuiltinCall *call);
Value nodes_from_json(Value entries, Value sum, Span span); /* as save_json wrote them */
Value tensor_of_text(Value text, Span span);                /* a Constant, of metadata's base64 */
Value tvm_from_source(BuiltinCall *call);

/* Runs a step outside the functions being read: what the library defines is no part of them. */
void run_outside(void (*step)(void *), void *context);

/* ---- what passes ask for: schedules by rules (schedule_rules.c), programs run (evaluate.c) ----
 */

void schedule_rules_start(void);
void evaluate_start(void);
void pattern_hooks_start(void);
Value target_namespace(void);        /* what stdlib/module/tvm/target.tvms is made of */
Value pattern_namespace(void);       /* ... of stdlib/module/tvm/relax/dpl.tvms */
Value pattern_files_namespace(void); /* ... of stdlib/module/tvm/relax/backend/library.tvms */
Value analysis_namespace(void);      /* the C part of stdlib/module/tvm/relax/analysis.tvms */
Value measure_namespace(void);       /* the same of stdlib/module/tvm/measure.tvms */

/* library_pass.c: an option of a pass as text, and what a text stands for. */
const char *library_pass_text(Value v);
Value library_pass_value(const char *text);
void library_pass_start(void);

/* ---- modules of the standard library, written in the language (library.c) ---- */

void library_start(void);
/* A name that stdlib/module/ defines for a namespace made in C: `name` of the file of `dotted`. */
Value library_attr(const char *dotted, const char *name);

/* An R.rewriter, which is a module, and the same as an object of tvm.relax.dpl. */
bool value_is_rewriter(Value v);
Value rewriter_object(Value rewriter, Span span);
void library_names(const char *dotted, StrVec *out);
bool library_is_loaded(const char *dotted);

Value tvm_ir_namespace(void), tvm_tir_namespace(void), tvm_relax_namespace(void);
Value tvm_namespace(void); /* tvm_names.c: tvm.build, tvm.register_func, tvm.IRModule, ... */
extern const TypeObject schedule_class;        /* schedule_value.c: tvm.tir.Schedule */
extern const TypeObject trace_class;           /* trace_value.c: tvm.tir.Trace */
extern const Builtin tensor_intrin_builtins[]; /* tvm.tir.TensorIntrin */
extern const int tensor_intrin_builtin_count;
Value transform_namespace(void); /* pass_value.c: tvm.transform */
Value arith_namespace(void);     /* arith_value.c: what tvm.arith stands on */
Value build_namespace(void);     /* tvm_names.c: what tvm.build stands on */

#endif
