/* pass_value.c -- tvm.transform: passes and pipelines as values, and passes that are written in
 * script. A pass from script joins the table of passes, so that pipelines as text find it. */
#include "lang/dialect/packed.h"
#include "passes/passes.h"

#define ARG(i)  call->args[i]
#define SPAN(i) call->spans[i]

/* ---- pipelines as values: tvm.transform.FuseOps(max_depth=8)(mod) ---- */

typedef struct PassValue {
  Pipeline pipeline;
} PassValue;

static const ValueType type_passes;
static Value value_passes(Pipeline p);

typedef struct TargetText {
  const char *text;
  const Target *target;
} TargetText;

static void parse_target(void *context) {
  TargetText *t = context;
  t->target = target_parse(t->text, (Span){0});
}

/* That of `with tvm.target.Target(...)`; NULL if there is none, or none that this program knows. */
static const Target *current_target(Span span) {
  Value class = library_attr("tvm.target", "Target");
  Value current =
      value_call_with(value_get_attr(class, str_intern("current"), span), 0, NULL, span);
  if (value_is_none(current)) return NULL;
  TargetText t = {.text = value_to_str(current)};
  return protect(parse_target, &t) ? NULL : t.target;
}

static Node *run_pipeline(const Pipeline *p, Node *m, Span span) {
  return pipeline_run(p, m, current_target(span), NULL);
}

/* A function alone is nobody's to call: a private one is public while passes run, for them not to
 * drop it. */
static Node *run_on_function(const Pipeline *p, Value v, Span span) {
  bool is_function = value_is_node(v, NK_Function) || value_is_node(v, NK_PrimFunc);
  bool is_private = is_function && !func_symbol(v.node);
  if (is_private) v = value_node(func_with_attr(v.node, "global_symbol", string_imm("main", span)));
  Node *out = AS(IRModule, run_pipeline(p, to_module(v, span), span))->functions.at[0];
  return is_private ? func_with_attr(out, "global_symbol", NULL) : out;
}

static Value run_passes(Value f, CallArgs *args) {
  PassValue *p = f.object;
  if (args->positional.len != 1 || args->names.len)
    raise("TypeError", args->span, "a pass takes one module");
  Value v = args->positional.at[0];
  if (value_is_node(v, NK_IRModule))
    return value_node(run_pipeline(&p->pipeline, to_module(v, args->span), args->span));
  return value_node(run_on_function(&p->pipeline, v, args->span));
}
static void passes_repr(Value v, Str *out) {
  str_add(out, pipeline_text(&((PassValue *)v.object)->pipeline));
}
static Value passes_attr(Value v, const char *name, Span span) {
  const Pipeline *p = &((PassValue *)v.object)->pipeline;
  if (str_same(name, "info")) {
    Value text = value_str(p->len == 1 ? p->at[0].pass->name : "sequential");
    return value_call_with(library_attr("tvm.transform", "PassInfo"), 1, &text, span);
  }
  if (!str_same(name, "name")) return value_absent();
  return value_str(pipeline_text(p));
}
static const ValueType type_passes = {
    .name = "pass", .call = run_passes, .repr = passes_repr, .get_attr = passes_attr};

static Value value_passes(Pipeline p) {
  return value_of(&type_passes, NEW(PassValue, .pipeline = p));
}

/* An option as the text of a pipeline has it; several names as one text, None as the default, an
 * object (a Target) as its text. */
static const char *option_text(const Pass *p, const char *name, Value v, Span span) {
  const PassOption *o = NULL;
  for (int i = 0; i < p->option_count; i++)
    if (str_same(p->options[i].name, name)) o = &p->options[i];
  if (o && o->type == OPTION_VALUE) return library_pass_text(v);
  if (!o || o->type != OPTION_STR) return value_repr(v);
  if (value_is_none(v)) return value_repr(value_str(o->otherwise));
  if (v.type == &type_instance) return value_repr(value_str(value_to_str(v)));
  if (v.type != &type_list && v.type != &type_tuple) return value_repr(v);
  Str names = {0};
  for each (Value, item, value_items(v))
    str_printf(&names, "%s%s", names.len ? ";" : "", value_as_text(*item, "a name", span));
  return value_repr(value_str(str_text(&names)));
}

