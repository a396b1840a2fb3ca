/* model.c -- models, graphs, functions and types of ONNX files as values of the language. */
#include "lang/import/onnx/onnx_impl.h"
#include "lang/value/object.h"

static void set(Value dict, const char *key, Value x) {
  value_dict_set(dict, value_str(key), x, (Span){0});
}

Value onnx_text(const char *text) {
  size_t n = text ? strlen(text) : 0;
  bool utf8 = utf8_valid_length(text ? text : "", n) == n;
  return utf8 ? value_str(text ? text : "") : value_bytes(text, n);
}

/* Of an identifier, which must be text. */
static Value name_of(const OnnxFile *f, const char *text) {
  Value v = onnx_text(text);
  if (v.type != &type_str) onnx_fault(f, "a name is not UTF-8: %s", value_repr(v));
  return v;
}

static Value names_of(const OnnxFile *f, size_t n, char **names) {
  ValueVec out = {0};
  for (size_t i = 0; i < n; i++) vec_push(&out, name_of(f, names[i]));
  return value_list(out);
}

/* ---- types ---- */

/* What some exporters write for a dim that nobody knows: "?", -1. It has no name, lest two of them
 * be one. */
static bool is_known_dim(const Onnx__Shape__Dim *d) {
  if (d->has_dim_value) return d->dim_value >= 0;
  return d->dim_param && *d->dim_param && strcmp(d->dim_param, "?") != 0;
}

static Value dims_of(const OnnxFile *f, const Onnx__Shape *s) {
  if (!s) return value_none();
  ValueVec dims = {0};
  for (size_t i = 0; i < s->n_dim; i++) {
    const Onnx__Shape__Dim *d = s->dim[i];
    vec_push(&dims, !is_known_dim(d)   ? value_none()
                    : d->has_dim_value ? value_int(d->dim_value)
                                       : name_of(f, d->dim_param));
  }
  return value_tuple(dims);
}

static Value element_of(const OnnxFile *f, int number) {
  const char *dtype = number ? onnx_dtype(number) : "";
  if (!dtype) onnx_fault(f, "a type has element type %d, which there is not", number);
  return value_str(dtype);
}

Value onnx_type(const OnnxFile *f, const Onnx__Type *t) {
  if (!t) return value_none();
  const Onnx__Type__TensorType *a = t->tensor_type ? t->tensor_type : t->sparse_tensor_type;
  if (a)
    return value_tuple_of(3, value_str(t->tensor_type ? "tensor" : "sparse"),
                          element_of(f, a->elem_type), dims_of(f, a->shape));
  if (t->map_type)
    return value_tuple_of(3, value_str("map"), element_of(f, t->map_type->key_type),
                          onnx_type(f, t->map_type->value_type));
  const Onnx__Type__Wrapped *w = t->sequence_type ? t->sequence_type : t->optional_type;
  if (!w) return value_none();
  return value_tuple_of(2, value_str(t->sequence_type ? "sequence" : "optional"),
                        onnx_type(f, w->elem_type));
}

static Value infos_of(const OnnxFile *f, size_t n, Onnx__ValueInfo **infos) {
  ValueVec out = {0};
  for (size_t i = 0; i < n; i++)
    vec_push(&out, value_tuple_of(2, name_of(f, infos[i]->name), onnx_type(f, infos[i]->type)));
  return value_list(out);
}

/* ---- attributes ---- */

static Value graph_of(const OnnxFile *f, const Onnx__Graph *g);

Value onnx_bytes(const ProtobufCBinaryData *s) {
  if (!s->len) return value_str(""); /* its data may be NULL */
  const char *text = (const char *)s->data;
  return utf8_valid_length(text, s->len) == s->len ? value_str_n(text, s->len)
                                                   : value_bytes(s->data, s->len);
}

enum { F = 1, I, S, T, G, FS, IS, SS, TS, GS, SPARSE, SPARSES, TYPE, TYPES };

/* Files of before `type` was demanded leave it out: then the field that is there tells it. */
static int kind_of(const Onnx__Attribute *a) {
  if (a->has_type && a->type) return a->type;
  const bool there[] = {[F] = a->has_f,        [I] = a->has_i,          [S] = a->has_s,
                        [T] = a->t != NULL,    [G] = a->g != NULL,      [FS] = a->n_floats > 0,
                        [IS] = a->n_ints > 0,  [SS] = a->n_strings > 0, [TS] = a->n_tensors > 0,
                        [GS] = a->n_graphs > 0};
  for (int k = F; k <= GS; k++)
    if (there[k]) return k;
  return IS;
}

static Value list_attribute(const OnnxFile *f, const Onnx__Attribute *a, int kind) {
  ValueVec v = {0};
  const size_t lengths[] = {
      [FS] = a->n_floats,        [IS] = a->n_ints,   [SS] = a->n_strings,
      [TS] = a->n_tensors,       [GS] = a->n_graphs, [SPARSES] = a->n_sparse_tensors,
      [TYPES] = a->n_type_protos};
  for (size_t i = 0; i < lengths[kind]; i++) switch (kind) {
    case FS: vec_push(&v, value_float((double)a->floats[i])); break;
    case IS: vec_push(&v, value_int(a->ints[i])); break;
    case SS: vec_push(&v, onnx_bytes(&a->strings[i])); break;
    case TS: vec_push(&v, onnx_tensor(f, a->tensors[i])); break;
    case GS: vec_push(&v, graph_of(f, a->graphs[i])); break;
    case SPARSES: vec_push(&v, onnx_sparse(f, a->sparse_tensors[i])); break;
    default: vec_push(&v, onnx_type(f, a->type_protos[i])); break;
    }
  return value_list(v);
}

