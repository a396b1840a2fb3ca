/* c.h -- private to target/c/: from flat functions without vectors to one C11 file.
 *
 * The text is for any C compiler and for people: names are kept, a statement is a line, what C
 * leaves open is done by small functions that stand before their first use (helper.def).
 *
 * How values stand in variables: integers as intN_t (of less than 8 bits: in 8, always in range),
 * bool as bool, floats of less than 32 bits as their bits, pointers as pointers to what they point
 * to. In memory a bool is a byte. What is undefined in C is defined as in target/llvm/codegen.h,
 * and functions look and fail as there.
 *
 * Expressions become text, without statements where that can be. What can't (a call that may fail,
 * a let) is written before the statement; operands that must keep their order get names. Sums and
 * products are plain where a range shows that they do not overflow. */
#ifndef TARGET_C_C_H
#define TARGET_C_C_H

#include "ir/ir.h"
#include "ir/target.h"
#include "target/lowered.h"
#include "target/range.h"
#include "target/target.h"

/* How tightly an expression's text binds: from names to `a ? b : c`. */
typedef enum {
  BINDS_ATOM,
  BINDS_UNARY,
  BINDS_MUL,
  BINDS_ADD,
  BINDS_COMPARE,
  BINDS_LOGIC,
  BINDS_CHOICE
} Binding;

typedef struct CText {
  const char *at; /* "": nothing, of a call without a result */
  Binding binds;
} CText;

/* A variable of C. */
typedef struct CVar {
  const char *name;
  DataType elem;     /* what a pointer is declared to point to, or void */
  bool is_const;     /* nothing is written through the pointer */
  const char *space; /* of a pointer's memory, where the dialect has several: "__global " */
  const void *place; /* what the dialect knows of a pointer's memory */
  int align;         /* bytes that a pointer is known to be a multiple of; 0: of an element */
} CVar;

/* What a function does with its variables. */
typedef struct CUses {
  Map named;  /* Vars that stand as values */
  Map loaded; /* pointer Vars through which elements are read */
  Map stored; /* and written */
} CUses;

typedef enum { CFUNC_KERNEL, CFUNC_PACKED, CFUNC_PARALLEL_BODY, CFUNC_DEVICE } CFuncSort;

typedef struct CGen CGen;

/* A row of helper.def. */
typedef struct CHelper {
  const char *name, *c_name, *text;
} CHelper;

/* The vectors of a dialect, of 2 to 16 lanes. `type` is C's name of one, as "float4"; of small
 * floats, that of their bits. Pointers are the text of an address of elements in a space. */
typedef struct CVectors {
  const char *(*type)(DataType t, const char *elem); /* elem: "float", "uchar" */
  CText (*lane)(const char *vector, int lanes, int lane);
  const char *(*make)(const char *type, const char *lanes); /* of all lanes, or of one for all */
  /* An access of all lanes; NULL: there is none for so little alignment. */
  const char *(*load)(DataType t, const char *space, const char *type, const char *pointer,
                      bool is_aligned);
  const char *(*store)(DataType t, const char *space, const char *type, const char *pointer,
                       const char *value, bool is_aligned);
} CVectors;

