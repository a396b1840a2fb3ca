/* interp.h -- private to target/interp/: the reference interpreter.
 *
 * A tensor program is compiled once to a tree of Code (expressions) and Step (statements), whose
 * nodes hold the function that runs them; variables are slots of a Frame. Graph functions are
 * walked as they are: their work is in the programs they call.
 *
 * How values stand in a Scalar: integers and bool as int64, wrapped to their dtype; float32 as
 * float, float64 as double, smaller floats as their bits; pointers as addresses. A vector is an
 * array of them. Memory holds values as the llvm back end lays them out.
 *
 * What is undefined elsewhere is an error here: an index outside a buffer, a value of what was
 * never written (access.c), division by zero, a shift by more than the width. Everything else
 * agrees with target/llvm/.
 *
 * Errors are raised; entry.c stops them at the border of the runtime. What a call made (memory,
 * objects, frames of the runtime) is freed there, or where the function that made it ends. */
#ifndef TARGET_INTERP_INTERP_H
#define TARGET_INTERP_INTERP_H

#include "ir/ir.h"
#include "target/runtime/abi.h"
#include "target/target.h"

typedef union Scalar {
  int64_t i;
  double d;
  float s;
  void *p;
} Scalar;

typedef struct Module Module;
typedef struct Program Program;
typedef struct Frame Frame;

_Noreturn void fault(Span span, const char *format, ...) PRINTF_LIKE(2, 3);
/* Raises what the runtime left as its last error. */
_Noreturn void fault_runtime(Span span);

/* ---- memory.c: which bytes there are, and which were written ---- */

/* Bytes [lo, hi) of this process. `shadow` has a byte for each: 0 until it is written; NULL: all
 * were. Ranges do not overlap: a range noted over others stands for them until it is released. */
typedef struct Memory Memory;
typedef struct Touch Touch;
typedef VEC(Memory *) MemoryVec;
struct Memory {
  char *lo, *hi;
  char *end; /* of what may be touched: lo if the memory is of no bytes, which takes one */
  unsigned char *shadow;
  Touch *touches; /* of each piece of this many bytes, once threads touched it (race.c) */
  int piece;
  uint32_t of_launch, of_block; /* whose touches they are */
  struct Product **products;    /* of each piece, the last one that reads it (product.c); or NULL */
  uint32_t *changed; /* of each word, fences there had been when it was written, + 1; or NULL */
  void *block;       /* to be freed with it, or NULL: memory of others */
  bool is_constant;  /* stores are errors */
  bool keep;         /* outlives the next release */
  const char *name;  /* of the buffer it was made for, or NULL */
  MemoryVec hidden;
};

/* What a thread's calls have made so far. Lives on the stack of its outermost call. */
typedef struct Checker Checker;
typedef struct Interp {
  Checker *checker;       /* of a module that is run to find its faults; or NULL */
  MemoryVec sorted, made; /* by address; in order */
  uint64_t epoch;         /* changes with `sorted` */
  uint64_t blocks;        /* instances of blocks that were reached */
  int thread;             /* that runs, of a block of threads, + 1; 0: none */
  uint32_t interval;      /* grows at barriers */
  uint32_t warp_interval; /* of the running thread: at barriers of its warp */
  VEC(void *) objects;    /* references to objects of the runtime */
  VEC(void *) frames;     /* of tvms_frame_begin, not ended yet */
} Interp;
extern _Thread_local Interp *interp;

Memory *memory_find(const void *at);                             /* NULL: not known */
Memory *memory_new(int64_t nbytes, const char *name, Span span); /* never written, zeroed */
/* Memory of others, e.g. of a tensor. Known memory that holds it all stays as it is. */
Memory *memory_note(void *at, size_t nbytes, bool written, const char *name);
void memory_note_tensor(const DLTensor *t, bool written, const char *name);
/* The elements of a tensor were given up: they count as never written. */
void memory_unwritten(const DLTensor *t);
void memory_written(const void *at); /* foreign code may have written all of the memory there */
void memory_wrote(const char *at, int nbytes); /* these bytes were */
/* Forgets (and frees) what was made since, but for what is to be kept. */
void memory_release(int mark);
void memory_forget(Memory *m);

/* race.c: memory is allocated again: of another block, or of the same at its next step, which has
 * the same place. */
void race_reset(Memory *m);
/* The running thread touches bytes at a site (check.h). `index_of` tells which element. */
void race_note(Memory *m, const char *at, int nbytes, bool writes, uint32_t site,
               const char *index_of(const void *context), const void *context);

