/* schedule.h -- schedules: a module, and primitives that change how its tensor programs run but not
 * what they compute.
 *
 * A primitive is a row of primitive.def: what it takes and gives are random variables (Vars) that
 * stand for blocks, loops and integers of the module as it is at the time. A loop is its loop
 * variable, a block is followed from rewrite to rewrite. Each step is recorded in a trace. A step
 * that may not be done raises ScheduleError and changes nothing. */
#ifndef PASSES_SCHEDULE_SCHEDULE_H
#define PASSES_SCHEDULE_SCHEDULE_H

#include "ir/ir.h"

typedef struct Schedule Schedule;

/* What a primitive gives back to a script. */
typedef enum { GIVES_NONE, GIVES_ONE, GIVES_LIST } PrimitiveGives;

typedef struct ScheduleCall ScheduleCall;
typedef struct Primitive {
  const char *name;
  const char *signature; /* parameters with defaults, as those of builtins */
  PrimitiveGives gives;
  void (*run)(ScheduleCall *call);
  const char *doc;
} Primitive;
const Primitive *primitive_find(const char *name);
const Primitive *primitive_at(int i); /* NULL past the end */

/* One step. args: beside the parameters of the signature; random variables, IntImm, FloatImm,
 * StringImm, Array, Dict, IndexMap, Buffer; NULL for None, and an Array for *rest. */
typedef struct Instruction {
  const Primitive *primitive;
  NodeVec args, results; /* results: new random variables */
  Node *decision;        /* of sampling primitives: what was drawn; else NULL */
} Instruction;
typedef VEC(Instruction) Trace;

/* How a refused step is told: not at all, by its reason, or with the function it is about. */
typedef enum { RENDER_NONE, RENDER_FAST, RENDER_DETAIL } ErrorRender;

typedef struct ScheduleOptions {
  uint64_t seed; /* 0: the same for every schedule */
  bool verifies; /* the module, after each step */
  ErrorRender render;
} ScheduleOptions;

Schedule *schedule_new(Node *module, ScheduleOptions options);
Schedule *schedule_copy(const Schedule *s); /* the same random variables are valid in the copy */
Node *schedule_module(const Schedule *s);
const Trace *schedule_trace(const Schedule *s);
void schedule_work_on(Schedule *s, const char *function, Span span);
/* The function in which blocks are looked up: "main", or the only tensor program, unless another
 * was named. NULL: there are several. */
const char *schedule_working_on(const Schedule *s);
void schedule_set_seed(Schedule *s, uint64_t seed);
uint64_t schedule_fork_seed(Schedule *s);

/* Runs a primitive and records it. decision: what a sampling primitive shall draw, or NULL. */
NodeVec schedule_apply(Schedule *s, const Primitive *p, NodeVec args, Node *decision, Span span);

/* Would the step be done? Runs it on a copy; records nothing. */
bool schedule_would_apply(const Schedule *s, const Primitive *p, NodeVec args, Span span);

/* The Block, For or IntImm that a random variable stands for. */
Node *schedule_get(const Schedule *s, Node *random_var, Span span);
/* How many dimensions a buffer of a block has (both as primitives take them), or, with buffer NULL,
 * how many variables the block. p: for the message if there is none such. */
int schedule_rank(const Schedule *s, const Primitive *p, Node *block, Node *buffer, Span span);
void schedule_remove(Schedule *s, Node *random_var, Span span);
/* Blocks and loops from the root of its function to a Block or For, with it; raises IndexError if
 * it is not in the module. */
NodeVec schedule_path(const Schedule *s, Node *stmt, Span span);

/* ---- tensor intrinsics (tensorize.c) ---- */

/* What a piece of hardware computes, as a tensor program of one block, and how it is asked to. Both
 * take the same buffers. */
typedef struct TensorIntrin {
  const char *name;
  Node *description, *implementation; /* PrimFuncs */
} TensorIntrin;
/* Raises ValueError if the two don't fit, or the name is taken. */
void tensor_intrin_register(const char *name, Node *description, Node *implementation,
                            bool override, Span span);
const TensorIntrin *tensor_intrin_find(const char *name); /* NULL: there is none */
StrVec tensor_intrin_names(void);                         /* all, in any order */
/* Registers those of the standard library: called once, when a name is first missed. NULL: none. */
extern void (*tensor_intrin_library)(void);

/* ---- traces (trace.c) ---- */

/* As lines of script: "b0 = sch.get_block(name=...)". */
const char *trace_text(const Trace *t);
/* Runs the steps on a schedule; their random variables are replaced by new ones. With decisions
 * false, sampling draws again. */
void trace_replay(const Trace *t, Schedule *s, bool decisions, Span span);

#endif
