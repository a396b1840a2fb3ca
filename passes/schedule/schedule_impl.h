/* schedule_impl.h -- what the files of passes/schedule/ share. */
#ifndef PASSES_SCHEDULE_SCHEDULE_IMPL_H
#define PASSES_SCHEDULE_SCHEDULE_IMPL_H

#include "ir/analysis/first_write.h"
#include "ir/analysis/touched.h"
#include "ir/arith/iter_map.h"
#include "passes/schedule/schedule.h"

struct ScheduleCall {
  Schedule *schedule;
  const Primitive *primitive;
  NodeVec args, results;
  Node *decision;
  Span span;
  Node *before; /* the module as the step found it */
};

/* A block of the module as it is now; node NULL: it is gone. */
typedef struct BlockRef {
  const char *func; /* interned */
  Node *node;       /* Block */
} BlockRef;

/* A place in a function: the statements from its body down to one of them, which is the last. */
typedef struct Place {
  const char *func;
  NodeVec path;
  Node *prim_func;
} Place;

struct Schedule {
  Node *module;
  ScheduleOptions options;
  const char *working_on;
  Map refs;   /* Block to its BlockRef */
  Map values; /* random variable (Var) to RandomValue */
  Trace trace;
  uint64_t random;         /* state of the generator */
  int blocks, loops, ints; /* random variables so far, for their names */
};

/* ---- refusals (refuse.c) ---- */

/* Refuses the step. `at` (For, Block or NULL) is marked in the text of its function. */
_Noreturn void schedule_fail(ScheduleCall *c, Node *at, const char *format, ...) PRINTF_LIKE(3, 4);

/* ---- state (state.c) ---- */

Node *prim_func_of(const ScheduleCall *c, const char *func); /* PrimFunc */
/* The place of a For or Block; an empty path if the function has none such. */
Place place_of(const ScheduleCall *c, const char *func, Node *stmt);
/* Puts a statement in the place of another one. Blocks around it are followed. */
void schedule_replace(ScheduleCall *c, const char *func, Node *old, Node *new);
/* The block `new` is what `old` has become, for those who refer to it; NULL: it is gone. */
void schedule_renew(ScheduleCall *c, Node *old, Node *new);
/* mutate_children for rewrites of statements: changed blocks are followed. m->context is anything.
 */
Node *schedule_rewrite_children(ScheduleCall *c, Mutator *m, Node *n);
/* A statement with variables and buffers replaced; blocks in it are followed. */
Node *schedule_substituted(ScheduleCall *c, Node *stmt, const Map *map);
/* The same everywhere in a function. */
void schedule_substitute(ScheduleCall *c, const char *func, const Map *map);
void schedule_set_function(ScheduleCall *c, const char *func, Node *prim_func);

BlockRef *block_ref(ScheduleCall *c, const char *func, Node *block);
/* The one block of that name; func NULL: in the function worked on, or the only one. (find.c) */
BlockRef *find_block(ScheduleCall *c, const char *name, const char *func);

/* ---- arguments and results (state.c) ---- */

BlockRef *block_arg(ScheduleCall *c, int i);         /* a random variable, or the name of a block */
Place loop_place(ScheduleCall *c, Node *random_var); /* its last statement is the For */
Place loop_arg(ScheduleCall *c, int i);
bool is_block_arg(ScheduleCall *c, int i); /* rather than a loop */
/* A random variable of a loop may stand for no loop: the block stays, or is inlined. */
enum { LOCATION_ROOT = -1, LOCATION_INLINE = -2 };
int location_arg(ScheduleCall *c, int i); /* 0: it is a loop */
bool flag_arg(ScheduleCall *c, int i);
int64_t int_arg(ScheduleCall *c, int i, const char *what);
const char *text_arg(ScheduleCall *c, int i, const char *what);
NodeVec list_arg(ScheduleCall *c, int i); /* of *rest or a list */
Map random_ints(ScheduleCall *c);         /* random variables that are integers, to these */
/* An integer expression with the random variables in it replaced by their values. */
Node *expr_value(ScheduleCall *c, Node *n);
void give_block(ScheduleCall *c, const char *func, Node *block);
void give_loop(ScheduleCall *c, const char *func, Node *loop_var);
void give_int(ScheduleCall *c, Node *value);

/* ---- blocks and scopes (scope.c) ---- */