/* ---- objects.c ---- */

typedef struct Mark {
  int memory, objects, frames;
} Mark;
Mark interp_mark(void);
void interp_release(Mark mark);
void interp_own(void *object); /* takes the reference over */
/* Raises if the C stack is nearly used up by calls. */
void interp_check_depth(const char *name, Span span);

/* ---- code ---- */

/* An expression. `eval` if it has one lane, else `lanes` (which fills t.lanes scalars). */
typedef struct Code Code;
typedef Scalar Eval(const Code *c, Frame *f);
typedef void EvalLanes(const Code *c, Frame *f, Scalar *out);
struct Code {
  Eval *eval;
  EvalLanes *lanes;
  DataType t;
  Span span;
};
typedef VEC(const Code *) CodeVec;

/* Room for the lanes of a vector: on the stack if they are few. */
#define LANES(name, n)                                                                             \
  Scalar name##_few[(n) <= 64 ? (n) + 1 : 1],                                                      \
      *name = (n) <= 64 ? name##_few : (Scalar *)(void *)NEW_BYTES(sizeof(Scalar) * (size_t)(n))

static inline Scalar code_eval(const Code *c, Frame *f) { return c->eval(c, f); }
/* As many lanes as asked for: one lane is repeated. */
static inline void code_lanes(const Code *c, Frame *f, int n, Scalar *out) {
  if (c->t.lanes != 1) {
    c->lanes(c, f, out);
    return;
  }
  Scalar v = c->eval(c, f);
  for (int i = 0; i < n; i++) out[i] = v;
}

/* A statement. */
typedef enum { GO_ON, BREAK, CONTINUE, RETURN } Status;
typedef struct Step Step;
typedef Status Run(const Step *s, Frame *f);
typedef struct Team Team;
typedef void RunTeam(const Step *s, Team *t);
struct Step {
  Run *run;
  Span span;
  RunTeam *team; /* of what holds other steps: runs it in all threads of a block, step by step */
};
typedef VEC(const Step *) StepVec;

/* What compiling knows of a buffer. */
typedef struct ViewInfo {
  Buffer *buffer;
  int index;             /* in Frame.views */
  bool is_declared;      /* a declaration sets it up; else each access does */
  bool is_fixed;         /* its shape, strides and offset are numbers */
  const Code *data;      /* the pointer */
  const Code *offset;    /* elements, or NULL */
  CodeVec dims, strides; /* strides: empty if compact */
  int ndim, nbytes;      /* bytes of an element, all its lanes */
  int memory, data_slot; /* of its own allocation: in Frame.memories, and its pointer; or -1 */
} ViewInfo;

/* A buffer at run time. */
typedef struct View {
  char *base; /* of the element at index 0, 0, ... */
  char *data;
  Memory *memory; /* NULL: not known */
  int64_t *dims, *strides;
  uint64_t epoch;
} View;

/* One call of a program. */
struct Frame {
  const Program *program;
  Scalar *slots;
  View *views;
  Memory **memories; /* of allocations, used again when they are reached again */
  bool *holes;       /* of the lanes that move: those which were never written */
  Scalar result;
};

/* A tensor program, compiled. */
typedef struct Param {
  const char *name;
  DataType t;
  int slot;
  ViewInfo *view; /* NULL: a scalar or a plain pointer */
} Param;
struct Program {
  Module *module;
  PrimFunc *f;
  const char *name; /* for messages */
  bool is_packed;
  VEC(Param) params;
  VEC(ViewInfo *) views;
  Map slots;      /* Var to its slot + 1 */
  NodeVec needed; /* variables of the parameters' buffers, in order */
  NodeVec given;  /* variables that only the caller knows */
  int slot_count, memory_count;
  const Step *body;
};

/* An allocation that each thread has for itself. */
typedef struct Private {
  int slot, memory; /* of the pointer; in Frame.memories */
} Private;
typedef VEC(Private) PrivateVec;
typedef struct ShuffleCode ShuffleCode;

/* The state of compiling one program. */
typedef struct Compiler {
  Program *program;
  Map views;            /* Buffer to ViewInfo * */
  Map threads;          /* thread variables whose loops are open */
  Node *thread_vars[3]; /* of the block's threads, while their loops are open */
  int meetings;         /* accesses of shared memory, barriers, reductions, exchanges so far */
  Map thread_dims;      /* such variables to their dimension + 1 */
  PrivateVec privates;  /* allocations of this scope and those around it */
  VEC(const ShuffleCode *) shuffles; /* of the statement that is being compiled */
  Node *reducer;                     /* CommReducer of the scope, or NULL */
  Map reductions;                    /* blocks whose empty reductions are seen to */
  bool takes_free;                   /* variables without a definition are `given` */
  Span span;                         /* of the nearest node that has one */
} Compiler;

