/* scope.c -- statements that scope over the rest of their suite: lets, allocations, attributes. */
#include "ir/ir.h"

Node **stmt_rest(Node *n) {
  switch (n->kind) {
  case NK_LetStmt: return &AS(LetStmt, n)->body;
  case NK_AttrStmt: return &AS(AttrStmt, n)->body;
  case NK_AssertStmt: return &AS(AssertStmt, n)->body;
  case NK_Allocate: return &AS(Allocate, n)->body;
  case NK_AllocateConst: return &AS(AllocateConst, n)->body;
  case NK_DeclBuffer: return &AS(DeclBuffer, n)->body;
  case NK_ScopeIdDef: return &AS(ScopeIdDef, n)->body;
  case NK_BufferRealize: return &AS(BufferRealize, n)->body;
  default: return NULL;
  }
}
