/* place.c -- where tensors stand: devices, virtual devices, meshes of devices, R.DTensor.
 *
 * A text such as "cuda:1" or "mesh[0]" names an entry of the module's global infos. */
#include "lang/dialect/tensor_names.h"
#include <ctype.h>
#include <stdlib.h>

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* ---- devices ---- */

/* Kinds by name, and by the number that DLPack gives them. */
static const struct {
  const char *name;
  int code;
} device_kinds[] = {{"cpu", 1},  {"cuda", 2},  {"opencl", 4},   {"vulkan", 7},   {"metal", 8},
                    {"vpi", 9},  {"rocm", 10}, {"ext_dev", 12}, {"hexagon", 14}, {"webgpu", 15},
                    {"llvm", 1}, {"gpu", 2},   {"cl", 4},       {"c", 1}};
enum { DEVICE_KINDS = sizeof device_kinds / sizeof *device_kinds };

/* Other names of a kind ("gpu") stand for its first row. */
static const char *device_kind(int code) {
  for (int i = 0; i < DEVICE_KINDS; i++)
    if (device_kinds[i].code == code) return device_kinds[i].name;
  return NULL;
}

static Value device_value(const char *name, int64_t id, Span span) {
  StrVec known = {0};
  for (int i = 0; i < DEVICE_KINDS; i++) {
    vec_push(&known, device_kinds[i].name);
    if (str_same(device_kinds[i].name, name))
      return value_node(MAKE(Device, span, VOID_TYPE,
                             .device_kind = device_kind(device_kinds[i].code), .id = (int)id));
  }
  const char *near = str_near(name, known.at, known.len);
  raise("ValueError", span, "'%s' is no kind of device%s%s%s", name, near ? "; did you mean '" : "",
        near ? near : "", near ? "'?" : "");
}

/* R.cuda(0): the kind is the name that was called. */
Value r_device_of_kind(BuiltinCall *call) {
  return device_value(call->builtin->name, value_as_int(ARG(0), "the device's number", SPAN(0)),
                      call->span);
}

/* R.device("cuda", 0), R.device("cuda:0"), or the kind by its number. */
Value r_device(BuiltinCall *call) {
  int64_t id = value_as_int(ARG(1), "the device's number", SPAN(1));
  if (ARG(0).type == &type_int) {
    const char *kind = device_kind((int)ARG(0).integer);
    if (!kind) raise("ValueError", SPAN(0), "%d is no kind of device", (int)ARG(0).integer);
    return device_value(kind, id, call->span);
  }
  const char *text = value_as_text(ARG(0), "the kind of a device", SPAN(0));
  const char *colon = strchr(text, ':');
  if (!colon) return device_value(text, id, call->span);
  return device_value(str_intern_n(text, (size_t)(colon - text)), strtol(colon + 1, NULL, 10),
                      call->span);
}

/* ---- virtual devices ---- */

Value i_vdevice(BuiltinCall *call) {
  const char *target = "";
  if (!value_is_none(ARG(0))) {
    BuiltinCall parse = {
        .args = (Value[]){ARG(0), value_none()}, .spans = call->spans, .span = call->span};
    target = AS(TargetAttr, t_target(&parse).node)->text;
  }
  return value_node(MAKE(VDevice, call->span, VOID_TYPE, .target = target,
                         .id = (int)value_as_int(ARG(1), "vdevice_id", SPAN(1)),
                         .scope = value_as_text(ARG(2), "memory_scope", SPAN(2))));
}

/* "cuda:1" is the second entry of that kind, "llvm" the first, "vdevice:3" the fourth of all; a
 * scope after that ("opencl:0:global") belongs to the entry. A kind without entries is a device by
 * itself. */
Node *vdevice_of(Value v, Span span) {
  if (value_is_none(v)) return NULL;
  if (value_is_node(v, NK_VDevice)) return v.node;
  const char *text = value_as_text(v, "vdevice", span), *colon = strchr(text, ':');
  const char *kind = colon ? str_intern_n(text, (size_t)(colon - text)) : str_intern(text);
  int64_t nth = colon ? strtol(colon + 1, NULL, 10) : 0;
  Node *found = find_vdevice(kind, nth);
  return found ? found
               : MAKE(VDevice, span, VOID_TYPE, .target = kind, .id = (int)nth, .scope = "global");
}

