/* node_class.h -- classes of IR nodes as values of the language (node_class.c), the functions that
 * make nodes (node_make.c), and fields as values (node_field.c). */
#ifndef LANG_DIALECT_NODE_CLASS_H
#define LANG_DIALECT_NODE_CLASS_H

#include "lang/dialect/tensor_names.h"

/* ---- fields as values ---- */

/* What scripts see of a field: None for a missing node, dicts for attributes, ints for enums. */
Value field_get(const Node *n, const NodeField *f);
/* Puts a value into a node that is being made. `sort` (of len bytes; 0: by the field's type) names
 * what the value, or each of its items, must be; `class` is for messages. */
void field_set(Node *n, const NodeField *f, const char *sort, size_t len, Value v,
               const char *class, Span span);

/* ---- classes ---- */

/* The class of that name in "ir", "tir" or "relax"; absent if there is none. */
Value node_class_find(const char *ns, const char *name);
void node_class_names(const char *ns, StrVec *out);
/* The field that scripts call `name`; absent if nodes of this kind have none. */
Value node_field_attr(const Node *n, const char *name);
void node_field_names(const Node *n, StrVec *out);
/* Index maps (index_map_value.c): from a lambda, or as they are. ndim: the inputs of a lambda with
 * *rest; -1: not known. *separators gets where IndexMap.AXIS_SEPARATOR stands. */
Node *index_map_from(Value mapping, int ndim, DataType t, IntVec *separators, Span span);
Value index_map_from_func(BuiltinCall *call);
Value index_map_from_func_with_separators(BuiltinCall *call);
Value index_map_attr(Value v, const char *name);

/* Functions of classes: Range.from_min_extent, IRModule.from_expr. */
Value range_from_min_extent(BuiltinCall *call);
Value module_from_expr(BuiltinCall *call);
/* The class of a node, as type(n) gives it. */
Value node_class_of(const Node *n);

/* ---- modules (module_value.c): they alone can be changed, as scripts of tvm expect ---- */

Value module_value_attr(Value v, const char *name);
void module_value_names(Value v, StrVec *out);
/* The GlobalVar that names a function in a module. */
Value func_specialize(BuiltinCall *call); /* f.specialize({n: 16}) */
Node *global_for(const char *name, Node *func);
void module_set(Node *m, Node *global, Node *func);
void module_remove(Node *m, const char *name, Span span);

/* Visiting and rewriting from script: rows of tvm.ir (node_visit.c). */
extern const Builtin node_visit_names[];
extern const int node_visit_name_count;

/* Makes Var, Call, Function, ...: rows of node_class.def. */
#define CLASS(ns, name, kind, fields)
#define CLASS_OF(ns, name, kind, fields)
#define CLASS_FAMILY(ns, name, family)
#define CLASS_BY(ns, name, kind, fields, signature, fn)       Value fn(BuiltinCall *call);
#define CLASS_IF(ns, name, kind, flag, fields, signature, fn) Value fn(BuiltinCall *call);
#include "lang/dialect/node_class.def"

#endif
