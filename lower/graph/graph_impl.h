/* graph_impl.h -- what the files that lower graph functions share. */
#ifndef LOWER_GRAPH_GRAPH_IMPL_H
#define LOWER_GRAPH_GRAPH_IMPL_H

#include "lower/lower_impl.h"

/* A graph value inside a host function. */
typedef enum {
  HOST_TENSOR, /* object: DLTensor * or NULL if it is workspace only, its type (NULL: TVMS_TENSOR);
                  data, dims, elem */
  HOST_SHAPE,  /* dims; object: the shape object, or NULL if it was made of dims here */
  HOST_SCALAR, /* scalar */
  HOST_TUPLE,  /* fields, known one by one */
  HOST_STRING, /* text */
  HOST_NONE,
  HOST_VALUE, /* bits and type: what is known only at run time */
} HostKind;

typedef struct HostValue HostValue;
typedef VEC(HostValue *) HostValueVec;
struct HostValue {
  HostKind kind;
  Node *object, *data, *scalar, *bits, *type;
  NodeVec dims; /* int64 expressions */
  DataType elem;
  HostValueVec fields;
  const char *text;
  bool is_placed; /* a tensor in planned storage */
  int argument;   /* of a tensor that came as an argument: its number, counted from 1. Its object,
                     type and data are those of one place (graph_operand): thousands of weights
                     that all are at hand from the start on are too many for a register allocator */
};

typedef struct GraphLower {
  Node *module; /* as it was when the pass began: kernels still have their buffers */
  Host *host;
  Map values;      /* RelaxVar to its HostValue * */
  Map bound;       /* symbolic Var to its variable in the host function */
  Map escaping;    /* RelaxVars bound to new tensors that leave the function: they need an object */
  Node *addresses; /* of the elements of tensor arguments, by their numbers; NULL: there are none */
  DimCheckVec *later; /* dims of parameters, checked when all are bound; NULL: dims at once */
  bool poison;        /* fill memory that is given up with NaN */
  bool profile;       /* record the calls of kernels */
} GraphLower;

/* The value of a leaf or a tuple of leaves (lower_graph_function.c). */
HostValue *graph_operand(GraphLower *g, Node *n);
/* The value of a call (lower_call.c). */
HostValue *graph_call(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name);
/* A function of the module as a value, with its last arguments. */
HostValue *graph_closure(GraphLower *g, Node *function, HostValueVec captured);
/* A symbolic dim as an expression of the host function. */
Node *graph_dim(GraphLower *g, Node *dim);
NodeVec graph_dims(GraphLower *g, NodeVec dims);

/* As bits and a type, for calls by the packed convention and for results. */
void graph_packed(GraphLower *g, HostValue *v, Node **bits, Node **type, Span span);
/* The same for as long as a call takes: nothing is copied. */
void graph_lent(GraphLower *g, HostValue *v, Node **bits, Node **type, Span span);
/* A value from outside, by what struct info says of it: checked. `what` names it in messages. */
HostValue *graph_unpacked(GraphLower *g, Node *bits_pointer, Node *type_pointer, Node *sinfo,
                          const char *what);
/* Checks a value against struct info whose new dims are bound: match_cast. */
HostValue *graph_match(GraphLower *g, HostValue *v, Node *sinfo, const char *what);
HostValue *graph_new_tensor(GraphLower *g, NodeVec dims, DataType elem, bool as_object,
                            const char *name);

/* Calls that give memory (lower_memory.c). */
HostValue *graph_alloc_tensor(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name);
HostValue *graph_alloc_storage(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name);
HostValue *graph_place_tensor(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name);
HostValue *graph_view(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name);
HostValue *graph_kill_tensor(GraphLower *g, RelaxCall *c, Node *sinfo, const char *name);

#endif
