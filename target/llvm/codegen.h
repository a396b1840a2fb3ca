/* codegen.h -- private to target/llvm/: from flat functions (lower/lower.h) to LLVM IR.
 *
 * Everything here is compiled into libtvms_llvm.so, which the program loads on first use.
 *
 * How values stand in registers: integers as iN, bool as i1, float16 as half, bfloat16 and float8
 * as their bits (i16, i8), pointers as ptr, vectors as vectors of these. In memory a bool is a byte
 * and so is an integer of less than 8 bits. Arithmetic on floats of less than 32 bits is done in
 * float32 and rounded after each operation, which gives the same bits as correctly rounded
 * arithmetic.
 *
 * What is undefined in LLVM is defined here: division by zero gives 0, the smallest integer divided
 * by -1 wraps, shift counts count modulo the width, a float too large for an integer saturates and
 * NaN becomes 0. min and max are select(a < b, a, b) and select(a > b, a, b).
 *
 * How functions look: a packed function has the type of TvmsPackedFunc. A kernel gets its
 * parameters and, if it has a result, a last pointer to store it at; it returns 0, or -1 with the
 * error set (a failed assertion, no memory). Who calls a kernel that fails, fails.
 *
 * Of a device (device.c): a function that SplitHostDevice made becomes a kernel of a GPU's threads.
 * Its pointers keep the address spaces that they come from. There is no error to return.
 *
 * Raising: between calls of LLVM only, never inside one. LLVM objects that must be disposed are
 * held by the Gen, which module.c disposes of. */
#ifndef TARGET_LLVM_CODEGEN_H
#define TARGET_LLVM_CODEGEN_H

#include "ir/ir.h"
#include "ir/target.h"
#include "target/lowered.h"
#include "target/range.h"
#include "target/target.h"
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/TargetMachine.h>

/* The program's own functions must not take the place of those of the same name in this library. */
#pragma GCC visibility push(hidden)

/* Where T.break_loop and T.continue_loop go. */
typedef struct LoopScope {
  LLVMBasicBlockRef next, exit;
  int heap_depth; /* blocks on the heap when the loop began */
} LoopScope;

typedef enum { FUNC_KERNEL, FUNC_PACKED, FUNC_PARALLEL_BODY, FUNC_DEVICE } FuncSort;

typedef struct Debug Debug; /* debug.c */

/* The function being written. */
typedef struct Func {
  FuncSort sort;
  const char *name;
  LLVMValueRef llvm;
  LLVMBasicBlockRef entry; /* holds the allocas; ends in a branch to the first real block */
  Map values;              /* Var to LLVMValueRef */
  Ranges ranges;
  Map distinct;             /* pointer Vars whose memory no other pointer reaches */
  Map aligned;              /* pointer Vars that are multiples of DEVICE_ALIGN */
  VEC(LLVMValueRef) heap;   /* allocations to free on the way out */
  VEC(LoopScope) loops;     /* innermost last */
  LLVMValueRef frame;       /* of tvms_frame_begin, to be ended on failure; or NULL */
  LLVMBasicBlockRef failed; /* ends the frame and returns: one for all checks of the function */
  DataType result;          /* of a kernel; void if none */
  LLVMValueRef result_at;   /* where a kernel's result goes */
  int64_t stack_bytes;      /* of its allocas so far */
  bool streams;             /* stores go past the caches now (stream.c) */
  bool has_streamed;        /* some did */
  LLVMFastMathFlags fp_flags;
  LLVMMetadataRef scope; /* for debuggers, or NULL */
  const Source *file;
  Map scopes; /* Source to LLVMMetadataRef *: of places in other files */
} Func;

/* A constant that stands in an object file of its own (weights.c). */
typedef struct Weight {
  const char *symbol;
  const ConstData *data;
} Weight;
typedef VEC(Weight) Weights;

typedef struct Gen {
  const Target *target;
  Node *module;
  bool in_process;   /* for this process: names of C functions are looked up at once */
  bool half_by_bits; /* the machine has no conversions of float16 */
  bool is_device;    /* what is written are the device functions of the module */
  LLVMContextRef context;
  LLVMModuleRef out;
  LLVMBuilderRef b, entry_builder;
  LLVMTargetMachineRef machine;
  Map functions;              /* interned name of a GlobalVar to LLVMValueRef */
  Map constants;              /* ConstData to its global */
  Map strings;                /* interned text to its global constant */
  LLVMFastMathFlags fp_flags; /* of the target */
  Debug *debug;               /* NULL: nothing is told of where code came from */
  bool used_raw_intrinsic;    /* T.call_llvm_intrin: only LLVM's verifier can check the operands */
  int part;                   /* of a module that is cut (parts.c) */
  bool is_cut;                /* kernels are called from other parts */
  IntVec bodies;              /* numbers of the functions that are written here */
  Weights *weights;           /* large constants that are not written here; NULL: all are */
  Func *f;
} Gen;