static Value make_pass(Value f, CallArgs *args) {
  const Pass *p = f.object;
  if (args->positional.len > p->option_count)
    raise("TypeError", args->span, "%s takes %d options", p->name, p->option_count);
  Str text = {0};
  str_printf(&text, "%s(", p->name);
  for (int i = 0; i < args->positional.len; i++)
    str_printf(&text, "%s=%s, ", p->options[i].name,
               option_text(p, p->options[i].name, args->positional.at[i], args->span));
  for (int i = 0; i < args->names.len; i++)
    str_printf(&text, "%s=%s, ", args->names.at[i],
               option_text(p, args->names.at[i], args->named.at[i], args->span));
  str_add(&text, ")");
  return value_passes(pipeline_parse(str_text(&text), args->span));
}
static void pass_class_repr(Value v, Str *out) { str_add(out, ((const Pass *)v.object)->name); }
static const ValueType type_pass_class = {
    .name = "pass", .call = make_pass, .repr = pass_class_repr};

/* ---- passes written in script ---- */

typedef struct ScriptPass {
  int64_t opt_level;
  Value body; /* a function, an object with transform_module or transform_function, or a class of
                 such objects, made with the options of the pipeline */
} ScriptPass;

static Value pass_object(ScriptPass *s, const PassContext *context) {
  if (s->body.type != &type_class) return s->body;
  CallArgs args = {0};
  for (int i = 0; i < context->options.len; i++) {
    if (!context->options.at[i].key) continue;
    vec_push(&args.names, context->options.at[i].key);
    vec_push(&args.named, library_pass_value(context->options.at[i].value));
  }
  return value_call(s->body, &args);
}

static Value current_context(Span span) {
  Value class = library_attr("tvm.transform", "PassContext");
  return value_call_with(value_get_attr(class, str_intern("current"), span), 0, NULL, span);
}

static Node *run_script_pass(Node *n, const PassContext *context) {
  const Pass *p = context->pass;
  bool on_module = p->level == PASS_MODULE;
  Value f = pass_object(p->definition, context), ctx = current_context(n->span);
  const char *method = on_module ? "transform_module" : "transform_function";
  if (f.type == &type_instance) f = value_get_attr(f, str_intern(method), n->span);
  Value args[] = {value_node(n), on_module ? ctx : value_node(context->module), ctx};
  Value out = value_call_with(f, on_module ? 2 : 3, args, n->span);
  bool fits = out.type == &type_node && out.node->kind == n->kind;
  if (!fits)
    raise("TypeError", n->span, "the pass %s must return an %s, found %s", p->name,
          node_kind_name(n->kind), value_type_name(out));
  return out.node;
}

static const Pass *script_pass(const char *name, PassLevel level, int64_t opt_level, Value body) {
  Value doc = value_find_attr(body, str_intern("__doc__"), (Span){0});
  const char *text = doc.type == &type_str ? value_text(doc) : "a pass written in script";
  return NEW(Pass, .name = str_intern(name), .level = level, .doc = text, .run = run_script_pass,
             .definition = NEW(ScriptPass, .opt_level = opt_level, .body = body));
}

static Value lone_pass(const Pass *p) {
  Pipeline one = {0};
  vec_push(&one, ((PassCall){.pass = p, .is_direct = true}));
  return value_passes(one);
}

/* A class of passes, as value: calling it makes an object, which is a pass. */
static Value make_script_pass(Value f, CallArgs *args) {
  const Pass *p = f.object;
  ScriptPass *s = p->definition;
  return lone_pass(script_pass(p->name, p->level, s->opt_level, value_call(s->body, args)));
}
static const ValueType type_script_pass_class = {
    .name = "pass", .call = make_script_pass, .repr = pass_class_repr};

static Value define_pass(PassLevel level, Value opt_level, Value name, Value body, Span span) {
  if (body.type != &type_function && body.type != &type_class)
    raise("TypeError", span, "a pass is a function or a class, found %s", value_type_name(body));
  if (value_is_none(name)) name = value_get_attr(body, str_intern("__name__"), span);
  int64_t least =
      value_is_none(opt_level) ? 0 : value_as_int(opt_level, "the opt_level of a pass", span);
  const Pass *p = script_pass(value_as_text(name, "the name of a pass", span), level, least, body);
  pass_define(p); /* in texts of pipelines a name of the table stays the table's */
  if (body.type == &type_function) return lone_pass(p);
  return value_of(&type_script_pass_class, (void *)(uintptr_t)p);
}

