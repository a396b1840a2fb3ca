/* describe.c -- see describe.h. */
#include "target/describe.h"
#include "target/lowered.h"
#include "target/params.h"
#include "target/runtime/tvms.h"
#include <ctype.h>

typedef struct Facts {
  int64_t constants, bytes;
  Map needed; /* interned texts: the functions that are called and that the module does not have */
} Facts;

static WalkResult find_facts(Walker *w, Node *n) {
  Facts *f = w->context;
  if (IS(AllocateConst, n)) {
    f->constants++;
    f->bytes += (int64_t)AS(AllocateConst, n)->data->nbytes;
  }
  if (!is_intrin_call(n, "call_extern") && !is_intrin_call(n, "call_pure_extern")) return WALK_ON;
  NodeVec args = AS(Call, n)->args;
  const char *symbol = IS(StringImm, args.at[0]) ? AS(StringImm, args.at[0])->value : "";
  if (lowered_is_in_library(symbol))
    map_set(&f->needed, str_intern(str_format("the C function '%s'", symbol)), n);
  bool is_packed =
      args.len > 2 && IS(StringImm, args.at[2]) && str_same(symbol, "tvms_call_packed");
  if (is_packed)
    map_set(&f->needed,
            str_intern(str_format("the packed function '%s'", AS(StringImm, args.at[2])->value)),
            n);
  return WALK_ON;
}

static const char *signature_of(Node *f) {
  return dict_get_str(AS(PrimFunc, f)->attrs, "tvms.signature", "");
}

const char *module_description(Node *lowered, const Target *target, const char *machine) {
  Facts facts = {0};
  Walker w = {.enter = find_facts, .context = &facts};
  for each (Node *, f, &AS(IRModule, lowered)->functions) walk(&w, *f);
  Str s = {0};
  str_printf(&s, DESCRIPTION_MARK "built by  tvms %s, ABI %d\ntarget    %s\nmachine   %s\n",
             TVMS_VERSION, TVMS_ABI_VERSION, target_module_text(target), machine);
  NodeVec exports = lowered_exports(lowered);
  for each (Node *, f, &exports)
    str_printf(&s, "function  %s%s\n", func_symbol(*f), signature_of(*f));
  str_printf(&s, "constants %lld, %lld bytes%s%s\n", (long long)facts.constants,
             (long long)facts.bytes, params_file(lowered) ? " in " : "",
             params_file(lowered) ? params_file(lowered) : "");
  for (int i = 0; i < facts.needed.len; i++)
    str_printf(&s, "needs     %s\n", (const char *)facts.needed.at[i].key);
  return str_text(&s);
}

/* ---- the header ---- */

static bool is_identifier(const char *name) {
  if (!isalpha((unsigned char)*name) && *name != '_') return false;
  for (; *name; name++)
    if (!isalnum((unsigned char)*name) && *name != '_') return false;
  return true;
}

/* "net-1.o" to "NET_1". */
static const char *guard_of(const char *path) {
  const char *slash = strrchr(path, '/');
  Str s = {0};
  for (const char *c = slash ? slash + 1 : path; *c && *c != '.'; c++)
    str_add_char(&s, isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_');
  return str_text(&s);
}

const char *module_header(Node *lowered, const Target *target, const char *path) {
  const char *guard = guard_of(path);
  Str s = {0};
  str_printf(&s,
             "/* Made by tvms %s for %s: the functions of a compiled module, to be linked with\n"
             " * libtvms_runtime. Each is a TvmsPackedFunc (tvms.h); `self` is NULL. */\n"
             "#ifndef TVMS_MODULE_%s_H\n#define TVMS_MODULE_%s_H\n\n#include \"tvms.h\"\n\n"
             "#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
             TVMS_VERSION, target_module_text(target), guard, guard);
  NodeVec exports = lowered_exports(lowered);
  for each (Node *, f, &exports)
    if (is_identifier(func_symbol(*f)))
      str_printf(&s,
                 "\n/* %s%s */\nint " EXPORT_PREFIX
                 "%s(void *self, const TvmsValue *args, const int *types, int n, TvmsValue *ret,\n"
                 "    int *ret_type);\n",
                 func_symbol(*f), signature_of(*f), func_symbol(*f));
  str_add(&s, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
  return str_text(&s);
}