/* ---- machine.c: what the code is for ---- */

/* Raises TargetError for an unknown machine, processor or feature. The caller disposes of it. */
LLVMTargetMachineRef machine_new(const Target *target, bool in_process);

void machine_start(void); /* LLVM's own start, once */
/* nvptx.c: of a target with device "cuda". */
LLVMTargetMachineRef machine_new_nvptx(const Target *target);

/* Has the machine, or the C library of its compilers, conversions of float16? */
bool machine_converts_half(LLVMTargetMachineRef machine);
bool machine_is_host(const char *triple); /* by its architecture */

/* ---- module.c, function.c ---- */

/* Generates `module` for g->target, with g->bodies. Raises; free with gen_dispose() in any case. */
void gen_module(Gen *g, Node *module, const Target *target, bool in_process);
/* Generates and optimizes the module's device functions. */
void gen_device_module(Gen *g, Node *module, const Target *target);
void gen_dispose(Gen *g);

void gen_declare_function(Gen *g, const char *name, PrimFunc *f);
void gen_function(Gen *g, const char *name, PrimFunc *f);
int64_t gen_size(Node *function); /* how many nodes it has: what LLVM will have to do with it */
/* Opens a function of this LLVM type for writing: entry block, builder, state. */
void func_begin(Gen *g, Func *f, LLVMValueRef llvm);
void func_end(Gen *g);                         /* closes the entry block */
void gen_return(Gen *g, LLVMValueRef status);  /* frees the heap; goes on in a dead block */
void gen_fail(Gen *g);                         /* frees everything and returns -1; ends the block */
void gen_fail_if(Gen *g, LLVMValueRef failed); /* i1 */
void gen_missing_if(Gen *g, LLVMValueRef failed, const char *param); /* a parameter of the module */
/* A global pointer, NULL first, of the module's own. */
LLVMValueRef gen_pointer_slot(Gen *g, const char *symbol);
LLVMValueRef gen_param_slot(Gen *g, const char *name); /* the global that holds its address */
void gen_raise(Gen *g, const char *kind, const char *message); /* sets the error */
void gen_out_of_memory_if(Gen *g, LLVMValueRef failed);
void gen_unlikely(Gen *g, LLVMValueRef branch); /* its first arm */
void gen_free_heap(Gen *g, int down_to);
void gen_ret(Gen *g, Node *call); /* T.ret */

/* ---- parts.c ---- */

enum { PARTS_MAX = 4 };

typedef struct Part {
  Gen gen;
  int level;                  /* of LLVM's pipeline */
  const char *path;           /* of its object file; NULL: it stays in memory */
  LLVMMemoryBufferRef object; /* in memory, of who takes it */
  LLVMErrorRef error;
  char *message;
} Part;

typedef struct Parts {
  int n;
  Part at[PARTS_MAX];
} Parts;

/* Generates the module, in at most so many parts. Large constants go to `weights`, if it is given
 * and the machine has such objects. Raises; parts_dispose() in any case. */
void parts_generate(Parts *p, Node *module, const Target *target, bool in_process, int most,
                    Weights *weights);
/* Optimizes them and makes objects of them, side by side. Raises. */
void parts_compile(Parts *p);
void parts_dispose(Parts *p);

/* ---- weights.c ---- */

/* The symbol of a constant that is to stand with the weights; NULL if it is a small one, or the
 * machine has no such object files. */
LLVMValueRef weights_add(Gen *g, const ConstData *data);
/* Writes them as an object file, for the machine of another one. Raises. */
void weights_write(const Weights *weights, const char *path, const char *beside);

/* ---- types.c ---- */

LLVMTypeRef type_of(Gen *g, DataType t);        /* in a register */
LLVMTypeRef type_in_memory(Gen *g, DataType t); /* the same lanes */
LLVMTypeRef type_ptr(Gen *g);
LLVMTypeRef type_int(Gen *g, unsigned bits);
LLVMTypeRef type_size(Gen *g); /* size_t: as wide as a pointer */
/* Raises for pointers in memory where they have not the 8 bytes that HANDLE has. */
void type_check_stored(Gen *g, DataType t, Span span);
DataType type_compute(DataType t); /* float32 for the small floats, else t */
/* The type `scalar` with the lanes of t. */
LLVMTypeRef type_lanes(LLVMTypeRef scalar, DataType t);
/* Raises if the llvm target has no such type. */
void type_check(DataType t, Span span);