/* ---- program.c ---- */

/* Raises on what the interpreter can't run. */
Program *program_new(Module *m, PrimFunc *f, const char *name, bool takes_free);
Frame *program_frame(const Program *p);
/* Arguments [from, to) by the packed convention, checked; variables that are whole dims are bound.
 */
void program_bind(const Program *p, Frame *f, const TvmsValue *args, const int *types, int from,
                  int to, Map *bound, Span span);
/* Checks the dims of parameters [0, n) once all are bound. */
void program_check(const Program *p, Frame *f, const TvmsValue *args, int n, const Map *bound,
                   Span span);
void program_set(const Program *p, Frame *f, Map *bound, Node *var, int64_t value);
int64_t *program_shape(const Program *p, Frame *f, int param); /* of a buffer parameter */
void program_run(const Program *p, Frame *f);
/* All in one: a call by the packed convention. The result is f->result. */
Scalar program_call(const Program *p, const TvmsValue *args, const int *types, int n, Span span);
/* A call from another program: pointers and scalars, as parameters or as a kernel has them. */
Scalar program_call_raw(const Program *p, const Scalar *args, int n, Span span);
int compile_define(Compiler *c, Node *var); /* its slot */
int compile_use(Compiler *c, Node *var, Span span);
Span compile_span(Compiler *c, const Node *n);

/* ---- expr.c, vector.c ---- */

const Code *compile_expr(Compiler *c, Node *n);
const Code *compile_as(Compiler *c, Node *n, DataType t); /* the value cast to t (its lanes kept) */
const Code *compile_int(Compiler *c, Node *n);            /* its value as int64; the dtype stays */
const Code *compile_condition(Compiler *c, Node *n);
const Code *code_constant(DataType t, Scalar value);
const Code *code_cast(const Code *c, DataType t);
/* The values (how many, 2 at most) that a T.if_then_else chooses from, of which it looks at one, or
 * that a cast is of; 0: it is neither. */
int code_choices(const Code *c, const Code **from);
const Code *compile_ramp(Compiler *c, Ramp *n);
const Code *compile_broadcast(Compiler *c, Broadcast *n);
const Code *compile_shuffle(Compiler *c, Shuffle *n);
const Code *compile_part(Compiler *c, Call *n, int from); /* lanes of all arguments, from there */
/* Lane by lane: op of the arguments, which have as many lanes as t or one. */
typedef Scalar LaneOp(const Code *c, const Scalar *x);
const Code *code_lanewise(DataType t, Span span, LaneOp *op, int n, const Code **args);
/* The arguments of a lanewise code, for what `op` needs to know of them. */
DataType lanewise_type(const Code *c, int arg);

/* ---- scalar.c: what the dtypes are ---- */

typedef Scalar Load(const char *at);
typedef void Store(char *at, Scalar v);
Load *scalar_load(DataType t);
Store *scalar_store(DataType t);
int scalar_nbytes(DataType t); /* in memory, of one lane */
typedef Scalar CastOp(DataType from, DataType to, Scalar v);
CastOp *scalar_cast(DataType from, DataType to);
bool scalar_truth(DataType t, Scalar v);
Scalar scalar_int(int64_t v);
double scalar_to_double(DataType t, Scalar v); /* of a float */
Scalar scalar_from_double(DataType t, double v);
float scalar_to_float(DataType t, Scalar v); /* of a float of at most 32 bits */
Scalar scalar_from_float(DataType t, float v);
static inline bool is_small_float(DataType t) { return dtype_is_float(t) && t.bits < 32; }

/* ---- arith.c ---- */

typedef Scalar BinaryOp(const Code *c, Scalar a, Scalar b);
/* Of operands of dtype t; NULL if there is none. The Code is for its place. */
BinaryOp *arith_op(NodeKind kind, DataType t);

/* ---- intrin.c, math.c, extern.c ---- */

