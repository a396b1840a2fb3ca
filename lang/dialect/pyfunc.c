/* pyfunc.c -- @I.pyfunc: methods of a module that are functions of the script.
 *
 * The IR knows such a method by its name only, as an external function. The function itself is kept
 * beside that node, as mod.pyfuncs["f"], and is registered under its name when the module has been
 * read: R.call_py_func("f", ...) calls it with the module as self. */
#include "lang/dialect/dialect_impl.h"
#include "lang/dialect/packed.h"

static Map functions; /* ExternFunc to a Value * */

static Value decorate(Env *env, Ast *definition, CallArgs *args) {
  (void)args;
  if (!module || definition->kind != AST_KIND_Def)
    raise("SyntaxError", definition->span, "@I.pyfunc stands above a method of a module");
  Node *info = MAKE(FuncStructInfo, definition->span, VOID_TYPE, .ret = sinfo_object());
  Node *outside = MAKE(ExternFunc, definition->span, VOID_TYPE, .sinfo = info,
                       .symbol = AST_AS(Def, definition)->name);
  Value f = function_new(env->outer->outer, definition); /* outside of the class and its name */
  map_set(&functions, outside, gc_copy(&f, sizeof f));
  return value_node(outside);
}

const TreeDecorator decorate_pyfunc = {"I.pyfunc", decorate, NULL};

Value module_pyfuncs(Node *m) {
  Value all = value_dict();
  for each (Node *, f, &AS(IRModule, m)->functions) {
    Value *function = IS(ExternFunc, *f) ? map_get(&functions, *f) : NULL;
    if (function) value_dict_set(all, value_str(AS(ExternFunc, *f)->symbol), *function, (*f)->span);
  }
  return all;
}

void register_pyfuncs(Node *m) {
  Value all = module_pyfuncs(m), name, f;
  for (int i = 0; i < value_dict_len(all); i++) {
    value_dict_entry(all, i, &name, &f);
    Value method =
        value_of(&type_bound_method, NEW(MethodObject, .self = value_node(m), .function = f));
    TvmsFunc *packed = packed_of_value(method, m->span);
    int status = tvms_func_register(value_text(name), packed, true);
    tvms_release(packed);
    if (status) raise("RuntimeError", m->span, "%s", tvms_last_error());
  }
}