LLVMValueRef const_int(Gen *g, DataType t, int64_t value); /* of any lanes */
LLVMValueRef const_float(Gen *g, DataType t, double value);
LLVMValueRef const_i32(Gen *g, int64_t value);
LLVMValueRef const_i64(Gen *g, int64_t value);
LLVMValueRef const_text(Gen *g, const char *text);

/* ---- cast.c, small_float.c ---- */

LLVMValueRef gen_cast(Gen *g, LLVMValueRef v, DataType from, DataType to);
/* Small floats to float32 and back; other values as they are. */
LLVMValueRef gen_widen(Gen *g, LLVMValueRef v, DataType t);
LLVMValueRef gen_narrow(Gen *g, LLVMValueRef v, DataType t);
LLVMValueRef gen_splat(Gen *g, LLVMValueRef scalar, int lanes);
LLVMValueRef gen_to_bool(Gen *g, LLVMValueRef v, DataType from);
/* From the way a value stands in memory to the way it stands in a register, and back. */
LLVMValueRef gen_from_memory(Gen *g, LLVMValueRef v, DataType t);
LLVMValueRef gen_to_memory(Gen *g, LLVMValueRef v, DataType t);
LLVMValueRef small_float_widen(Gen *g, LLVMValueRef bits, DataType t);
LLVMValueRef small_float_narrow(Gen *g, LLVMValueRef f32, DataType t);

/* ---- expr.c, binary.c, divide.c ---- */

