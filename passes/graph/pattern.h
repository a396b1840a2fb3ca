/* pattern.h -- the dataflow pattern language: what pieces of a graph look like.
 *
 * A pattern is data: scripts build it (tvm.relax.dpl), the matcher reads it. Patterns are
 * identities: one that stands in two places means one expression in both. */
#ifndef PASSES_GRAPH_PATTERN_H
#define PASSES_GRAPH_PATTERN_H

#include "passes/passes.h"

typedef enum PatternKind {
#define PATTERN(NAME, doc) PATTERN_IS_##NAME,
#include "passes/graph/pattern.def"
  PATTERN_KINDS
} PatternKind;
extern const char *const pattern_kind_names[PATTERN_KINDS]; /* as in pattern.def */

typedef struct Pattern Pattern;
typedef VEC(Pattern *) PatternVec;
struct Pattern {
  PatternKind kind;
  PatternVec parts; /* what the rows of pattern.def say */
  const char *name; /* NULL: any */
  Node *node;
  int index;
  bool open; /* a call or tuple may have more parts than these */
};

/* What a match has found so far; undone by setting the lengths back. */
typedef struct PatternMatch {
  const Map *values; /* RelaxVar to the value that it is bound to */
  PatternVec patterns;
  NodeVec exprs; /* beside patterns: what they stand for; a variable, where it was met as one */
  NodeVec vars, dims; /* symbolic variables of patterns, and the dims that they are */
  PatternVec pending; /* constraints that are checked at the end */
} PatternMatch;

/* A state of a match to go back to. */
typedef struct PatternMark {
  int found, dims, pending;
} PatternMark;
PatternMark pattern_mark(const PatternMatch *m);
bool pattern_undo(PatternMatch *m, PatternMark mark); /* false, for returning it */

/* Does the expression look like this, given what was found before, and do all constraints hold? If
 * not, `m` is as it was. */
bool pattern_match(Pattern *p, Node *expr, PatternMatch *m);
/* The same, but for what is found to be accepted by `then`, which is asked for one way to match
 * after the other until it says yes; constraints are its affair. */
typedef bool (*PatternThen)(void *context, PatternMatch *m);
bool pattern_match_then(Pattern *p, Node *expr, PatternMatch *m, PatternThen then, void *context);
/* Do all constraints among what was found hold? */
bool pattern_holds(const PatternMatch *m);
Node *pattern_found(const PatternMatch *m, const Pattern *p); /* NULL if it was not met */
/* The expression that a variable is bound to, as far as that is known. */
Node *pattern_value(const PatternMatch *m, Node *expr);

#endif
