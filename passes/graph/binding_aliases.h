/* binding_aliases.h -- which variables of a graph function stand for the same value. */
#ifndef PASSES_GRAPH_BINDING_ALIASES_H
#define PASSES_GRAPH_BINDING_ALIASES_H

#include "passes/passes.h"

/* The variables of one value. It is bound to `root`; in what is left, to `kept`. */
typedef struct AliasClass {
  Node *root, *kept;
  Node *block;  /* the dataflow block that binds the root; NULL for others */
  bool escapes; /* is it used, or has it a name, outside of that block? */
  Node *outer;  /* the first other variable that the block gives out for it, or NULL */
} AliasClass;

typedef struct BindingAliases {
  Map classes;   /* RelaxVar to AliasClass *; none for parameters without aliases */
  Map dropped;   /* variables whose bindings go: aliases */
  Map constants; /* RelaxVar to the Constant bound to it */
  Map tuples;    /* RelaxVar, or a Tuple inside of an expression, to what stands for it: a Tuple;
                    the variable that its fields were taken from */
  Map dims;      /* Var to what it is, of those that a match_cast finds */
  Map casts;     /* MatchCasts that change nothing */
} BindingAliases;

/* Of a function. Raises where match_casts contradict each other. */
BindingAliases binding_aliases(Node *func);

#endif