LLVMValueRef gen_expr(Gen *g, Node *n);
/* An index as i64. Its sums and products may be taken not to overflow. */
LLVMValueRef gen_index(Gen *g, Node *n);
LLVMValueRef gen_binary(Gen *g, Node *n);
LLVMValueRef gen_divide(Gen *g, Node *n, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef gen_compare(Gen *g, NodeKind kind, DataType t, LLVMValueRef a, LLVMValueRef b);
/* cond ? then() : orelse(), by control flow. */
LLVMValueRef gen_branch_value(Gen *g, Node *cond, Node *then, Node *orelse);
LLVMValueRef gen_condition(Gen *g, Node *n); /* as i1, whatever its dtype */
/* Floating-point flags of the target option. */
LLVMValueRef gen_fp(Gen *g, LLVMValueRef v);

/* ---- memory.c, alloc.c ---- */

LLVMValueRef gen_load(Gen *g, BufferLoad *n);
void gen_store(Gen *g, BufferStore *n);
LLVMValueRef gen_address(Gen *g, Node *buffer, Node *index); /* of an element */
LLVMValueRef gen_element_pointer(Gen *g, LLVMValueRef base, DataType elem, LLVMValueRef index);
/* A place in the entry block. */
LLVMValueRef gen_alloca(Gen *g, LLVMTypeRef type, int64_t n, unsigned align, const char *name);
/* Binds the variable; true if the memory is on the heap, to be given back by gen_free_heap. */
bool gen_allocate(Gen *g, Allocate *n);
void gen_allocate_const(Gen *g, AllocateConst *n);

/* ---- stream.c ---- */

/* Bytes that the store is aligned to where its buffer is; 0: it can't go past the caches. */
unsigned stream_alignment(Gen *g, BufferStore *n);
/* May the stores of this loop go past the caches, as it asks? NULL: it does not ask, or they can't.
 */
LLVMValueRef stream_condition(Gen *g, For *n);
void stream_store(Gen *g, LLVMValueRef store, unsigned align);
void stream_end(Gen *g); /* of a function: its stores are there for other threads */

/* ---- intrin.c, math.c, float32_*.c, call.c, packed.c ---- */

LLVMValueRef gen_call(Gen *g, Call *n);
/* T.exp and its like: NULL if the table of math.c has no such name. */
LLVMValueRef gen_math(Gen *g, Call *n, const char *name);
/* Computes a function of values of one type: a float or a vector of floats. */
typedef LLVMValueRef MathFormula(Gen *g, LLVMTypeRef type, LLVMValueRef *args);
/* Of float32 (float32_*.c). */
MathFormula float32_exp, float32_exp2, float32_exp10, float32_log, float32_log2, float32_log10,
    float32_log1p, float32_sigmoid, float32_tanh, float32_erf, float32_half_of_erf, float32_sin,
    float32_cos, float32_pow;
/* Of float64, for devices (float64_*.c). */
MathFormula float64_exp, float64_exp2, float64_exp10, float64_log, float64_log2, float64_log10,
    float64_log1p, float64_sigmoid, float64_tanh, float64_erf, float64_sin, float64_cos,
    float64_tan, float64_asin, float64_acos, float64_atan, float64_sinh, float64_cosh,
    float64_asinh, float64_acosh, float64_atanh, float64_atan2, float64_hypot, float64_pow,
    float64_fmod;
LLVMValueRef gen_extern(Gen *g, Call *n, const char *name);
LLVMValueRef gen_call_packed(Gen *g, Call *n, const char *name, bool by_address);
LLVMValueRef gen_kernel_call(Gen *g, Call *n);
LLVMValueRef gen_llvm_intrinsic(Gen *g, Call *n, const char *name);
/* A call of an LLVM intrinsic overloaded on one type. */
LLVMValueRef gen_overloaded(Gen *g, const char *name, LLVMTypeRef on, int n, LLVMValueRef *args);
LLVMValueRef gen_runtime_call(Gen *g, const char *name, int n, LLVMValueRef *args); /* abi.def */
LLVMValueRef gen_c_call(Gen *g, const char *name, LLVMTypeRef ret, int n, LLVMValueRef *args);
void gen_attribute(Gen *g, LLVMValueRef function, unsigned index, const char *name, uint64_t value);
_Noreturn void gen_unsupported(Gen *g, Node *n, const char *what);

/* ---- device.c, device_call.c, nvptx.c: for a device only ---- */

enum { SPACE_GLOBAL = 1, SPACE_SHARED = 3 }; /* address spaces */
enum { DEVICE_ALIGN = 16 };                  /* bytes: of pointers that kernels get */

void gen_declare_kernel(Gen *g, const char *name, PrimFunc *f);
void gen_kernel(Gen *g, const char *name, PrimFunc *f);
void gen_launch(Gen *g, AttrStmt *n); /* binds the variable of one axis */
void gen_allocate_device(Gen *g, Allocate *n);
/* The builtins that only devices have; NULL and *found false: it is none. Raises for those that
 * only hosts have. */
LLVMValueRef gen_device_call(Gen *g, Call *n, const char *name, bool *found);
LLVMValueRef gen_atomic(Gen *g, Call *n); /* atomic.c; NULL: it is none */
LLVMValueRef gen_ptx_call(Gen *g, Call *n, const char *name, bool *found);
/* A call of an LLVM intrinsic that is overloaded on nothing. */
LLVMValueRef gen_intrinsic(Gen *g, const char *name, int n, LLVMValueRef *args);
/* float32 to float16 or bfloat16 by an instruction for two, where the device has it. */
bool gen_device_narrows(Gen *g, DataType t);
LLVMValueRef gen_device_narrow(Gen *g, LLVMValueRef v, DataType t);
/* A power of two that the address of this element is a multiple of, in bytes: that of the element
 * itself, or up to DEVICE_ALIGN if more is known. LLVM does not look far into sums. */
unsigned gen_alignment(Gen *g, Node *data, Node *index, DataType elem);
/* Memory at `pointer`, `offset` elements on; the pointer's own elements if they are known. */
LLVMValueRef gen_pointer_at(Gen *g, Node *pointer, Node *offset, DataType elem);

/* ---- stmt.c, loop.c, parallel.c ---- */

void gen_stmt(Gen *g, Node *n);
void gen_for(Gen *g, For *n);
void gen_while(Gen *g, While *n);
/* for (var = begin; var < end; var++); `range` bounds the variable. */
void gen_loop(Gen *g, For *n, LLVMValueRef begin, LLVMValueRef end, Range64 range);
void gen_parallel(Gen *g, For *n);
LLVMBasicBlockRef gen_block(Gen *g, const char *name); /* appended to the function */
void gen_bind(Gen *g, Node *var, LLVMValueRef value);

/* ---- debug.c: nothing happens without debug_begin ---- */

void debug_begin(Gen *g);
void debug_end(Gen *g);
void debug_dispose(Gen *g);
void debug_function(Gen *g, const char *name, Span span); /* of g->f, just begun */
void debug_place(Gen *g, Span span);                      /* what is written next came from there */
void debug_no_place(Gen *g);
void debug_variable(Gen *g, Node *var, LLVMValueRef value); /* has this value from here on */

/* ---- optimize.c, jit.c, emit.c, link.c ---- */

/* In three steps, of which the second one takes no collected memory. */
int optimize_level(Gen *g); /* checks the module, too */
LLVMErrorRef optimize_run(Gen *g, int level);
void optimize_check(LLVMErrorRef error);
void optimize_module(Gen *g);
bool jit_has_listeners(void); /* does the environment ask to tell someone of the code? */
TvmsModule *jit_load(Node *module, const Target *target);
void emit_file(Node *module, const Target *target, EmitKind kind, const char *path);
const char *ptx_of_module(Node *module, const Target *target);
/* Raises with what the linker said. */
/* A module for browsers, with the runtime: WebAssembly. */
void link_wasm(const StrVec *objects, const char *path, const char *triple);
void link_shared(const StrVec *objects, const char *path, const char *triple, bool is_host);
_Noreturn void raise_llvm(const char *doing, char *message); /* disposes of the message */

#pragma GCC visibility pop

#endif
