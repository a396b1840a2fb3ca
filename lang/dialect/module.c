/* module.c -- @I.ir_module: the functions of a class become one IRModule.
 *
 * Functions may call each other in any order: first every function gets its GlobalVar, then the
 * tensor programs are read, then the signatures of graph functions, then their bodies. */
#include "lang/dialect/dialect_impl.h"
#include "lang/dialect/graph_stmt.h"
#include "lang/dialect/tensor_names.h"

ModuleBuilder *module;
bool dialect_checks = true;

bool is_unchecked(void) { return !dialect_checks || (module && module->is_unchecked); }

ModuleBuilder *need_module(const char *what, Span span) {
  if (!module) raise_code(E0506, span, "I.%s stands only in the class body of a module", what);
  return module;
}

/* The nth virtual device of a kind; kind "vdevice" counts them all. */
Node *find_vdevice(const char *kind, int64_t nth) {
  Node *list = module ? dict_get(module->global_infos, "vdevice") : NULL;
  if (!list) return NULL;
  for each (Node *, d, &AS(Array, list)->items) {
    const char *target = AS(VDevice, *d)->target;
    size_t n = strlen(kind);
    bool same = str_same(kind, "vdevice") ||
                (strncmp(target, kind, n) == 0 && (!target[n] || target[n] == ' '));
    if (same && nth-- == 0) return *d;
  }
  return NULL;
}

typedef struct Member {
  AstDef *def;
  const TreeDecorator *decorator;
  CallArgs args;
  Node *global;
  Node *function; /* NULL: not read yet, or faulty */
  bool is_read;   /* or being read */
} Member;
typedef VEC(Member *) MemberVec;

/* The last decorator decides what the function is. */
static const TreeDecorator *member_decorator(Env *env, AstDef *def, CallArgs *args) {
  if (!def->decorators.len)
    raise_code(E0507, def->name_span, "function '%s' of a module needs @T.prim_func or @R.function",
               def->name);
  Ast *last = vec_last(&def->decorators), *callee = last;
  *args = (CallArgs){.span = last->span, .env = env};
  if (last->kind == AST_KIND_Call) {
    callee = AST_AS(Call, last)->func;
    eval_args(env, &AST_AS(Call, last)->args, args);
  }
  Value v = eval(env, callee);
  if (v.type == &type_tree_decorator &&
      (v.object == &decorate_prim_func || v.object == &decorate_jit ||
       v.object == &decorate_function || v.object == &decorate_pyfunc))
    return v.object;
  raise("TypeError", last->span, "function '%s' of a module needs @T.prim_func or @R.function",
        def->name);
}

/* A scalar parameter, with its name where a buffer's shape mentions it. */
static Node *scalar_param_info(const PrimFunc *f, Node *param) {
  if (dtype_is_handle(param->dtype)) return sinfo_object();
  bool is_dim = false;
  for each (Node *, b, &f->buffers)
    if (*b)
      for each (Node *, d, &AS(Buffer, *b)->shape) is_dim |= node_mentions(*d, param);
  return MAKE(PrimStructInfo, f->node.span, VOID_TYPE, .elem = param->dtype,
              .value = is_dim ? param : NULL);
}

/* Shapes of graphs are of int64. */
static NodeVec graph_dims(NodeVec shape) {
  NodeVec dims = {0};
  for each (Node *, d, &shape)
    vec_push(&dims, IS(IntImm, *d) ? expr_cast(INT64, *d, (*d)->span) : *d);
  return dims;
}

/* Struct info of a tensor program's parameters, so that calls of it can be checked. */
Node *prim_func_info(PrimFunc *f) {
  NodeVec params = {0};
  for (int i = 0; i < f->params.len; i++) {
    Buffer *b = f->buffers.at[i] ? AS(Buffer, f->buffers.at[i]) : NULL;
    vec_push(&params, b ? sinfo_tensor(graph_dims(b->shape), b->elem, f->node.span)
                        : scalar_param_info(f, f->params.at[i]));
  }
  Node *ret = dtype_is_void(f->ret_dtype)
                  ? sinfo_tuple((NodeVec){0}, f->node.span)
                  : MAKE(PrimStructInfo, f->node.span, VOID_TYPE, .elem = f->ret_dtype);
  return MAKE(FuncStructInfo, f->node.span, VOID_TYPE, .known = true, .params = params, .ret = ret,
              .is_pure = prim_func_is_pure(f));
}