/* The innermost block around the last statement of a place, which is not it itself. */
Node *scope_block(const Place *p);
/* For statements between that block and the last statement, which is not among them. */
NodeVec loops_around(const Place *p);
/* For statements of a place below one of them. */
NodeVec loops_inside(const Place *p, const Node *loop);
/* The BlockRealize of a block in a place that ends in the block. */
Node *realize_of(const Place *p);
/* BlockRealize statements below a statement and not inside another block, in order. */
NodeVec child_realizes(Node *stmt);
/* Does the block read or write the buffer? */
bool block_reads(const Block *b, const Node *buffer);
bool block_writes(const Block *b, const Node *buffer);
/* Child blocks of the scope that write what `block` reads, or read what it writes. */
NodeVec producers_of(Node *scope, Node *block);
NodeVec consumers_of(Node *scope, Node *block);
/* Why the block is no complete block, or no reduction block, of the scope; NULL: it is one. */
const char *why_not_complete(Node *scope, Node *block);
const char *why_not_reduction(Node *scope, Node *block);
/* The same, for who keeps the order of steps: they need not be data-parallel. */
const char *why_not_complete_in_order(Node *scope, Node *block);
const char *why_not_reduction_in_order(Node *scope, Node *block);
/* The variables of a block that stands in the place, and those that are the same in the whole
 * function: scalar parameters, symbolic dims. */
Map variables_of(const Place *p, const Block *b);
/* Is the expression pure, and made of these variables alone? */
bool is_of_variables(Node *e, const Map *variables);
/* The buffer of the region with the number that argument 1 is, of that name, or itself; the
 * argument becomes the number. `kind` is what the block does to it. */
Node *buffer_arg(ScheduleCall *c, Block *b, NodeVec regions, const char *kind);
const char *scope_arg(ScheduleCall *c, int i); /* the name of a storage scope (buffer.c) */
/* Refuses a buffer that no block around the place owns. */
void need_internal_buffer(ScheduleCall *c, const Place *p, Node *buffer);
/* The same, and one that is used outside of the block that the place's last block stands in. */
void need_local_buffer(ScheduleCall *c, const Place *p, Node *buffer);

/* The buffer that argument i says: ("read", n) or ("write", n) of the block, its name, or it
 * itself. The argument becomes the first of these. */
Node *buffer_named(ScheduleCall *c, Block *b, int i);
/* The index map of argument i, which takes so many inputs, in dtype t. */
const IndexMap *index_map_arg(ScheduleCall *c, int i, int inputs, DataType t);
/* The dtype of the indices of a buffer, or the values of a block's variables: the widest. */
DataType index_dtype(NodeVec exprs);
/* All blocks of a statement, outer ones first. */
NodeVec all_blocks(Node *stmt);
/* The block that owns the buffer; of a parameter's, the outermost one. */
Node *owner_of(PrimFunc *f, const Node *buffer);
bool loads_anything(Node *n);

/* Refuses a buffer that is accessed otherwise than by loads and stores. */
void need_direct_accesses(ScheduleCall *c, const char *func, Node *buffer, Node *at);
/* The same, and one that is not laid out plainly. */
void need_plain_buffer(ScheduleCall *c, const char *func, Node *buffer, Node *at);

/* ---- nests of one block (nest.c) ---- */

/* Loops over [0, extents), and data-parallel variables of a block that are bound to them. */
typedef struct Nest {
  NodeVec extents, loops, vars, iters;
} Nest;
Nest nest_begin(ScheduleCall *c, NodeVec extents);
/* The nest around a block, given its name and body; its regions too, unless they shall be inferred.
 * predicate (NULL: true) is on the loops. */
Node *nest_end(ScheduleCall *c, const Nest *n, Block block, Node *predicate, Node **made);
Node *loops_over(NodeVec vars, NodeVec extents, Node *body); /* from 0 on */
Node *point_region(Node *buffer, NodeVec indices);           /* one element */
/* Indices and regions in terms of the nest's variables, simplified. */
Node *simplify_indices(ScheduleCall *c, Node *stmt, const Nest *n);
/* Why the loops around the last block of the place are not just its variables' domains, one plain
 * loop for each, around nothing else; NULL: they are. */
const char *why_no_plain_nest(const Place *p);
Node *nest_of(const Place *p); /* the outermost of these loops */
/* Do the loops around the last block of the place take it through all values that these of its
 * variables (keys) can have together? */
bool runs_for_all(const Place *p, const Map *vars);

/* ---- reductions (reduction.c) ---- */