Value i_lookup_vdevice(BuiltinCall *call) {
  const char *kind = value_as_text(ARG(0), "the kind of a target", SPAN(0));
  int64_t nth = value_as_int(ARG(1), "device_index", SPAN(1));
  return value_node(vdevice_of(value_str(str_format("%s:%d", kind, (int)nth)), call->span));
}

Value i_dummy_global_info(BuiltinCall *call) {
  return value_node(MAKE(DummyGlobalInfo, call->span, VOID_TYPE));
}

/* ---- meshes ---- */

static IntVec int_items(Value v, const char *what, Span span) {
  IntVec out = {0};
  ValueVec items = value_to_vec(v, span);
  for each (Value, x, &items) vec_push(&out, (int)value_as_int(*x, what, span));
  return out;
}

static void check_mesh_size(const IntVec *shape, int64_t devices, Span span) {
  int64_t n = 1;
  for each (int, dim, shape) n *= *dim;
  if (n != devices)
    raise("ValueError", span, "a mesh of %lld devices is given %lld", (long long)n,
          (long long)devices);
}

Value r_device_mesh(BuiltinCall *call) {
  IntVec shape = int_items(ARG(0), "a dim of the mesh", SPAN(0));
  int64_t n;
  if (value_is_node(ARG(1), NK_Range)) {
    if (!expr_is_const_int(AS(Range, ARG(1).node)->extent, &n))
      raise("TypeError", SPAN(1), "the range of device numbers must be constant");
    check_mesh_size(&shape, n, call->span);
    return value_node(
        MAKE(DeviceMesh, call->span, VOID_TYPE, .shape = shape, .range = ARG(1).node));
  }
  IntVec ids = int_items(ARG(1), "a device number", SPAN(1));
  check_mesh_size(&shape, ids.len, call->span);
  return value_node(MAKE(DeviceMesh, call->span, VOID_TYPE, .shape = shape, .ids = ids));
}

/* A mesh, or the text "mesh[0]"; NULL for None. In a module the entry must exist. */
static Node *mesh_of(Value v, Span span) {
  if (value_is_none(v)) return NULL;
  if (value_is_node(v, NK_DeviceMesh)) return v.node;
  const char *text = value_as_text(v, "device_mesh", span), *bracket = strchr(text, '[');
  Node *infos = module ? module->global_infos : NULL;
  if (!bracket || text[strlen(text) - 1] != ']')
    raise("ValueError", span, "expected a mesh such as \"mesh[0]\", found \"%s\"", text);
  Node *list = dict_get(infos, str_intern_n(text, (size_t)(bracket - text)));
  int64_t at = strtol(bracket + 1, NULL, 10);
  if (infos && (!list || at < 0 || at >= AS(Array, list)->items.len))
    raise("ValueError", span, "the module's global infos have no entry %s", text);
  return string_imm(text, span);
}

/* "S[0], R": the placement along each axis of the mesh, written in one way. */
static const char *placement_of(Value v, int ndim, Span span) {
  const char *text = value_as_text(v, "placement", span), *at = text;
  Str out = {0};
  while (*at) {
    while (isspace((unsigned char)*at)) at++;
    char *end;
    if (*at == 'R') {
      str_printf(&out, "%sR", out.len ? ", " : ""), at++;
    } else if (at[0] == 'S' && at[1] == '[' && isdigit((unsigned char)at[2])) {
      long dim = strtol(at + 2, &end, 10);
      if (*end != ']') break;
      if (ndim >= 0 && dim >= ndim)
        raise("ValueError", span, "the placement shards dimension %ld of a tensor of rank %d", dim,
              ndim);
      str_printf(&out, "%sS[%ld]", out.len ? ", " : "", dim), at = end + 1;
    } else break;
    while (isspace((unsigned char)*at)) at++;
    if (*at != ',') break;
    at++;
  }
  if (*at)
    raise("ValueError", span, "expected a placement such as \"S[0], R\", found \"%s\"", text);
  return str_text(&out);
}

Value r_dtensor(BuiltinCall *call) {
  BuiltinCall tensor_call = {.args = (Value[]){ARG(0), ARG(1), value_none(), ARG(4)},
                             .spans = (Span[]){SPAN(0), SPAN(1), call->span, SPAN(4)},
                             .span = call->span};
  TensorStructInfo *t = AS(TensorStructInfo, r_tensor(&tensor_call).node);
  t->mesh = mesh_of(ARG(2), SPAN(2));
  t->placement = value_is_none(ARG(3)) ? "" : placement_of(ARG(3), t->ndim, SPAN(3));
  return value_node(&t->node);
}