/* ---- the class body, step by step; each step reports its own faults ---- */

typedef struct ModuleJob {
  Env *env; /* of the class body: sibling functions by their bare names */
  AstClass *class;
  MemberVec members;
  MemberVec untyped; /* graph functions without a return type */
  Map called;        /* GlobalVars that bodies of graph functions name */
  bool verifies;     /* the module, at its end: but for those of `sound` */
  Map sound;
  Ast *statement; /* of the step that runs */
  Member *member;
} ModuleJob;

static void run_class_statement(void *context) {
  ModuleJob *job = context;
  Ast *s = job->statement;
  if (s->kind == AST_KIND_ExprStmt) {
    eval(job->env, AST_AS(ExprStmt, s)->value);
    return;
  }
  if (s->kind != AST_KIND_Assign || AST_AS(Assign, s)->targets.at[0]->kind != AST_KIND_Name)
    raise("SyntaxError", s->span,
          "a module holds functions, I.module_attrs and names of external functions");
  const char *name = AST_AS(Name, AST_AS(Assign, s)->targets.at[0])->name;
  Value v = eval(job->env, AST_AS(Assign, s)->value);
  if (!value_is_node(v, NK_ExternFunc)) {
    env_set(job->env, name, v);
    return;
  }
  Node *global = MAKE(GlobalVar, s->span, VOID_TYPE, .sinfo = sinfo_of(v.node), .name = name);
  env_set(job->env, name, value_node(global));
  vec_push(&module->globals, global);
  vec_push(&module->functions, v.node);
}

static void declare_member(void *context) {
  ModuleJob *job = context;
  AstDef *def = AST_AS(Def, job->statement);
  CallArgs args;
  const TreeDecorator *decorator = member_decorator(job->env, def, &args);
  Value *old = names_get(&job->env->names, def->name);
  if (old && value_is_node(*old, NK_GlobalVar)) {
    Error *e = NEW(Error, .kind = "NameError", .span = def->name_span,
                   .text = str_format("the module has a function '%s' already", def->name));
    diag_note(error_report(e), old->node->span, "it is defined here");
    raise(ERROR_POISONED, def->name_span, "an earlier error");
  }
  Node *global =
      MAKE(GlobalVar, def->name_span, VOID_TYPE, .sinfo = sinfo_object(), .name = def->name);
  if (decorator == &decorate_prim_func && def->result) { /* calls of it need their dtype */
    DataType t = tensor_return_dtype(job->env, def);
    Node *ret = MAKE(PrimStructInfo, def->name_span, VOID_TYPE, .elem = t);
    if (!dtype_is_void(t))
      AS(GlobalVar, global)->sinfo = MAKE(FuncStructInfo, def->name_span, VOID_TYPE, .ret = ret);
  }
  Member *m = NEW(Member, .def = def, .decorator = decorator, .args = args, .global = global);
  env_set(job->env, def->name, value_node(global));
  vec_push(&job->members, m);
}

static void declare_graph_signature(void *context) {
  ModuleJob *job = context;
  AS(GlobalVar, job->member->global)->sinfo =
      graph_signature(job->env, job->member->def, &job->member->args);
}

static bool attempt(void (*step)(void *), ModuleJob *job) {
  Error *e = eval_protect(step, job);
  if (e) report_statement_error(e);
  return !e;
}

static WalkResult note_global(Walker *w, Node *n) {
  if (IS(GlobalVar, n)) map_set(w->context, n, n);
  return graph_holds_no_call(n) ? WALK_PRUNE : WALK_ON;
}

/* What can be found out of a function alone is so as soon as it is read: a large module has left
 * the caches when all of it is. */
static void note_called(Map *called, Node *body) {
  Walker w = {.enter = note_global, .context = called};
  walk(&w, body);
}