/* What a relative of C spells in another way than C11 does, or can't say. */
typedef struct CDialect {
  const char *name;       /* for messages: "the c target" */
  bool is_host;           /* calls the runtime, may fail, knows #line */
  bool has_overloads;     /* functions of mathematics have one name for all types */
  const char *function;   /* what stands before a helper */
  const CHelper *helpers; /* its own rows, with an empty one at the end; or NULL */
  /* The row of helper.def that does better than `name`, or `name`. NULL: there is none. */
  const char *(*helper)(const char *name, DataType t);
  /* The words for global memory, for what a block shares and for what a thread has, with a space
   * behind; NULL: pointers tell nothing of it. */
  const char *spaces[3];
  /* What makes a block's threads wait for each other: shared memory, global memory. */
  const char *barriers[2];
  /* The function that gives the bits of one type as another; NULL: a helper does. */
  const char *(*bits)(DataType to, DataType from);
  /* Calls and attributes of its own; false: it has none such. */
  bool (*call)(CGen *g, Call *n, const char *name, CText *out);
  bool (*attribute)(CGen *g, AttrStmt *n);
  void (*allocate)(CGen *g, Allocate *n);
  const CVectors *vectors; /* NULL: it has none */
  /* Why it has no such type, and what to do; NULL: it has. */
  const char *(*lacks)(DataType t);
  /* Of a language whose types and expressions are none of C's, all of these; else NULL. */
  const char *(*type)(DataType t);
  const char *(*declare)(const char *type, const char *name);
  const char *discard; /* what stands before a value that nobody takes */
  CText (*integer)(CGen *g, DataType t, int64_t value);
  CText (*real)(CGen *g, DataType t, double value);
  CText (*cast)(CGen *g, CText v, DataType from, DataType to);
  CText (*select)(CText cond, CText then, CText orelse);
  CText (*binary)(CGen *g, Binary *n);
  CText (*load)(CGen *g, BufferLoad *n);
  void (*store)(CGen *g, BufferStore *n, CText v);
  /* When a loop goes on, and how; NULL: as in C. */
  const char *(*loop)(CGen *g, DataType t, const char *var, const char *end);
} CDialect;
extern const CDialect c_dialect;

/* The function being written. */
typedef struct CFunc {
  CFuncSort sort;
  const CUses *uses;
  const char *name; /* in the module */
  const char *c_name;
  DataType result; /* of a kernel; void if none */
  Map values;      /* Var to CVar *, the ones in scope and those that were */
  Map names;       /* interned names taken, of this function and around it */
  Map distinct;    /* pointer Vars whose memory no other pointer reaches */
  Ranges ranges;
  bool may_alias;         /* pointers of any type may reach the same memory */
  VEC(const char *) heap; /* to free on the way out */
  VEC(int) loops;         /* how many of them there were when the loop began */
  const char *frame;      /* to end on failure, or NULL */
  int64_t stack_bytes;
  int depth, temporaries, parallel_loops;
  Str *out; /* the lines */
} CFunc;

struct CGen {
  const CDialect *dialect;
  const Target *target;
  Node *module;
  bool in_process;
  Map kernels;   /* interned name of a GlobalVar to the C name of its function */
  Map names;     /* interned names of the file's own functions and types */
  Map helpers;   /* interned name to the text of a helper, in order of need */
  Map externs;   /* interned name to the declaration of a C function */
  Str functions; /* the bodies so far */
  CFunc *f;
};

/* ---- module.c, function.c ---- */

void c_add_helpers(Str *s, const Map *helpers, const char *functions); /* that are needed */
/* The whole file. Raises. in_process: C functions that are called must be in this process. */
const char *c_module(Node *module, const Target *target, bool in_process);
const char *c_prototype(CGen *g, const char *name, PrimFunc *f);
void c_function(CGen *g, const char *name, PrimFunc *f);
CUses c_uses_of(Node *body);
void c_mark_unused(CGen *g, const NodeVec *vars); /* lines for C compilers */
bool c_is_read(CGen *g, Node *var);               /* or passed on */
bool c_is_used(CGen *g, Node *var);
void c_fail(CGen *g);                        /* lines that free everything and return -1 */
void c_fail_if(CGen *g, const char *failed); /* a condition */
void c_raise(CGen *g, const char *kind, const char *message); /* sets the error */
void c_out_of_memory_if(CGen *g, const char *failed);
void c_free_heap(CGen *g, int down_to);
void c_return(CGen *g, const char *status);
void c_ret(CGen *g, Call *n); /* T.ret */

/* ---- name.c ---- */

/* A name close to `hint` that is no word of C and not in `taken` or `outer` (or NULL), and now is.
 */
