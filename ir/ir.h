/* ir.h -- the door of ir/: nodes, modules, walking, rewriting, comparing, building, printing.
 *
 * One family of immutable, shared nodes holds both levels of a module: graph functions and tensor
 * programs (node.def lists every kind). A rewrite returns the node it was given where nothing
 * changed. A variable is its pointer; its name is for people. Nodes live in collected memory. */
#ifndef IR_IR_H
#define IR_IR_H

#include "ir/dtype.h"
#include "ir/support/diag.h"
#include "ir/support/error.h"
#include "ir/support/map.h"
#include "ir/support/source.h"
#include "ir/support/str.h"
#include "ir/support/vec.h"

/* ---- nodes ---- */

typedef struct Node Node;
typedef VEC(Node *) NodeVec;
typedef VEC(const char *) StrVec;
typedef VEC(int) IntVec;

/* Constant tensor data, compact and row-major. `bytes` is collected memory, or lives as long as the
 * process (a mapped file). Immutable. */
typedef struct ConstData {
  DataType elem;
  int ndim;
  const int64_t *shape;
  const void *bytes;
  size_t nbytes;
} ConstData;

/* In the order of their numbers in scripts. */
typedef enum {
  ITER_SPATIAL,
  ITER_THREAD,
  ITER_REDUCE,
  ITER_SCAN,
  ITER_OPAQUE,
  ITER_KINDS
} IterKind;
extern const char *const iter_kind_names[ITER_KINDS]; /* "DataPar", ... */
typedef enum { LOOP_SERIAL, LOOP_PARALLEL, LOOP_VECTORIZED, LOOP_UNROLLED, LOOP_THREAD } LoopKind;

typedef enum {
#define NODE(Kind, family, spelling) NK_##Kind,
#define FIELD(type, name, role)
#define END(Kind)
#include "ir/node.def"
  NK_COUNT
} NodeKind;

typedef enum {
  FAMILY_PRIM_EXPR,
  FAMILY_STMT,
  FAMILY_RELAX_EXPR,
  FAMILY_SINFO,
  FAMILY_PART,
  FAMILY_FUNC,
  FAMILY_ATTR
} NodeFamily;

struct Node {
  uint16_t kind;  /* a NodeKind */
  DataType dtype; /* of a scalar expression; void for all others */
  Span span;
};

/* One struct per kind: Add, BufferStore, RelaxCall, ... each begins with `Node node`. */
#define NODE(Kind, family, spelling)                                                               \
  typedef struct Kind {                                                                            \
    Node node;
#define FIELD(type, name, role) type name;
#define END(Kind)                                                                                  \
  }                                                                                                \
  Kind;
#include "ir/node.def"

/* What all binary operators and all graph expressions have in common. */
typedef struct Binary {
  Node node;
  Node *a, *b;
} Binary;
typedef struct RelaxExpr {
  Node node;
  Node *sinfo;
} RelaxExpr;

