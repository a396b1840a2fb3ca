/* print.h -- what the files of ir/print/ share: the state of one printing, names, expressions. */
#ifndef IR_PRINT_PRINT_H
#define IR_PRINT_PRINT_H

#include "ir/ir_impl.h"

typedef struct Printer {
  Str out;
  int indent;
  PrintOptions options;
  Map names;     /* Var, Buffer, RelaxVar to its interned name, while in scope */
  Map taken;     /* interned name to the node that has it */
  NodeVec scope; /* named nodes, in order: a scope ends by dropping back to its start */
  Map loops;     /* loop Var to its For, for T.axis.remap */
  Map views;     /* pointer Var to a NodeVec * of buffers over it that no statement declares */
  const char *class_name; /* of the module around, or NULL */
  bool in_signature;      /* dims with variables stand in quotes */
  const char *self; /* how the function being printed names its module: "cls.", "Module.", "" */
  bool uses_cls;    /* the graph function being printed names another one */
  int local;        /* depth of graph functions: the outer ones are 1 */
  int constants;    /* printed by reference so far */
} Printer;

/* ---- lines and names (names.c) ---- */

void line_begin(Printer *p);
void line_end(Printer *p);
void line(Printer *p, const char *format, ...)
    PRINTF_LIKE(2, 3); /* a whole line at the current indent */

/* def name(a: .., b: ..) -> result: on one line, or with one parameter a line where that is too
 * long. result NULL: none. */
void print_signature(Printer *p, const char *name, StrVec params, const char *result);

int scope_begin(Printer *p);
void scope_end(Printer *p, int mark);
/* Gives a node a name not taken in any open scope: its own, or with _1, _2, ... */
const char *name_define(Printer *p, Node *n);
/* Gives it this text, which may be an expression: A.data. */
void name_set(Printer *p, Node *n, const char *text);
const char *name_hint(Node *n); /* its own name, as an identifier */
/* The name of a node; one met outside its scope is named on the spot. */
const char *name_of(Printer *p, Node *n);

/* ---- expressions (expr.c) ---- */

void print_expr(Printer *p, Node *n);
/* Beside an operand of this dtype an immediate may stand without its type. */
void print_beside(Printer *p, Node *n, DataType t);
void print_exprs(Printer *p, NodeVec v); /* a, b, c */
/* (a, b) or (a,); numbers of dtype `beside` stand bare. */
void print_shape(Printer *p, NodeVec v, DataType beside);
void print_attr(Printer *p, Node *n);                                        /* attribute values */
void print_bounds(Printer *p, Node *min, Node *extent, const char *between); /* begin, end */
void print_region(Printer *p, Node *n);                                      /* A[0:4, i] */
const char *float_text(DataType t, double x); /* of a finite number, the shortest */
void print_quoted(Printer *p, const char *text);
const char *expr_text(Printer *p, Node *n);

/* ---- statements and functions ---- */

void print_stmt(Printer *p, Node *n, bool is_last); /* is_last: nothing follows in its suite */
void declare_var(Printer *p, Node *var);            /* x = T.int32(), unless it has a name */
void print_suite(Printer *p, Node *n);              /* in a scope of its own */
void print_views(Printer *p, Node *pointer); /* buffers over a pointer that was bound just now */
void print_buffer_args(Printer *p, Buffer *b, bool with_data, bool dtype_always);
void print_prim_func(Printer *p, PrimFunc *f, const char *name);
void print_function(Printer *p, Function *f, const char *name);
void print_relax(Printer *p, Node *n);
void print_sinfo(Printer *p, Node *n);
void print_const_data(Printer *p, const ConstData *d); /* nested lists of numbers */
void print_module(Printer *p, IRModule *m);

#endif