/* A block that combines by one operation: store = old value op operand, from the identity on. */
typedef struct Reduction {
  NodeKind op; /* Add, Mul, Min or Max */
  BufferStore *store;
  Node *operand, *identity;
} Reduction;
const char *block_reduction(Block *b, Reduction *out); /* why it is none, or NULL */
/* Refuses a block that is none. */
Reduction reduction_of(ScheduleCall *c, Block *b);
/* The other operand where the value is an operation on a load of the element that is stored; NULL:
 * it is none. */
Node *beside_load(const BufferStore *of, Node *value, NodeKind *op);
NodeVec conjuncts(Node *cond); /* what `and` joins */

/* ---- new buffers (patch.c, cache.c, nest.c) ---- */

/* The block around the block `inside` gets the buffers. */
void own_buffers(ScheduleCall *c, const char *func, Node *inside, NodeVec buffers);

/* A block gets a buffer, and accesses of other blocks go to it. */
typedef struct Patch {
  Mutator mutator;
  ScheduleCall *call;
  Node *scope, *alloc;    /* the block that owns the new buffer */
  Node *beside;           /* a statement, and what comes */
  Node *front, *behind;   /* before and after it, or NULL */
  const Map *blocks;      /* whose accesses are redirected */
  Node *from, *to;        /* buffers */
  const NodeVec *indices; /* of the redirected accesses; NULL: the same as before */
  bool redirecting;
  Map aliases; /* buffers over the pointer of `from` to those over that of `to` */
} Patch;
void patch(Patch *p, const char *func);
/* The level of the statement of a place that can be copied for or back beside: one that holds none
 * of `apart`, or an element of the innermost sequence that is so. */
int level_of(const Place *p, Node *scope, NodeVec apart);
Place place_prefix(const Place *p, int n); /* its first n statements */
/* Refuses a block that may leave out some of what it is said to write of the buffer. */
void need_all_written(ScheduleCall *c, Node *block, const Node *buffer);
/* Refuses the block of a place if one run of its scope does not do all steps of its reduction. */
void need_whole_reduction(ScheduleCall *c, const Place *p);

/* ---- what a block that moves runs over (domain.c) ---- */

enum { MAX_VARIABLES = 64 };

/* What a variable of the block runs over: [min, min + extent), or all of its domain (min NULL). */
typedef struct Domain {
  Node *min, *extent;
  bool guarded; /* it may reach over the end of the variable's own domain */
} Domain;

/* Lets the block's variables run over what makes the region touch all that is needed, beside what
 * they run over already (unless this is the first region); `inside`: over what makes it touch
 * nothing else. */
void add_domains(const Block *b, Node *region, const Touched *need, bool inside, bool is_first,
                 Domain *domains, Analyzer *facts);

/* ---- what moves out of loops (compute_at.c) ---- */

/* Refuses a block that would leave a loop around it, one that is not around `target`, in which what
 * it reads is written again, step after step. */
void need_lasting_producers(ScheduleCall *c, const Place *block, Node *target);

/* ---- taking blocks out (inline.c) ---- */

/* The outermost statement that holds nothing but the last of the place. */
Node *removed_with(const Place *p);
/* Takes it out of the function, and a buffer (or NULL) out of the blocks that own or declare it. */
void take_out(ScheduleCall *c, const Place *p, Node *buffer);

/* ---- tiles (blockize.c) ---- */

/* The loops from the last of the place down to their one block, as a block of tiles. */
Node *blockize_loop(ScheduleCall *c, const Place *p, bool keep_units);

/* ---- loops and bindings (loop.c) ---- */

/* Refuses a loop that is annotated, bound to threads, or does not start at 0. */
void need_plain_loop(ScheduleCall *c, Node *loop);
/* Does each step of the loop, the last of the place, touch a part of the buffer of its own? */
bool steps_are_apart(ScheduleCall *c, const Place *p, Node *buffer);
/* A copy of a loop over another body. */
Node *loop_with_body(const For *loop, Node *body);
/* What is known at a place: ranges of the loops around it, and conditions of its blocks. */
Analyzer *facts_at(const Place *p);
/* Bindings and predicates of the blocks below, simplified. `facts` gets the loops below. */
Node *simplify_bindings(ScheduleCall *c, Node *stmt, Analyzer *facts);

#define PRIMITIVE(name, signature, gives, doc) void primitive_##name(ScheduleCall *c);
#define ALIAS(name, of)
#include "passes/schedule/primitive.def"

#endif