const Code *compile_call(Compiler *c, Call *n);
LaneOp *math_op(const char *name, DataType t); /* NULL: no function of that name */
const Code *compile_extern(Compiler *c, Call *n);
const Code *compile_llvm_intrin(Compiler *c, Call *n); /* llvm_intrin.c */
const Code *compile_packed_call(Compiler *c, Call *n);
const Code *compile_program_call(Compiler *c, Call *n);
const Code *compile_warp_call(Compiler *c, Call *n); /* collective.c */
const Code *compile_async(Compiler *c, Call *n);     /* async.c */
const Code *compile_commit(Compiler *c, Call *n);
const Code *compile_wait(Compiler *c, Call *n);
const Code *compile_registers(Compiler *c, Call *n);
const Code *compile_fence(Compiler *c, Call *n);  /* product.c */
const Code *compile_atomic(Compiler *c, Call *n); /* atomic.c; NULL: it is none */
const char *compile_text_arg(Compiler *c, Call *n);
_Noreturn void unsupported(Span span, const char *what);

/* ---- access.c ---- */

const Code *compile_load(Compiler *c, BufferLoad *n);
const Step *compile_store(Compiler *c, BufferStore *n);
const Code *compile_address(Compiler *c, BufferLoad *n); /* of the element */
ViewInfo *compile_view(Compiler *c, Node *buffer, bool declared);
/* A buffer with memory of its own, see view_allocate(); defines its pointer. */
ViewInfo *compile_own_buffer(Compiler *c, Node *buffer);
/* Evaluates its pointer, shape and strides. */
View *view_bind(const ViewInfo *info, Frame *f);
/* Memory of its own, never written, and its pointer. */
void view_allocate(const ViewInfo *info, Frame *f, Span span);
Memory *frame_memory(Frame *f, int index, int64_t nbytes, const char *name, Span span);

/* ---- stmt.c, block.c, reduction.c ---- */

const Step *compile_stmt(Compiler *c, Node *n);
/* Notes an allocation of the scope, if each thread has its own. */
void note_private(Compiler *c, const char *scope, int slot, int memory);
bool is_shared_scope(const char *scope);
const Step *compile_block(Compiler *c, BlockRealize *n);
/* A loop that begins a reduction whose init runs also if there is nothing to reduce; else NULL. */
const Step *compile_reduction(Compiler *c, For *n);
static inline Status step_run(const Step *s, Frame *f) { return s->run(s, f); }

/* ---- graph values (gvalue.c, gconvert.c) ---- */

typedef struct GraphFrame GraphFrame;
typedef struct GraphValue GraphValue;
typedef struct GraphCode GraphCode;

struct GraphTuple;

/* A function value: of the module, or a local one with the frame it was made in. */
typedef struct Closure {
  Function *f;
  const char *name;
  GraphCode *code;
  GraphFrame *captured;    /* NULL: a function of the module */
  struct GraphTuple *last; /* arguments that it keeps, behind those of a call; or NULL */
} Closure;

typedef struct GraphTuple {
  int n;
  GraphValue *at;
} GraphTuple;

#define VALUE_CLOSURE 100 /* a type beside TvmsType */

/* `type` is a TvmsType: TVMS_STR holds collected text, TVMS_TUPLE a GraphTuple. References to
 * objects are in interp->objects. */
struct GraphValue {
  int type;
  union {
    TvmsValue bits;
    GraphTuple *tuple;
    Closure *closure;
  };
};
typedef VEC(GraphValue) GraphValueVec;

GraphValue gvalue_none(void);
GraphValue gvalue_tuple(int n, const GraphValue *fields);
GraphValue gvalue_object(int type, void *object); /* takes the reference over */
GraphValue gvalue_shape(int n, const int64_t *dims, Span span);
GraphValue gvalue_new_tensor(int ndim, const int64_t *shape, DataType t, const char *name,
                             Span span); /* never written */
GraphValue gvalue_constant(Module *m, Constant *c);
const DLTensor *gvalue_tensor(const GraphValue *v); /* NULL: it is none */
const char *gvalue_text(const GraphValue *v);       /* for messages: "float32 of shape (2, 3)" */
/* interp_release(), but what the value holds stays. */
void gvalue_release_but(const GraphValue *v, Mark mark);

/* From outside; `owned`: the reference is the interpreter's. */
GraphValue gvalue_import(int type, TvmsValue v, bool owned, Span span);
/* As foreign code takes it for a call. */
void gvalue_export(Module *m, const GraphValue *v, TvmsValue *out, int *type, Span span);
/* As a function's result: the reference is the caller's. */
void gvalue_give(Module *m, const GraphValue *v, TvmsValue *out, int *type, Span span);