static Value decorate_pass(BuiltinCall *call) {
  ValueVec *given = value_items(call->self);
  return define_pass((PassLevel)given->at[0].integer, given->at[1], given->at[2], ARG(0),
                     call->span);
}
static const Builtin pass_decorator = {"pass", "pass_func", decorate_pass, "makes it a pass"};

/* @module_pass, @module_pass(opt_level=0, name="X"). */
static Value pass_of_level(BuiltinCall *call, PassLevel level) {
  if (!value_is_none(ARG(0))) return define_pass(level, ARG(1), ARG(2), ARG(0), call->span);
  return value_method(&pass_decorator, value_tuple_of(3, value_int(level), ARG(1), ARG(2)));
}
static Value module_pass(BuiltinCall *call) { return pass_of_level(call, PASS_MODULE); }
static Value function_pass(BuiltinCall *call) { return pass_of_level(call, PASS_GRAPH); }
static Value prim_func_pass(BuiltinCall *call) { return pass_of_level(call, PASS_PRIM); }

/* ---- PassContext: passes that are left out, and who watches ---- */

typedef struct Watched {
  const PassCall *call;
  Node *module;
  const Target *target;
  Value context;
} Watched;

/* run(mod) of PassContext._run: the pass alone. */
static Value run_alone(BuiltinCall *call) {
  const Watched *w = call->self.object;
  return value_node(pass_run(w->call, to_module(ARG(0), SPAN(0)), w->target));
}
static const Builtin alone = {"run", "mod", run_alone, "one pass"};
static const ValueType type_watched = {.name = "pass"};

static void run_watched(void *job) {
  Watched *w = job;
  Span span = w->module->span;
  Value args[] = {value_method(&alone, value_of(&type_watched, w)), value_node(w->module),
                  value_str(w->call->pass->name)};
  Value out = value_call_with(value_get_attr(w->context, str_intern("_run"), span), 3, args, span);
  w->module = to_module(out, span);
}

static bool is_left_out(Value context, const PassCall *call, Span span) {
  ScriptPass *s = call->pass->definition;
  Value args[] = {value_str(call->pass->name), value_int(s && !call->is_direct ? s->opt_level : 0)};
  Value allows = value_get_attr(context, str_intern("_allows"), span);
  return !value_truth(value_call_with(allows, 2, args, span), span);
}

/* Does the pass have the option? Of a config others are for other compilers, unless one is all but
 * named. */
static bool has_option(const Pass *p, const char *name, Span span) {
  StrVec names = {0};
  for (int i = 0; i < p->option_count; i++) {
    if (str_same(p->options[i].name, name)) return true;
    vec_push(&names, p->options[i].name);
  }
  const char *near = str_near(name, names.at, names.len);
  if (near)
    raise("PipelineError", span, "the config has '%s' for %s; did you mean '%s'?", name, p->name,
          near);
  return false;
}

/* The pass with the options that the context's config has for it; those of the call count more. */
static PassCall configured(Value context, const PassCall *call, Span span) {
  PassCall out = *call;
  const Pass *p = call->pass;
  Value name = value_str(p->name), ask = value_get_attr(context, str_intern("_options_of"), span);
  Value given = value_call_with(ask, 1, &name, span);
  CallArgs args = {.span = span};
  for (int i = 0; !p->definition && i < value_dict_len(given); i++) {
    Value key, x;
    value_dict_entry(given, i, &key, &x);
    const char *option = str_intern(value_as_text(key, "the name of an option", span));
    if (!has_option(p, option, span)) continue;
    vec_push(&args.names, option);
    vec_push(&args.named, x);
  }
  if (!args.names.len) return out;
  const PassValue *made = make_pass(value_of(&type_pass_class, (void *)(uintptr_t)p), &args).object;
  out.options = (Map){0};
  for (int i = 0; i < p->option_count; i++) {
    const char *key = str_intern(p->options[i].name), *own = map_get(&call->options, key);
    bool is_default = str_same(own, p->options[i].otherwise);
    map_set(&out.options, key,
            is_default ? map_get(&made->pipeline.at[0].options, key) : (void *)(uintptr_t)own);
  }
  return out;
}

