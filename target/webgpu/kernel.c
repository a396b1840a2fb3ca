/* kernel.c -- the frame of a kernel: arrays of the module for its buffers and for the memory that
 * its threads share, and a struct of its scalars.
 *
 * Bindings: the buffers, in the order of the parameters; then the scalars, each in 8 bytes, in the
 * order of the parameters, for a buffer the byte of the binding that it begins at; then the numbers
 * of blocks along x and y, where the kernel may have more than a dispatch. */
#include "target/webgpu/webgpu.h"

typedef struct Kernel {
  const char *name, *given; /* the variable with the scalars */
  Str *module;              /* declarations before the kernel */
  Str fields;
  int buffers;
  bool many_blocks;
  int64_t shared_bytes;
} Kernel;

/* ---- buffers ---- */

/* What is done through a pointer. */
typedef struct Accesses {
  Node *pointer;
  DataType elem; /* of all of them in WGSL; void: of none, or they differ */
  int n;
  bool sizes[4];
  bool is_mixed, has_parts, stores_parts;
} Accesses;

static WalkResult note_access(Walker *w, Node *n) {
  Accesses *a = w->context;
  bool is_load = IS(BufferLoad, n);
  if (!is_load && !IS(BufferStore, n)) return WALK_ON;
  Buffer *b = AS(Buffer, is_load ? AS(BufferLoad, n)->buffer : AS(BufferStore, n)->buffer);
  if (b->data != a->pointer) return WALK_ON;
  DataType t = dtype_element(b->elem), in_wgsl = wgsl_element(t);
  int bytes = lowered_nbytes(t);
  if (a->n++ && !dtype_equal(a->elem, in_wgsl)) a->is_mixed = true;
  a->elem = in_wgsl;
  a->sizes[bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3] = true;
  a->has_parts |= bytes < 4;
  a->stores_parts |= bytes < 4 && !is_load;
  return WALK_ON;
}

static WgslArray *array_of(PrimFunc *f, Node *pointer, Accesses *a) {
  *a = (Accesses){.pointer = pointer, .elem = DTYPE_OF(UINT, 32)};
  Walker w = {.enter = note_access, .context = a};
  walk(&w, f->body);
  bool is_words = a->is_mixed || a->has_parts;
  return NEW(WgslArray, .elem = is_words ? DTYPE_OF(UINT, 32) : a->elem, .is_words = is_words,
             .is_atomic = a->stores_parts);
}

static void add_buffer(CGen *g, Kernel *k, PrimFunc *f, Node *param, CVar *v) {
  Accesses a;
  WgslArray *array = array_of(f, param, &a);
  const char *field = v->name;
  str_printf(&k->fields, "  %s: vec2<u32>,\n", field);
  v->place = array;
  v->name = c_name(str_format("%s_%s", k->name, field), &g->names, NULL);
  const char *elem = str_format(array->is_atomic ? "atomic<%s>" : "%s", c_type(g, array->elem));
  str_printf(k->module, "@group(0) @binding(%d) var<storage, read_write> %s: array<%s>;\n",
             k->buffers++, v->name, elem);
  for (int i = 0; i < 4; i++) {
    if (!a.sizes[i]) continue;
    array->first[i] = c_name(str_format("%s_first", field), &g->f->names, &g->names);
    c_line(g, "let %s = i32(%s.%s.x >> %du);", array->first[i], k->given, field, i);
  }
}

/* ---- scalars ---- */

static void add_scalar(CGen *g, Kernel *k, Node *param, CVar *v) {
  DataType t = param->dtype;
  const char *word = str_format("%s.%s", k->given, v->name);
  str_printf(&k->fields, "  %s: vec2<u32>,\n", v->name);
  if (!c_is_used(g, param)) return;
  if (!wgsl_is_wide(t)) word = str_format("%s.x", word);
  if (dtype_is_bool(t)) word = str_format("%s != 0u", word);
  else if (!wgsl_is_wide(t) && !str_same(c_type(g, t), "u32"))
    word = str_format("bitcast<%s>(%s)", c_type(g, t), word);
  c_line(g, "let %s: %s = %s;", v->name, c_type(g, t), word);
}

/* ---- memory that threads share ---- */

static void declare_shared(CGen *g, CVar *v, int64_t count, void *context) {
  Kernel *k = context;
  DataType elem = wgsl_element(v->elem);
  v->place = NEW(WgslArray, .elem = elem);
  v->name = c_name(str_format("%s_%s", k->name, v->name), &g->names, NULL);
  str_printf(k->module, "var<workgroup> %s: array<%s, %lld>;\n", v->name, c_type(g, elem),
             (long long)count);
  k->shared_bytes += (count * lowered_nbytes(elem) + 15) / 16 * 16;
}