/* ---- graph functions: gframe.c, gmatch.c, gcall.c ---- */

/* A graph function with its local functions: where their variables stand. */
struct GraphCode {
  Module *module;
  Program space; /* symbolic variables are slots of a program without a body */
  Compiler scalars;
  Map exprs;  /* scalar Node to its GraphScalar * */
  Map values; /* RelaxVar to its index + 1 */
  int value_count;
  Map operators; /* RelaxCall to the Program * that computes it */
};

struct GraphFrame {
  GraphCode *code;
  const char *name; /* of the function */
  Frame scalars;
  bool *bound;    /* beside scalars.slots */
  int slot_count; /* room in both */
  GraphValue *values;
  bool *defined; /* beside values */
  int value_count;
  bool is_kept; /* gvalue_release_but() was here */
};

GraphCode *gcode_new(Module *m);
GraphValue gframe_call_function(const Closure *f, const GraphValue *args, int n, Span span);
/* `what` names the value in messages. */
GraphValue gframe_eval(GraphFrame *g, Node *n, const char *what);
GraphValue gframe_call(GraphFrame *g, RelaxCall *c, const char *what);
/* The value of a scalar expression; raises if a variable of it has none. */
Scalar gframe_scalar(GraphFrame *g, Node *n, Span span);
int64_t gframe_dim(GraphFrame *g, Node *n, Span span);
bool gframe_is_bound(GraphFrame *g, Node *n); /* have all its variables values? */
void gframe_bind(GraphFrame *g, Node *var, int64_t value);
int64_t *gframe_dims(GraphFrame *g, NodeVec dims, Span span);

/* Checks of dims, made when all arguments are known. */
typedef struct DimCheck {
  const char *what;
  const DLTensor *tensor; /* NULL: a shape or a scalar, with this extent: */
  int64_t actual;
  int axis;
  Node *dim;
} DimCheck;
typedef VEC(DimCheck) DimCheckVec;
/* Does the value belong to the struct info? Variables that stand as a whole dim and have no value
 * get one. Scalars are converted. what: as messages name it, see value_phrase. */
void match_value(GraphFrame *g, GraphValue *v, Node *sinfo, const char *what, DimCheckVec *later,
                 Span span);
void match_dims(GraphFrame *g, const DimCheckVec *checks, Span span);
void match_one(GraphFrame *g, GraphValue *v, Node *sinfo, const char *what, Span span); /* both */
/* Does a value that was computed belong to its struct info? Binds nothing; dims without a value are
 * passed over. */
void match_computed(GraphFrame *g, const GraphValue *v, Node *sinfo, const char *what, Span span);

/* ---- module.c ---- */

/* Calls that give memory (gmemory.c). */
GraphValue gmemory_new_tensor(GraphFrame *g, RelaxCall *c, const char *what);
GraphValue gmemory_storage(GraphFrame *g, RelaxCall *c, const char *what);
GraphValue gmemory_tensor(GraphFrame *g, RelaxCall *c, const char *what);
GraphValue gmemory_view(GraphFrame *g, RelaxCall *c, const char *what);
GraphValue gmemory_kill(GraphFrame *g, RelaxCall *c, const char *what);

/* A module that was loaded. */
struct Module {
  Node *node;
  Map index;     /* module_index(node) */
  Map programs;  /* interned name to Program * */
  Map graphs;    /* interned name to its Closure * */
  Map constants; /* Constant to its TvmsTensor * */
  Map addresses; /* interned name to its Trampoline * */
  void *exports; /* the Exports that the runtime points to */
  const Target *target;
  bool checks; /* for the faults of its kernels */
};

/* What a packed function of the interpreter runs. */
typedef struct Export {
  Module *module;
  const char *name;
  Node *func;       /* PrimFunc, Function or ExternFunc; or NULL: */
  Closure *closure; /* a function value */
} Export;

Node *module_function(Module *m, const char *name); /* NULL: there is none */
/* Compiled when first asked for. */
Program *module_program(Module *m, const char *name, Span span);
Closure *module_graph(Module *m, const char *name);
/* The address of a packed function, for foreign code. */
void *module_address(Module *m, const char *name, Span span);
/* A function value as an object: a new reference. */
TvmsFunc *module_function_object(Module *m, Closure *c, Span span);

void interp_set_thread(void); /* entry.c: modules are loaded by the collector's own thread */
/* entry.c: a TvmsPackedFunc whose self is an Export. */
int interp_entry(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,
                 int *ret_type);

#endif
