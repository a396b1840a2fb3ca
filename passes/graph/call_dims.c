/* call_dims.c -- see call_dims.h. */
#include "passes/graph/call_dims.h"

void bind_dims(Map *map, Node *param, Node *arg) {
  NodeVec p = {0}, a = {0};
  if (!arg || arg->kind != param->kind) return;
  switch (param->kind) {
  case NK_TensorStructInfo:
    if (!sinfo_tensor_shape(param, &p) || !sinfo_tensor_shape(arg, &a)) return;
    break;
  case NK_ShapeStructInfo:
    p = AS(ShapeStructInfo, param)->values;
    a = AS(ShapeStructInfo, arg)->values;
    break;
  case NK_PrimStructInfo:
    if (!AS(PrimStructInfo, param)->value || !AS(PrimStructInfo, arg)->value) return;
    p = NODES(AS(PrimStructInfo, param)->value);
    a = NODES(AS(PrimStructInfo, arg)->value);
    break;
  case NK_TupleStructInfo: {
    NodeVec params = AS(TupleStructInfo, param)->fields, args = AS(TupleStructInfo, arg)->fields;
    for (int i = 0; i < params.len && i < args.len; i++) bind_dims(map, params.at[i], args.at[i]);
    return;
  }
  default: return;
  }
  for (int i = 0; i < p.len && i < a.len; i++)
    if (IS(Var, p.at[i]) && !map_has(map, p.at[i])) map_set(map, p.at[i], a.at[i]);
}