/* Elements of less than 32 bits take a word each. */
static void check_shared(CGen *g, PrimFunc *f, int64_t nbytes) {
  int64_t most = target_option_int(g->target, "max_shared_memory_per_block");
  if (nbytes > most)
    error_raisef("CompileError", f->node.span,
                 "kernel %s: a block has %lld bytes of shared memory in WGSL, where an element has "
                 "at least 4, but the target has at most %lld: choose smaller tiles",
                 g->f->name, (long long)nbytes, (long long)most);
}

/* ---- blocks ---- */

/* May there be more along an axis than a dispatch has? */
static bool has_many_blocks(PrimFunc *f) {
  int64_t extent;
  for (Node *n = f->body; IS(AttrStmt, n) && IS(IterVar, AS(AttrStmt, n)->subject);
       n = AS(AttrStmt, n)->body) {
    if (!str_begins(AS(IterVar, AS(AttrStmt, n)->subject)->thread_tag, "blockIdx.")) continue;
    if (!expr_is_const_int(AS(AttrStmt, n)->value, &extent) || extent > WGSL_MOST_BLOCKS)
      return true;
  }
  return false;
}

/* By their number in the dispatch, which may have them along other axes than the kernel. */
static void count_blocks(CGen *g, Kernel *k) {
  str_add(&k->fields, "  blocks: vec2<u32>,\n  layers: vec2<u32>,\n");
  c_line(g, "let block = (groupIdx.z * groupDim.y + groupIdx.y) * groupDim.x + groupIdx.x;");
  c_line(g, "if (block >= %s.blocks.x * %s.blocks.y * %s.layers.x) {", k->given, k->given,
         k->given);
  c_line(g, "  return;");
  c_line(g, "}");
  c_line(g, "let row = block / %s.blocks.x;", k->given);
  c_line(g,
         "let blockIdx = vec3<u32>(block %% %s.blocks.x, row %% %s.blocks.y, row / %s.blocks.y);",
         k->given, k->given, k->given);
}

/* ---- the kernel ---- */

static void begin(CGen *g, PrimFunc *f, void *context) {
  Kernel *k = context;
  static const char *const taken[] = {"block", "row", "blocks", "layers"};
  for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) c_name(taken[i], &g->f->names, NULL);
  k->given = c_name(str_format("%s_given", k->name), &g->names, NULL);
  for each (Node *, p, &f->params) {
    CVar *v = c_kernel_param(g, f, *p);
    if (dtype_is_handle((*p)->dtype)) add_buffer(g, k, f, *p, v);
    else add_scalar(g, k, *p, v);
  }
  c_check_buffers(g, f, k->buffers);
  c_each_shared(g, f->body, declare_shared, k);
  check_shared(g, f, k->shared_bytes);
  k->many_blocks = has_many_blocks(f);
  if (k->many_blocks) count_blocks(g, k);
}

void wgsl_kernel(CGen *g, const char *name, PrimFunc *f) {
  Str module = {0};
  Kernel k = {.name = name, .module = &module};
  int64_t size[3];
  if (str_begins(name, "__"))
    error_raisef("CompileError", f->node.span,
                 "kernel %s: no name of WGSL begins with two underscores: rename the function",
                 name);
  const char *lines = c_kernel(g, name, f, begin, &k);
  const char *scalars = c_name(str_format("%s_scalars", name), &g->names, NULL);
  c_block_size(f, size);
  if (k.fields.len) {
    str_printf(&module, "@group(0) @binding(%d) var<uniform> %s: %s;\n", k.buffers, k.given,
               scalars);
    str_printf(&g->functions, "\nstruct %s {\n%s}\n", scalars, str_text(&k.fields));
  }
  str_printf(&g->functions, "%s@compute @workgroup_size(%lld, %lld, %lld)\nfn %s(",
             k.fields.len ? str_text(&module) : "\n", (long long)size[0], (long long)size[1],
             (long long)size[2], name);
  str_printf(&g->functions,
             "@builtin(local_invocation_id) threadIdx: vec3<u32>, @builtin(workgroup_id) %s: "
             "vec3<u32>%s) {\n%s}\n",
             k.many_blocks ? "groupIdx" : "blockIdx",
             k.many_blocks ? ", @builtin(num_workgroups) groupDim: vec3<u32>" : "", lines);
}