static void read_member(ModuleJob *job, Member *m) {
  Value v = m->decorator->decorate(job->env, &m->def->ast, &m->args);
  if (value_is_jit(v) && !jit_generic(v)) {
    const char *text = str_format("the signature of '%s' needs the values of its constants: a "
                                  "module may hold what its specialize() gives",
                                  m->def->name);
    error_report(NEW(Error, .kind = "TypeError", .span = m->def->name_span, .text = text));
    return;
  }
  if (jit_generic(v)) v = value_node(jit_generic(v));
  m->function = v.type == &type_node ? v.node : NULL;
  if (IS(PrimFunc, m->function))
    AS(GlobalVar, m->global)->sinfo = prim_func_info(AS(PrimFunc, m->function));
  if (IS(PrimFunc, m->function) && job->verifies && ir_verify_alone(m->function))
    map_set(&job->sound, m->function, m);
  if (IS(Function, m->function) || IS(ExternFunc, m->function))
    AS(GlobalVar, m->global)->sinfo = sinfo_of(m->function);
  if (IS(Function, m->function)) note_called(&job->called, AS(Function, m->function)->body);
}

static void note_names(void *names, Ast *node) {
  const char *name = node->kind == AST_KIND_Attribute ? AST_AS(Attribute, node)->name
                     : node->kind == AST_KIND_Name    ? AST_AS(Name, node)->name
                                                      : NULL;
  if (name) map_set(names, name, node);
  ast_each_child(node, note_names, names);
}

/* What a function without a return type gives is known when its body has been read: before that of
 * its callers. */
static void read_graph_member(ModuleJob *job, Member *m) {
  if (m->is_read) return;
  m->is_read = true;
  Map names = {0};
  if (job->untyped.len) note_names(&names, &m->def->ast);
  for each (Member *, other, &job->untyped)
    if (map_has(&names, (*other)->def->name)) read_graph_member(job, *other);
  read_member(job, m);
}

/* A module that derives from a class of the host may have methods of its own, which are no
 * functions of the IR. */
static bool is_host_method(const ModuleJob *job, Ast *def) {
  return job->class->bases.len && !AST_AS(Def, def)->decorators.len;
}

static void read_members(ModuleJob *job) {
  for each (Ast *, s, &job->class->body) {
    job->statement = *s;
    bool skip =
        (*s)->kind == AST_KIND_Pass || (*s)->kind == AST_KIND_Error ||
        ((*s)->kind == AST_KIND_ExprStmt && AST_AS(ExprStmt, *s)->value->kind == AST_KIND_Str);
    if (!skip && (*s)->kind != AST_KIND_Def) attempt(run_class_statement, job);
  }
  for each (Ast *, s, &job->class->body) {
    job->statement = *s;
    if ((*s)->kind == AST_KIND_Def && !is_host_method(job, *s)) attempt(declare_member, job);
  }
  for each (Member *, m, &job->members)
    if ((*m)->decorator != &decorate_function) read_member(job, *m);
  for each (Member *, m, &job->members) {
    job->member = *m;
    if ((*m)->decorator == &decorate_function) attempt(declare_graph_signature, job);
  }
  for each (Member *, m, &job->members)
    if ((*m)->decorator == &decorate_function && !(*m)->def->result) vec_push(&job->untyped, *m);
  for each (Member *, m, &job->members)
    if ((*m)->decorator == &decorate_function) read_graph_member(job, *m);
}

/* Has a graph function effects that its signature did not tell? */
static bool surprises(const Member *m) {
  return IS(Function, m->function) && !AS(Function, m->function)->is_pure &&
         keyword_flag(&m->args, "pure", true);
}

/* Callers may have been read before what they call was known to have effects. */
static void settle_purity(MemberVec members) {
  bool changed = false;
  for each (Member *, m, &members) changed |= surprises(*m);
  while (changed) {
    changed = false;
    for each (Member *, m, &members) {
      Node *f = (*m)->function;
      if (!IS(Function, f) || keyword_flag(&(*m)->args, "pure", false)) continue;
      if (!graph_settle_purity(AS(Function, f))) continue;
      AS(GlobalVar, (*m)->global)->sinfo = sinfo_of(f);
      changed = true;
    }
  }
}

/* What others call returns what is written, which their types follow from. */
static void refine_results(const ModuleJob *job) {
  for each (Member *, m, &job->members) {
    Node *f = (*m)->function;
    if (!IS(Function, f) || !(*m)->def->result || map_has(&job->called, (*m)->global)) continue;
    graph_refine_result(AS(Function, f));
    AS(GlobalVar, (*m)->global)->sinfo = sinfo_of(f);
  }
}