const char *c_name(const char *hint, Map *taken, const Map *outer);
bool c_is_identifier(const char *name);
/* A new variable of C for `var`. */
CVar *c_bind(CGen *g, Node *var);
const char *c_temporary(CGen *g);

/* ---- type.c ---- */

const char *c_type(CGen *g, DataType t);                  /* in a variable: "int32_t" */
const char *c_type_in_memory(CGen *g, DataType t);        /* "uint8_t" for bool */
const char *c_pointer(CGen *g, DataType elem);            /* "float *", "void *" */
const char *c_pointer_to(CGen *g, const CVar *v);         /* of its space: "__global float *" */
const char *c_declare(CGen *g, Node *var, const CVar *v); /* "float *A" */
const char *c_declare_as(CGen *g, DataType t,
                         const char *name);        /* a variable that is none of the program's */
DataType c_compute(DataType t);                    /* float32 for small floats */
void c_check_type(CGen *g, DataType t, Span span); /* raises where C has no such type */
CText c_int(CGen *g, DataType t, int64_t value,
            bool typed); /* typed: C gives it the type by itself */
CText c_float(CGen *g, DataType t, double value);
const char *c_decimal(double value, bool is_double); /* the shortest that reads back */
const char *c_string(const char *text);

/* ---- helper.c ---- */

/* The name of a helper for type `t` (and `from`, where the row speaks of two), which it makes. */
const char *c_helper(CGen *g, const char *name, DataType t, DataType from);

bool c_has_helper(CGen *g, const char *name, DataType t); /* the dialect, a row of its own */
bool c_has_format(CGen *g, DataType t); /* of a small float: can it be turned into a float32? */
/* The name of a function that gives the bits of a value of type `from` as one of type `to`. */
const char *c_bits_function(CGen *g, DataType to, DataType from);
/* What the names of math.h end in for a type: "f" for float. */
const char *c_suffix(CGen *g, DataType t);
const char *c_libm(CGen *g, const char *name, DataType t); /* the function of math.h for the type */

/* ---- expr.c, arith.c, cast.c ---- */

CText c_expr(CGen *g, Node *n);
CText c_operand(CGen *g, Node *n); /* a literal needs no type of its own here */
/* Several, evaluated in order. */
void c_operands(CGen *g, int n, Node *const *nodes, CText *out);
CText c_index(CGen *g, Node *n); /* sums and products may be taken not to overflow */
CText c_condition(CGen *g, Node *n);
CText c_binary(CGen *g, Node *n, bool is_index);
CText c_choice(CGen *g, Node *cond, Node *then, Node *orelse);
CText c_select(CGen *g, CText cond, CText then,
               CText orelse); /* no matter which of them are evaluated */
CText c_cast(CGen *g, CText v, DataType from, DataType to);
bool c_rounds_twice(DataType from,
                    DataType to); /* an int that becomes a small float by way of float */
CText c_fit(CGen *g, DataType t, const char *text); /* of an int's arithmetic, into a narrow type */
CText c_widen(CGen *g, CText v, DataType t);        /* small floats to float; others as they are */
CText c_narrow(CGen *g, CText v, DataType t);       /* and back */
CText c_name_it(CGen *g, CText v, DataType t);      /* in a variable of its own */
CText c_text(Binding binds, const char *format, ...) PRINTF_LIKE(2, 3);
const char *c_within(CText v, Binding most); /* in parentheses if it binds less tightly */
_Noreturn void c_unsupported(CGen *g, Node *n, const char *what);

/* ---- memory.c ---- */

/* A place in memory: the pointer's text, the index as an expression, and the elements. */
typedef struct CPlace {
  Buffer *buffer;
  const char *pointer;
  Node *index;
  bool is_subscript;
} CPlace;
CPlace c_place(CGen *g, Node *n, Node *buffer, const NodeVec *indices);
CText c_load(CGen *g, BufferLoad *n);
void c_store(CGen *g, BufferStore *n);
CText c_address(CGen *g, Node *buffer, Node *index);
CText c_element_pointer(CGen *g, Node *pointer, DataType elem, Node *index);
/* True if it wrote the body too: memory on the heap has a scope. */
bool c_allocate(CGen *g, Allocate *n);
void c_allocate_const(CGen *g, AllocateConst *n);