/* Passes that others run on their way may be left out, too, but are told to nobody. */
static Node *watched_pass(const PassCall *call, Node *m, const Target *target) {
  static bool is_inside;
  if (!library_is_loaded("tvm.transform")) return pass_run(call, m, target);
  Span span = m->span;
  Value context = current_context(span);
  if (is_left_out(context, call, span)) return m;
  PassCall now = configured(context, call, span);
  call = &now;
  bool told = value_truth(value_get_attr(context, str_intern("instruments"), span), span);
  if (is_inside || !told) return pass_run(call, m, target);
  Watched *w = NEW(Watched, .call = call, .module = m, .target = target, .context = context);
  is_inside = true;
  Error *e = eval_protect(run_watched, w);
  is_inside = false;
  if (e) error_raise(e);
  return w->module;
}

/* ---- the namespace ---- */

static Value find_pass(Namespace *ns, const char *name) {
  (void)ns;
  Value written =
      library_attr("tvm.transform", name); /* also those that take more than a row tells */
  const Pass *p = pass_find(name);
  if (written.type || !p) return written;
  if (!p->definition) return value_of(&type_pass_class, (void *)(uintptr_t)p);
  bool is_class = ((ScriptPass *)p->definition)->body.type == &type_class;
  return is_class ? value_of(&type_script_pass_class, (void *)(uintptr_t)p) : lone_pass(p);
}
static void pass_names(Namespace *ns, StrVec *out) {
  (void)ns;
  for (int i = 0; pass_at(i); i++) vec_push(out, pass_at(i)->name);
  library_names("tvm.transform", out);
}

/* An object that has transform_module, such as a rewriter, is a pass as it stands. */
static Value as_passes(Value v, Span span) {
  if (value_is_rewriter(v)) v = rewriter_object(v, span);
  if (v.type == &type_instance && value_find_attr(v, str_intern("transform_module"), span).type)
    return lone_pass(script_pass(value_type_name(v), PASS_MODULE, 0, v));
  if (v.type != &type_passes)
    raise("TypeError", span, "expected passes, found %s", value_type_name(v));
  return v;
}

/* transform.Sequential([p, q]), or a pipeline as text. */
static Value transform_sequential(BuiltinCall *call) {
  if (ARG(0).type == &type_str) return value_passes(pipeline_parse(value_text(ARG(0)), SPAN(0)));
  Pipeline all = {0};
  ValueVec passes = value_to_vec(ARG(0), SPAN(0));
  for each (Value, v, &passes) {
    const PassValue *one = as_passes(*v, SPAN(0)).object;
    for each (PassCall, c, &one->pipeline)
      vec_push(&all, ((PassCall){.pass = c->pass, .options = c->options}));
  }
  return value_passes(all);
}

#define PASS_DECORATOR_ARGS                                                                        \
  "pass_func=None, opt_level=None, name=None, required=None, traceable=False"
static const Builtin transform_names[] = {
    {"module_pass", PASS_DECORATOR_ARGS, module_pass,
     "makes f(mod, ctx), or a class with transform_module, a pass on modules"},
    {"function_pass", PASS_DECORATOR_ARGS, function_pass,
     "makes f(func, mod, ctx), or a class with transform_function, a pass on graph functions"},
    {"prim_func_pass", PASS_DECORATOR_ARGS, prim_func_pass,
     "makes f(func, mod, ctx), or a class with transform_function, a pass on tensor programs"},
};

static const Builtin sequential = {"Sequential", "passes, opt_level=None, name=None, required=None",
                                   transform_sequential,
                                   "passes one after the other: a list, or a pipeline as text"};
static const TypeObject pass_class = {.type = &type_passes, .constructor = &sequential};

static const char *why_absent(const Namespace *ns, const char *name) {
  (void)ns;
  return pass_absent(name);
}

Value transform_namespace(void) {
  static Value ns;
  if (ns.type) return ns;
  watched_pass_hook = watched_pass;
  ns = value_namespace("tvm.transform");
  namespace_add_builtins(ns, transform_names, sizeof transform_names / sizeof *transform_names);
  namespace_set_class(ns, "Pass", &pass_class);
  namespace_set_class(ns, "Sequential", &pass_class);
  namespace_set(ns, "transform", ns); /* the file that upstream's package has its passes from */
  ((Namespace *)ns.object)->find = find_pass;
  ((Namespace *)ns.object)->names = pass_names;
  ((Namespace *)ns.object)->elsewhere = why_absent;
  ((Namespace *)ns.object)->is_part = true;
  return ns;
}