/* The class name, inside the functions: ClassName.f is the GlobalVar f. */
static Value class_attr(Value v, const char *name, Span span) {
  (void)span;
  Env *env = v.object;
  Value *x = names_get(&env->names, str_intern(name));
  return x ? *x : value_absent();
}
static void class_attr_names(Value v, StrVec *out) {
  Env *env = v.object;
  names_list(&env->names, out);
}
static const ValueType type_module_class = {
    .name = "module", .get_attr = class_attr, .attr_names = class_attr_names};

static Value decorate(Env *env, Ast *definition, CallArgs *args) {
  static const char *const keywords[] = {"check_well_formed", "s_tir"};
  check_decorator_args("I.ir_module", args, 2, keywords);
  if (definition->kind != AST_KIND_Class)
    raise_code(E0507, definition->span, "@I.ir_module decorates a class");
  AstClass *class = AST_AS(Class, definition);
  bool checked = dialect_checks && keyword_flag(args, "check_well_formed", true);
  ModuleBuilder *outer = module, builder = {.attrs = dict_new(),
                                            .global_infos = dict_new(),
                                            .is_unchecked = !checked};
  module = &builder;
  ModuleJob job = {.env = env_new(env), .class = class, .verifies = wants_well_formed(env, args)};
  /* Bare sibling names live in job.env; the class's own name in a scope around it. */
  Env *around = job.env->outer = env_new(env);
  env_set(around, class->name, value_of(&type_module_class, job.env));
  int before = diag_error_count();
  read_members(&job);
  settle_purity(job.members);
  refine_results(&job);
  module = outer;
  if (diag_error_count() > before) return value_of(&type_poison, NULL);
  for each (Member *, m, &job.members) {
    vec_push(&builder.globals, (*m)->global);
    vec_push(&builder.functions, (*m)->function);
  }
  Node *result = MAKE(IRModule, class->name_span, VOID_TYPE, .globals = builder.globals,
                      .functions = builder.functions, .attrs = builder.attrs,
                      .global_infos = builder.global_infos);
  register_pyfuncs(result);
  bool faulty = job.verifies && !ir_verify_module(result, &job.sound);
  return faulty ? value_of(&type_poison, NULL) : value_node(result);
}

static Node *need_member(Node *rewriter, const char *name, Span span) {
  Node *f = module_find(rewriter, name);
  if (!f) raise("KeyError", span, "a rewriter needs a graph function '%s'", name);
  if (IS(Function, f)) return f;
  raise("TypeError", f->span, "'%s' of a rewriter must be a graph function, found %s", name,
        node_kind_name(f->kind));
}

/* @R.rewriter: a module of two graph functions of one signature, `pattern` and what replaces it,
 * and private ones that the replacement calls. */
static Value decorate_rewriter_class(Env *env, Ast *definition, CallArgs *args) {
  Value v = decorate(env, definition, args);
  if (!value_is_node(v, NK_IRModule)) return v;
  Node *pattern = need_member(v.node, "pattern", definition->span),
       *replacement = need_member(v.node, "replacement", definition->span);
  const char *why = NULL;
  if (!node_equal(sinfo_of(pattern), sinfo_of(replacement), true, &why))
    raise("ValueError", replacement->span,
          "'pattern' and 'replacement' must have the same signature; they differ at %s", why);
  IRModule m = *AS(IRModule, v.node);
  for each (Node *, f, &m.functions)
    if (*f != pattern && *f != replacement && func_symbol(*f))
      raise("ValueError", (*f)->span,
            "'%s' is publicly exposed: helpers of a rewriter are private; write "
            "@R.function(private=True)",
            func_symbol(*f));
  m.attrs = dict_with(m.attrs, "relax.rewriter", int_imm(BOOL, 1, definition->span));
  return value_node(gc_copy(&m, sizeof m));
}

const TreeDecorator decorate_rewriter = {"R.rewriter", decorate_rewriter_class, NULL};
const TreeDecorator decorate_module = {"I.ir_module", decorate, NULL};