/* ---- vector.c ---- */

const char *c_vector_type(CGen *g, DataType t);
bool c_has_vector(CGen *g, DataType t);                       /* true of scalars */
const char *c_vector_name(DataType t, const char *elem);      /* "float4" */
CText c_vector_lane(const char *vector, int lanes, int lane); /* "v.x", or "v.s8" of long ones */
CText c_shuffle(CGen *g, Shuffle *n);
CText c_broadcast(CGen *g, Broadcast *n);
CText c_vector_choice(CGen *g, Binary *n, CText a, CText b); /* Min and Max */
CText c_vector_load(CGen *g, BufferLoad *n);
void c_vector_store(CGen *g, BufferStore *n, CText value);

/* ---- call.c, intrin.c, math.c, packed.c ---- */

CText c_call(CGen *g, Call *n);
CText c_extern(CGen *g, Call *n, const char *name);
CText c_kernel_call(CGen *g, Call *n);
bool c_is_math(const char *name); /* a function of math.h that the text may call */
bool c_math(CGen *g, Call *n, const char *name, CText *out); /* false: no such function */
CText c_call_packed(CGen *g, Call *n, const char *name, bool by_address);
const char *c_join(int n, const CText *args); /* "a, b" */

/* ---- stmt.c, parallel.c ---- */

void c_line(CGen *g, const char *format, ...) PRINTF_LIKE(2, 3);
void c_discard(CGen *g, CText v);
void c_mark_used(CGen *g, Node *n, CText v); /* a value that is not needed, for C compilers */
void c_stmt(CGen *g, Node *n);
void c_loop(CGen *g, For *n, const char *begin, const char *end);
void c_parallel(CGen *g, For *n);

/* ---- device.c ---- */

void c_take_words(CGen *g, const char *const *words, size_t n); /* no variable has these names */
void c_take_cpp_words(CGen *g);                                 /* of C++ beyond those of C */
void c_take_vector_types(CGen *g);                              /* float4, uint16 and their like */
/* Takes their names, then writes the device functions. */
void c_kernels(CGen *g, void (*write)(CGen *g, const char *name, PrimFunc *f));
/* The lines of one, after what `head` does: it binds the parameters. */
typedef void CKernelHead(CGen *g, PrimFunc *f, void *context);
const char *c_kernel(CGen *g, const char *name, PrimFunc *f, CKernelHead *head, void *context);
CVar *c_kernel_param(CGen *g, PrimFunc *f, Node *param); /* binds it */
void c_check_buffers(CGen *g, PrimFunc *f, int buffers); /* raises: more than the target has */
bool c_block_size(PrimFunc *f, int64_t size[3]); /* threads along x, y, z; false: not constant */
/* Of a thread_extent: declares the variable as the number that the dialect gives; else false. */
bool c_thread(CGen *g, AttrStmt *n, const char *(*number)(bool is_block, char axis));
/* Arrays of a thread; what threads share is declared at the head of the kernel. */
void c_allocate_local(CGen *g, Allocate *n);
/* Walks the Allocates of what threads share: binds their variables. */
void c_each_shared(CGen *g, Node *body,
                   void (*declare)(CGen *g, CVar *v, int64_t count, void *context), void *context);
/* The builtins of threads, and what no device has. */
bool c_device_call(CGen *g, Call *n, const char *name, CText *out);
int64_t c_constant_size(Allocate *n); /* elements, at least 1; raises if not constant */
void c_refuse_of_hosts(CGen *g, Call *n, const char *name);

/* ---- build.c ---- */

TvmsModule *c_load_module(Node *module, const Target *target);
void c_emit(Node *module, const Target *target, EmitKind kind, const char *path);

#endif