/* MAKE(Add, span, dtype, .a = x, .b = y) -> Node *. No checks, no folding: see expr_* below. */
#define MAKE(Kind, span_, dtype_, ...)                                                             \
  ((Node *)memcpy(gc_alloc_struct(sizeof(Kind)),                                                   \
                  &(Kind){.node = {NK_##Kind, dtype_, span_} __VA_OPT__(, ) __VA_ARGS__},          \
                  sizeof(Kind)))

/* AS(For, n): n as its own struct; an internal error if it is of another kind. */
#define AS(Kind, n) ((Kind *)(void *)node_check((Node *)(void *)(n), NK_##Kind, __FILE__, __LINE__))
/* IS(For, n): false for NULL too. */
#define IS(Kind, n) ((n) != NULL && ((const Node *)(const void *)(n))->kind == NK_##Kind)

_Noreturn void node_check_failed(const Node *n, NodeKind want, const char *file, int line);
static inline Node *node_check(Node *n, NodeKind want, const char *file, int line) {
  if (!n || n->kind != want) node_check_failed(n, want, file, line);
  return n;
}

const char *node_kind_name(NodeKind kind); /* "BufferStore" */
const char *node_spelling(NodeKind kind);  /* "A[i] = v" */
NodeFamily node_family(NodeKind kind);
static inline bool node_is_expr(const Node *n) {
  return n && node_family(n->kind) == FAMILY_PRIM_EXPR;
}
static inline bool node_is_relax(const Node *n) {
  return n && node_family(n->kind) == FAMILY_RELAX_EXPR;
}
static inline bool node_is_sinfo(const Node *n) {
  return n && node_family(n->kind) == FAMILY_SINFO;
}
bool node_is_binary(NodeKind kind); /* Add to Or */

/* The fields of a kind as node.def declares them, for code that handles nodes as data (field.c). */
typedef struct NodeField {
  const char *name, *type; /* the type as text: "Node *", "NodeVec", "bool" */
  size_t offset;           /* in the node's struct */
} NodeField;
typedef VEC(NodeField) NodeFields;
const NodeFields *node_fields(NodeKind kind);
size_t node_size(NodeKind kind); /* of the kind's struct */
/* The first field of the node that holds what it must not, or NULL (sort.c). */
const char *node_misfit(const Node *n);
/* An IterVar with a domain: what blocks and reductions run over. Threads need none. */
bool node_is_axis(const Node *n);

/* A vector of the given nodes: NODES(a, b). */
NodeVec node_vec(int n, ...);
#define NODES(...) node_vec((int)(sizeof((Node *[]){__VA_ARGS__}) / sizeof(Node *)), __VA_ARGS__)

/* ---- walking (walk.c) ---- */

typedef enum { WALK_ON, WALK_PRUNE, WALK_STOP } WalkResult;

/* Visits `n` and all below it, parents first, in the order of node.def; buffers in USE places are
 * handed to `enter` too, but not walked into. INFO is not walked. Long sequences and chains of
 * bodies do not deepen the C stack. `leave`, which may be NULL, is called after all below a node
 * that `enter` answered ON for. Returns false if a callback said STOP. */
typedef struct Walker {
  WalkResult (*enter)(struct Walker *w, Node *n);
  void (*leave)(struct Walker *w, Node *n);
  void *context;
  bool once;
} Walker;
bool walk(Walker *w, Node *n);
/* Is `part` the node, or below it? Of NULL: no. */
bool node_mentions(Node *n, const Node *part);

/* Calls visit(context, child) for every SUB, SUBS, DEF, DEFS and USE child, in order. */
void node_each_child(Node *n, void (*visit)(void *context, Node *child), void *context);

/* ---- rewriting (mutate.c) ---- */

/* mutate(m, n) gives n to m->rewrite, which returns the node to stand in its place: n itself, a new
 * node, or mutate_children(m, n) to go on below. NULL stays NULL. In SeqStmt and BindingBlock
 * vectors, a rewrite that returns NULL removes the element, and a SeqStmt is spliced in; a SeqStmt
 * that is left with one statement is that statement, with none Evaluate(0).
 *
 * Variables, buffers and graph variables are identities: each is rewritten once per mutator, where
 * first met (definition or use, its shape and type included), so all its uses stay the same node.
 */
typedef struct Mutator Mutator;
struct Mutator {
  Node *(*rewrite)(Mutator *m, Node *n);
  void *context;
  Map identities; /* old to new */
};
Node *mutate(Mutator *m, Node *n);
Node *mutate_children(Mutator *m, Node *n);
NodeVec mutate_vec(Mutator *m, NodeVec v); /* the same `at` if nothing changed */

/* The blocks of a SeqExpr without empty ones, plain ones that stand side by side as one; the same
 * `at` if they are so already. mutate_children does this to blocks that changed. */
NodeVec blocks_normal(NodeVec blocks);

/* Replaces variables (and buffers) by what `map` says; everything else keeps its place. */
Node *substitute(Node *n, const Map *map);

/* A copy whose bound variables and buffers are all new: for inlining a function or block twice. */
Node *copy_with_fresh_vars(Node *n);

/* ---- comparing (equal.c, hash.c) ---- */

/* Structural equality up to the names of bound variables. Variables not bound in the nodes are
 * equal only if they are the same, unless map_free_vars. Modules match functions by name. If `why`
 * is given and the answer is false, *why tells the path to the first difference and both sides. */
bool node_equal(Node *a, Node *b, bool map_free_vars, const char **why);
/* Equal nodes (map_free_vars = true) have equal hashes. */
uint64_t node_hash(Node *n);

/* A row of words that stands for some nodes (key.c): those of equal rows differ at most in which
 * variables they mention; these are `vars`, in the same order. Failed: too large, or no such row
 * can be made, as of what binds variables or holds data. */
enum { NODE_KEY_WORDS = 256, NODE_KEY_VARS = 16 };
typedef struct NodeKey {
  int len, var_count;
  bool failed;
  uint64_t words[NODE_KEY_WORDS];
  Node *vars[NODE_KEY_VARS];
} NodeKey;
void node_key_add(NodeKey *k, Node *n);
void node_key_word(NodeKey *k, uint64_t word); /* what else is to be told apart */
uint64_t node_key_hash(const NodeKey *k);

/* ---- scalar expressions (expr.c): checked, matched, folded ---- */

/* Numbers of dtype t, in all its lanes. Integers and bools wrap to the width; floats are rounded.
 */
Node *int_imm(DataType t, int64_t value, Span span);
Node *float_imm(DataType t, double value, Span span);
Node *string_imm(const char *value, Span span);
Node *var_new(const char *name, DataType t, Span span);
Node *pointer_var_new(const char *name, DataType elem, const char *scope, Span span);

/* a op b with the matching of dtypes and constant folding that authors of text expect: an immediate
 * of another dtype adapts to the other operand, a scalar is broadcast, floats win over integers,
 * the wider wins, unsigned wins at equal width; x + 0, x * 1 and constants fold; division by a
 * constant zero is a raised ZeroDivisionError. Raises TypeError at `span` where no rule applies
 * ("/" of two integers). kind: Add to Or. */
Node *expr_binary(NodeKind kind, Node *a, Node *b, Span span);
/* The same for the quotient rounded towards zero: of integers, T.truncdiv; of floats, "/". */
Node *expr_truncdiv(Node *a, Node *b, Span span);
Node *expr_not(Node *a, Span span);
Node *expr_neg(Node *a, Span span);
/* Constants are converted at once; no node if the dtype is right already. */
Node *expr_cast(DataType t, Node *value, Span span);
Node *expr_select(Node *cond, Node *then, Node *orelse, Span span);
/* Call of the builtin tir.<name>; `t` is used where the rule is GIVEN. Checks the number of
 * arguments. */
Node *expr_call(const char *name, DataType t, NodeVec args, Span span);
Node *expr_load(Node *buffer, NodeVec indices,
                Span span); /* checks rank; lanes from the last index */
Node *stmt_store(Node *buffer, NodeVec indices, Node *value, Span span); /* casts the value */
Node *stmt_seq(NodeVec stmts, Span span); /* flattened; Evaluate(0) if empty; no SeqStmt for one */
Node *stmt_evaluate(Node *value, Span span);
/* Where the rest of the suite hangs of a LetStmt, AttrStmt, Allocate, ...; NULL for other
 * statements. To fill in while a node is being built. */
Node **stmt_rest(Node *n);

/* Text writes a range as [begin, end): the Range of that, in one dtype, and the end to write for a
 * range, from which range_between makes the same one. */
Node *range_between(Node *begin, Node *end, Span span);
Node *range_end(Node *min, Node *extent);

bool expr_is_const_int(const Node *n, int64_t *value); /* IntImm of any integer dtype or bool */
bool expr_is_zero(const Node *n);
bool expr_is_one(const Node *n);

/* Short forms for passes; the dtype matching of expr_binary. */
static inline Node *expr_add(Node *a, Node *b) { return expr_binary(NK_Add, a, b, a->span); }
static inline Node *expr_sub(Node *a, Node *b) { return expr_binary(NK_Sub, a, b, a->span); }
static inline Node *expr_mul(Node *a, Node *b) { return expr_binary(NK_Mul, a, b, a->span); }
static inline Node *expr_floordiv(Node *a, Node *b) {
  return expr_binary(NK_FloorDiv, a, b, a->span);
}
static inline Node *expr_floormod(Node *a, Node *b) {
  return expr_binary(NK_FloorMod, a, b, a->span);
}
static inline Node *expr_and(Node *a, Node *b) { return expr_binary(NK_And, a, b, a->span); }

/* Effects of a scalar expression: pure, reads memory, or changes state. */
typedef enum { EFFECT_PURE, EFFECT_READ, EFFECT_STATE } Effect;
Effect expr_effect(Node *n);
Effect node_effect(const Node *n); /* of the node alone, whatever its operands do */

/* An AttrStmt "thread_extent" of an IterVar: these begin a grid of blocks of threads. */
static inline bool is_launch(const Node *n) {
  const AttrStmt *a = IS(AttrStmt, n) ? (const AttrStmt *)(const void *)n : NULL;
  return a && IS(IterVar, a->subject) && str_same(a->key, "thread_extent");
}

/* ---- buffers ---- */

/* A compact buffer with its own pointer variable of that scope. align 0: the default, 64 bytes. */
Node *buffer_new(const char *name, DataType elem, NodeVec shape, const char *scope, Span span);
const char *buffer_scope(const Node *buffer); /* "global" if none is given */
/* "m16n8k16.matrixA": a matrix that the threads of a warp hold together, in an order of its own. */
bool scope_is_fragment(const char *scope);
int scope_threads(
    const char *scope); /* that hold such a fragment together: 32, or 128 for m64... */

/* ---- operators (op.c) ---- */

Node *op_get(const char *name); /* the one Op node of this name: "relax.add", "tir.exp" */

typedef struct Intrin {
  const char *name, *params; /* "x, y", as a signature */
  int args;                  /* how many; -1: that is not fixed */
  enum { TAKES_FLOATS, TAKES_INTEGERS, TAKES_NUMBERS, TAKES_ANY } takes;
  enum {
    RULE_SAME,
    RULE_BOOL,
    RULE_SECOND,
    RULE_GIVEN,
    RULE_LAST,
    RULE_VOID,
    RULE_INT32,
    RULE_UINT32,
    RULE_FLOAT32,
    RULE_HANDLE,
    RULE_TYPE
  } rule;
  Effect effect;
  const char *doc;
} Intrin;
const Intrin *intrin_find(const char *name); /* without "tir."; NULL if there is none */
const Intrin *intrin_of(const Node *op);     /* of an Op node, NULL for other callees */
/* Builtins of the open namespaces of family.def, such as "ptx.bar.sync": is this one? What does a
 * call of it give, unless it is told? And the name that an Op node has there, or NULL. */
bool family_has(const char *name);
DataType family_dtype(const char *name, NodeVec args);
const char *family_name(const Node *op);
/* Is `n` a Call of tir.<name>? */
bool is_intrin_call(const Node *n, const char *name);

/* A graph operator as its definition in stdlib registered it (lang/ fills these in). The ir only
 * knows the interface. Found by op name; loads the standard library's file on first use. */
typedef struct OpInfo {
  const char *name; /* "relax.nn.conv2d" */
  const char *doc;
  StrVec args;           /* names of the operands, in order; a last one "*xs" takes the rest */
  StrVec attrs;          /* names of the attributes, in order, after the operands in a call */
  NodeVec attr_defaults; /* beside attrs; NULL: required. Text forms leave out what equals it */
  bool is_pure;
  bool commutes;  /* its two operands may change places */
  bool is_packed; /* no program computes it: a call is one of the packed function of its name, with
                   * the operands and then the attributes */
  /* "elementwise", "broadcast", "injective", "reduce", "out_fusable" or "opaque" */
  const char *pattern;
  /* What ToMixedPrecision does: "always", in half floats; "follow", if its operands are so already;
   * "never" */
  const char *mixed_precision;
  bool has_layout_rule, has_gradient; /* for ConvertLayout and Gradient */
  /* Struct info of a RelaxCall of this op, from its operands and attributes; raises on bad
   * operands. */
  Node *(*infer)(const struct OpInfo *op, Node *call);
  /* A PrimFunc that computes the call (parameters: its tensor operands in order, then the outputs),
   * and whose symbolic dimensions are the call's own; NULL if the operator has no compute. */
  Node *(*legalize)(const struct OpInfo *op, Node *call);
  /* Dims that the rule of `infer` takes to be equal and could not prove so: pairs, found and
   * expected. */
  NodeVec (*assumed)(const struct OpInfo *op, Node *call);
  void *definition; /* of lang */
} OpInfo;
const OpInfo *op_info(const char *name);  /* NULL if there is no such operator */
const OpInfo *op_info_of(const Node *op); /* of an Op */
void op_register(OpInfo *info);
extern bool (*op_load_hook)(
    const char *name); /* set by lang: loads the definition; false if none */

/* ---- struct info (struct_info.c) ---- */

Node *sinfo_of(Node *relax_expr);
Node *sinfo_object(void);
Node *sinfo_tensor(NodeVec shape, DataType elem, Span span); /* known shape */
Node *sinfo_tensor_unknown(DataType elem, int ndim, Span span);
Node *sinfo_tuple(NodeVec fields, Span span);
bool sinfo_tensor_shape(Node *sinfo, NodeVec *shape); /* the dims, if they are known */
/* The one value that has this struct info: of a known shape, or a known scalar. NULL otherwise. */
Node *sinfo_value(Node *sinfo, Span span);
/* Does every value of `derived` belong to `base`? "Maybe" where dims can't be related. */
typedef enum { SINFO_NO, SINFO_MAYBE, SINFO_YES } SinfoCheck;
SinfoCheck sinfo_check(Node *base, Node *derived, const char **why);
/* A value as messages of run-time checks name it: argument 'x', 'x', and what is no name as it is.
 */
const char *value_phrase(const char *name, bool is_param);
/* The most precise struct info that covers both (of the two arms of an if). */
Node *sinfo_join(Node *a, Node *b);
/* Replaces dims by what argument struct info says about parameters; a dim that it can't find
 * becomes unknown. For the result of calling a function. */
Node *sinfo_of_call_result(Node *func_sinfo, NodeVec args, Span span);
/* As it stands, or with all variables erased that are not in `known` (Map of Var to anything). */
Node *sinfo_erase_vars(Node *sinfo, const Map *known);
/* Of a function. */
Node *sinfo_function(NodeVec params, Node *ret, bool is_pure, Span span);
/* Of what a function with this body returns, without variables that a caller does not know. */
Node *sinfo_of_result(NodeVec params, Node *body);
/* `found` if it tells more than `given`, of which it is a part; else `given`. */
Node *sinfo_finer(Node *given, Node *found);
/* Struct info of any call, by its callee: operator, function, extern. Raises on bad operands. */
Node *sinfo_infer_call(Node *call);

/* Does a RelaxCall do more than compute its result? Unknown callees do. */
bool relax_call_has_effects(Node *call);
bool relax_is_call_form(const char *name); /* "relax.call_tir" and its family; interned */

/* ---- attributes ---- */

Node *dict_new(void);
Node *dict_make(StrVec keys, NodeVec values);      /* keys: interned, each once */
Node *dict_get(const Node *dict, const char *key); /* NULL if absent, or dict is NULL */
/* The key that one of TVM's spelling of today ("tirx.noalias") has inside. */
const char *dict_key(const char *text);
Node *dict_with(const Node *dict, const char *key,
                Node *value); /* a new Dict; NULL value removes */
int64_t dict_get_int(const Node *dict, const char *key, int64_t otherwise);
const char *dict_get_str(const Node *dict, const char *key, const char *otherwise);

/* ---- modules (module.c) ---- */

Node *module_new(void);
Node *module_find(const Node *module, const char *name);   /* the function, or NULL */
Node *module_global(const Node *module, const char *name); /* its GlobalVar, or NULL */
/* New modules with one function set (added last if new) or removed. */
Node *module_with(const Node *module, Node *global, Node *func);
Node *module_without(const Node *module, const char *name);
/* Name to index + 1 (as a pointer-sized integer): for passes that look up often. */
Map module_index(const Node *module);
/* A name not yet used in the module: hint, hint_1, ... */
const char *module_fresh_name(const Node *module, const char *hint);
/* hint, hint1, ...: of what operators have become. */
const char *module_numbered_name(const Node *module, const char *hint);
const char *func_symbol(const Node *func); /* its global_symbol, or NULL for a private one */
Node *func_attr(const Node *func, const char *key);
Node *func_with_attr(Node *func, const char *key, Node *value);

/* ---- printing (print/) ---- */

/* What becomes of constant tensors of many elements: a reference to metadata that is not printed,
 * their elements in the text, or a reference and the metadata before the text. */
typedef enum { CONSTANTS_BY_REFERENCE, CONSTANTS_INLINE, CONSTANTS_METADATA } PrintConstants;

typedef struct PrintOptions {
  bool tvm_style; /* today's upstream spelling */
  PrintConstants constants;
  bool unchecked; /* not well-formed: the text says so, and declares what nothing defines */
  bool declares;  /* of a statement or expression: what it doesn't define is declared before it */
  int width;      /* 0: 100 */
  NodeVec marked; /* loops and blocks whose first line is underlined by a comment */
} PrintOptions;

/* "default" or "tvm"; false if it is neither. */
bool print_style_parse(const char *name, PrintOptions *options);
/* "reference", "inline" or "metadata"; false if it is none of these. */
bool print_constants_parse(const char *name, PrintOptions *options);

/* The text form of any node. Parsing the text of a module or function gives an equal one, and
 * printing that gives the same bytes. `options` may be NULL. */
const char *ir_print(Node *n, const PrintOptions *options);
/* Both side by side, as wide as the terminal. '|', '<' and '>' mark lines that differ or stand on
 * one side only, '*' the first of them. */
const char *ir_print_diff(Node *a, Node *b);
/* Every field by name, for debugging: derived from node.def. */
const char *ir_dump(Node *n);

/* ---- verifying (verify.c) ---- */

/* Reports every fault of a module, function or statement as a diagnostic at its span: undefined or
 * doubly defined variables, wrong bindings of block variables, dataflow variables that escape,
 * impure calls in dataflow, wrong ranks, undeclared buffers, struct info that does not hold, ...
 * Returns true if there is none. */
bool ir_verify(Node *n);
/* As ir_verify of a module, but for functions that are keys of `sound` (which may be NULL). */
bool ir_verify_module(Node *module, const Map *sound);
/* Would ir_verify have nothing to tell of the function, whatever module it is in? Reports nothing.
 */
bool ir_verify_alone(Node *function);
/* Variables and buffers that a node uses and nothing defines; reports nothing. */
NodeVec ir_undefined(Node *n);

/* ---- analysis ---- */

/* Regions that a block body reads and writes, as the text form infers them when T.reads and
 * T.writes are left out. Loop variables inside the body are relaxed to their ranges. False if an
 * access is opaque. `visible` holds the data pointers of the buffers around the block, to these:
 * a pointer that is not among them is no access. NULL: nothing is known, and any may be one. */
bool block_access_regions(Node *block, const Map *visible, NodeVec *reads, NodeVec *writes);

/* Do values in memory tell where the block writes the buffer? Then only its variables tell whether
 * it writes an element twice. */
bool block_writes_by_memory(Node *block, Node *buffer);

/* Does it leave all memory but its own as it is, and call nothing that has effects? */
bool prim_func_is_pure(const PrimFunc *f);

#endif
