/* tensor_scan.c -- what the text of a prim_func tells before it is read: which dialect it is
 * written in, and which names it assigns more than once. */
#include "lang/dialect/tensor_stmt.h"

typedef struct Scan {
  TensorBuilder *builder;
  Map assigned; /* names that the suite around assigns */
  bool today, classic, blocks;
} Scan;

/* Names under T. that only one of the dialects has. */
static const struct {
  const char *name;
  enum { TODAY, CLASSIC } of;
} marks[] = {
    {"device_entry", TODAY},
    {"cta_id", TODAY},
    {"cta_id_in_cluster", TODAY},
    {"cta_id_in_pair", TODAY},
    {"cluster_id", TODAY},
    {"warp_id", TODAY},
    {"warp_id_in_wg", TODAY},
    {"warpgroup_id", TODAY},
    {"lane_id", TODAY},
    {"thread_id", TODAY},
    {"thread_id_in_wg", TODAY},
    {"scope_id", TODAY},
    {"let", TODAY},
    {"bind", TODAY},
    {"Bind", TODAY},
    {"alloc_local", TODAY},
    {"alloc_shared", TODAY},
    {"smem", TODAY},
    {"tmem", TODAY},
    {"local_scalar", TODAY},
    {"shared_scalar", TODAY},
    {"alloc_scalar", TODAY},
    {"decl_scalar", TODAY},
    {"sblock", TODAY},
    {"sblock_attr", TODAY},
    {"sblock_alloc_buffer", TODAY},
    {"ptx", TODAY},
    {"cuda", TODAY},
    {"nki", TODAY},
    {"tile", TODAY},
    {"ptx_legacy", TODAY},
    {"nvshmem", TODAY},
    {"metal", TODAY},
    {"webgpu", TODAY},
    {"hint", TODAY},
    {"block", CLASSIC},
    {"block_attr", CLASSIC},
    {"allocate", CLASSIC},
    {"allocate_const", CLASSIC},
    {"LetStmt", CLASSIC},
    {"ret", CLASSIC},
    {"realize", CLASSIC},
};

/* Names of a text are interned: each is one look-up. The value is the dialect, from 1. */
static const Map *mark_map(void) {
  static Map map;
  if (!map.live)
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
      map_set(&map, str_intern(marks[i].name), (void *)(uintptr_t)(marks[i].of + 1));
  return &map;
}

static void note_name(Scan *scan, const char *name) {
  static const char *block, *sblock;
  if (!block) block = str_intern("block"), sblock = str_intern("sblock");
  uintptr_t of = (uintptr_t)map_get(mark_map(), name);
  if (of) *(of == TODAY + 1 ? &scan->today : &scan->classic) = true;
  scan->blocks |= name == block || name == sblock;
}

static void note_assigned(Scan *scan, Ast *target) {
  if (target->kind != AST_KIND_Name) return;
  const char *name = AST_AS(Name, target)->name;
  if (map_has(&scan->assigned, name)) map_set(&scan->builder->reassigned, name, scan);
  map_set(&scan->assigned, name, scan);
}

static void scan_node(void *context, Ast *n);

static void scan_suite(Scan *scan, const AstVec *statements) {
  Map outer = scan->assigned;
  scan->assigned = (Map){0};
  for each (Ast *, s, statements) scan_node(scan, *s);
  scan->assigned = outer;
}

static void scan_node(void *context, Ast *n) {
  Scan *scan = context;
  switch (n->kind) {
  case AST_KIND_Attribute: note_name(scan, AST_AS(Attribute, n)->name); break;
  case AST_KIND_Name: scan->today |= str_same(AST_AS(Name, n)->name, "Tx"); break;
  case AST_KIND_Assign: note_assigned(scan, AST_AS(Assign, n)->targets.at[0]); break;
  case AST_KIND_AnnAssign:
    note_assigned(scan, AST_AS(AnnAssign, n)->target);
    scan->today |= !AST_AS(AnnAssign, n)->value;
    break;
  case AST_KIND_AugAssign:
    if (AST_AS(AugAssign, n)->target->kind == AST_KIND_Name)
      map_set(&scan->builder->reassigned, AST_AS(Name, AST_AS(AugAssign, n)->target)->name, scan);
    break;
  case AST_KIND_For:
    scan_node(scan, AST_AS(For, n)->iter);
    return scan_suite(scan, &AST_AS(For, n)->body);
  case AST_KIND_While:
    scan_node(scan, AST_AS(While, n)->cond);
    return scan_suite(scan, &AST_AS(While, n)->body);
  case AST_KIND_If:
    scan_node(scan, AST_AS(If, n)->cond);
    scan_suite(scan, &AST_AS(If, n)->body);
    return scan_suite(scan, &AST_AS(If, n)->orelse);
  case AST_KIND_With:
    for each (Ast *, item, &AST_AS(With, n)->items) scan_node(scan, *item);
    return scan_suite(scan, &AST_AS(With, n)->body);
  case AST_KIND_Lambda: return;
  default: break;
  }
  ast_each_child(n, scan_node, scan);
}

void scan_function(TensorBuilder *t, AstDef *def, const CallArgs *decorator) {
  Scan scan = {.builder = t};
  bool told = t->is_jit; /* by the decorator */
  scan_suite(&scan, &def->body);
  for each (const char *, name, &decorator->names)
    told |= str_same(*name, "s_tir") || str_same(*name, "persistent");
  t->is_today = told || (scan.today && !scan.classic);
  t->allocates_here = t->is_today || !scan.blocks;
}