static Value attribute_of(const OnnxFile *f, const Onnx__Attribute *a) {
  int kind = kind_of(a);
  bool missing =
      (kind == T && !a->t) || (kind == G && !a->g) || (kind == SPARSE && !a->sparse_tensor);
  if (missing || kind < F || kind > TYPES)
    onnx_fault(f, "attribute '%s' has no value of its kind", a->name ? a->name : "");
  switch (kind) {
  case F: return value_float((double)a->f);
  case I: return value_int(a->i);
  case S: return onnx_bytes(&a->s);
  case T: return onnx_tensor(f, a->t);
  case G: return graph_of(f, a->g);
  case SPARSE: return onnx_sparse(f, a->sparse_tensor);
  case TYPE: return onnx_type(f, a->tp);
  default: return list_attribute(f, a, kind);
  }
}

/* ---- nodes and graphs ---- */

static Value node_of(const OnnxFile *f, const Onnx__Node *n) {
  Value node = value_dict(), attrs = value_dict(), refs = value_dict();
  for (size_t i = 0; i < n->n_attribute; i++) {
    const Onnx__Attribute *a = n->attribute[i];
    bool is_ref = a->ref_attr_name && *a->ref_attr_name;
    value_dict_set(is_ref ? refs : attrs, name_of(f, a->name),
                   is_ref ? name_of(f, a->ref_attr_name) : attribute_of(f, a), (Span){0});
  }
  bool standard = !n->domain || str_same(n->domain, "ai.onnx");
  set(node, "op", name_of(f, n->op_type));
  set(node, "domain", standard ? value_str("") : name_of(f, n->domain));
  set(node, "name", name_of(f, n->name));
  set(node, "overload", name_of(f, n->overload));
  set(node, "inputs", names_of(f, n->n_input, n->input));
  set(node, "outputs", names_of(f, n->n_output, n->output));
  set(node, "attrs", attrs);
  set(node, "refs", refs);
  return node;
}

static Value nodes_of(const OnnxFile *f, size_t n, Onnx__Node **nodes) {
  ValueVec out = {0};
  for (size_t i = 0; i < n; i++) vec_push(&out, node_of(f, nodes[i]));
  return value_list(out);
}

static Value initializers_of(const OnnxFile *f, const Onnx__Graph *g) {
  Value out = value_dict();
  for (size_t i = 0; i < g->n_initializer; i++)
    value_dict_set(out, name_of(f, g->initializer[i]->name), onnx_tensor(f, g->initializer[i]),
                   (Span){0});
  for (size_t i = 0; i < g->n_sparse_initializer; i++) {
    const Onnx__SparseTensor *t = g->sparse_initializer[i];
    Value v = onnx_sparse(f, t);
    value_dict_set(out, name_of(f, t->values->name), v, (Span){0});
  }
  return out;
}

static Value graph_of(const OnnxFile *f, const Onnx__Graph *g) {
  Value graph = value_dict();
  set(graph, "name", onnx_text(g->name));
  set(graph, "inputs", infos_of(f, g->n_input, g->input));
  set(graph, "outputs", infos_of(f, g->n_output, g->output));
  set(graph, "initializers", initializers_of(f, g));
  set(graph, "nodes", nodes_of(f, g->n_node, g->node));
  return graph;
}

static Value opsets_of(const OnnxFile *f, size_t n, Onnx__OperatorSetId **ids) {
  Value out = value_dict();
  for (size_t i = 0; i < n; i++) {
    const char *domain = ids[i]->domain ? ids[i]->domain : "";
    value_dict_set(out, name_of(f, str_same(domain, "ai.onnx") ? "" : domain),
                   value_int(ids[i]->version), (Span){0});
  }
  return out;
}

static Value function_of(const OnnxFile *f, const Onnx__Function *p) {
  Value function = value_dict(), defaults = value_dict();
  for (size_t i = 0; i < p->n_attribute_proto; i++)
    value_dict_set(defaults, name_of(f, p->attribute_proto[i]->name),
                   attribute_of(f, p->attribute_proto[i]), (Span){0});
  set(function, "name", name_of(f, p->name));
  set(function, "domain", name_of(f, p->domain));
  set(function, "overload", name_of(f, p->overload));
  set(function, "inputs", names_of(f, p->n_input, p->input));
  set(function, "outputs", names_of(f, p->n_output, p->output));
  set(function, "attributes", names_of(f, p->n_attribute, p->attribute));
  set(function, "defaults", defaults);
  set(function, "nodes", nodes_of(f, p->n_node, p->node));
  set(function, "opsets", opsets_of(f, p->n_opset_import, p->opset_import));
  return function;
}

Value onnx_model(const OnnxFile *f, const Onnx__Model *m) {
  if (!m->graph) onnx_fault(f, "the model has no graph");
  Value model = value_dict();
  ValueVec functions = {0};
  for (size_t i = 0; i < m->n_functions; i++) vec_push(&functions, function_of(f, m->functions[i]));
  set(model, "ir_version", value_int(m->ir_version));
  set(model, "producer", onnx_text(m->producer_name));
  set(model, "opsets", opsets_of(f, m->n_opset_import, m->opset_import));
  set(model, "graph", graph_of(f, m->graph));
  set(model, "functions", value_list(functions));
  return model;
}
