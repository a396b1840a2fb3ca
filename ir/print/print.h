/* print.h -- what the files of ir/print/ share: the state of one printing, names, expressions. */
#ifndef IR_PRINT_PRINT_H
#define IR_PRINT_PRINT_H

#include "ir/ir_impl.h"
#include "ir/print/metadata.h"

typedef struct Views Views;

typedef struct Printer {
  Str out;
  size_t line_start; /* of the line that is being written, in `out` */
  bool breaks;       /* a line is being broken: its parts are as they should be */
  int indent;
  PrintOptions options;
  Map names;              /* Var, Buffer, RelaxVar to its interned name, while in scope */
  Map taken;              /* interned name to the node that has it */
  NodeVec scope;          /* named nodes, in order: a scope ends by dropping back to its start */
  Map loops;              /* loop Var to its For, for T.axis.remap */
  Map suffixes;           /* interned name to the number that a clash may try first, as a pointer */
  Views *views;           /* of the prim_func being printed */
  IRModule *module;       /* around what is printed, or NULL */
  const char *class_name; /* of the module around, or NULL */
  bool is_today;          /* the prim_func has what only today's dialect can say */
  bool lacks_lets;        /* the prim_func has no let or reduction among its expressions */
  Map scalars;            /* buffers that are printed as scalars: x for x[0] */
  bool in_dataflow;
  bool in_graph;     /* a graph function is printed */
  bool hides_values; /* of R.Prim, which today's upstream does not write */
  bool in_open_call; /* among arguments that may be regions */
  bool in_signature; /* dims with variables stand in quotes */
  const char *self;  /* how the function being printed names its module: "cls.", "Module.", "" */
  bool uses_cls;     /* the graph function being printed names another one */
  Node *arm_var;     /* the variable that ends the arm of a branch, to be called arm_name */
  const char *arm_name;
  int local;        /* depth of graph functions: the outer ones are 1 */
  Map info_texts;   /* struct info of this scope to its text, where annotations write it */
  Map bound, used;  /* graph variables called _ that were met, and those that were met again */
  NodeVec metadata; /* constants that are printed by reference */
  StrVec type_vars; /* dims that a TypeVar before the text declares */
} Printer;

/* ---- lines and names (names.c) ---- */

/* What is printed between the two is a text of its own, not a part of `out`. */
size_t text_begin(Printer *p);
const char *text_end(Printer *p, size_t start);

void line_begin(Printer *p);
void line_end(Printer *p);
void line(Printer *p, const char *format, ...)
    PRINTF_LIKE(2, 3); /* a whole line at the current indent */

/* A line, or a part of one, that is broken where it is too long. (wrap.c) */
void line_wrapped_before(Printer *p, const char *text, const char *suffix);
/* Is the line that has just ended too long? Then it is written again, as several. */
bool line_is_long(const Printer *p);
void line_break(Printer *p);

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
/* Does a dim of a prim_func's signature stand for a TypeVar? In upstream's dialect, where quoted
 * dims are int32, those of int64 do. */
bool is_type_var(const Printer *p, const Node *var);
void print_quoted(Printer *p, const char *text);
const char *expr_text(Printer *p, Node *n);
const char *lanes_text(int lanes); /* "4", "T.vscale() * 4" */
bool is_identifier(const char *text);
void print_keywords(Printer *p, Dict *d,
                    bool first); /* a=1, b=2; with a comma before, unless first */

/* ---- statements and functions ---- */

void print_stmt(Printer *p, Node *n, bool is_last); /* is_last: nothing follows in its suite */
void declare_free(Printer *p, Node *of);            /* lines for what it uses and nothing defines */
void declare_var(Printer *p, Node *var);            /* x = T.int32(), unless it has a name */
void print_suite(Printer *p, Node *n);              /* in a scope of its own */
const char *var_type(const Var *v);                 /* T.int32, T.handle("float32", "global") */
/* A = T.alloc_buffer(...), with the call's name before its arguments, of which `source`, which may
 * be NULL, is the first. */
void print_buffer_line(Printer *p, const char *before, Buffer *b, const char *source,
                       bool with_data);

/* Lines for the undeclared views whose variables have names by now. (views.c) */
void survey_function(Printer *p, PrimFunc *f); /* before it: sets p->views, p->is_today, ... */
void views_note_name(Views *v, Node *var);     /* it has a name from here on */
void views_note_end(Views *v, Node *var);
void print_views(Printer *p);

/* Does the text follow today's dialect, where `x = e` can change and T.alloc_buffer allocates where
 * it stands? So upstream's spelling does, and functions that can't be said otherwise. (today.c) */
bool says_today(const Printer *p);
/* Is the node one that only today's dialect can say: of an open namespace, a level of a device, a
 * scalar that can change? */
bool needs_today(const Printer *p, Node *n);
/* "T.block(", "T.sblock(": of the dialect. */
const char *block_word(const Printer *p, const char *classic);
/* Allocate and DeclBuffer of one buffer, which text can say in one call: the DeclBuffer, or NULL.
 */
Node *allocated_here(const Printer *p, Node *n);
bool is_scalar_buffer(const Buffer *b);

/* The frames of statements that scope over the rest of their suite, and what they bind. (frame.c)
 */
typedef struct FrameText {
  const char *text; /* NULL: it is no such statement */
  NodeVec bound;
  Node *body;
  bool needs_with; /* a line alone would mean something else */
} FrameText;
FrameText frame_text(Printer *p, Node *n);
void print_dict_arg(Printer *p, const char *before, Node *dict);
void print_buffer_args(Printer *p, Buffer *b, bool with_data, bool dtype_always);

void print_prim_func(Printer *p, PrimFunc *f, const char *name);
void print_function(Printer *p, Function *f, const char *name);
void print_relax(Printer *p, Node *n);
void print_metadata(Str *out, const NodeVec *constants); /* metadata = tvm.ir.load_json(...) */
const char *attr_text(Printer *p, Node *n);
void print_extern(Printer *p,
                  ExternFunc *f); /* R.ExternFunc("f"), with its type if that says more */
void print_constant(Printer *p, Constant *c);
void print_sinfo(Printer *p, Node *n);
void print_infos(Printer *p, NodeVec v);               /* a, b, c */
void print_ints(Printer *p, const IntVec *v);          /* (1, 2) */
void print_device_mesh(Printer *p, DeviceMesh *m);     /* R.device_mesh(...) */
void print_const_data(Printer *p, const ConstData *d); /* nested lists of numbers */
void print_module(Printer *p, IRModule *m);

#endif
