/* debug.c -- where code came from: line tables, a function for each kernel, and variables, in
 * DWARF.
 *
 * Only with the option -debug-info, or in this process when a debugger or profiler is to be told of
 * the code (jit.c). A place of another file than the function's (an operator of the standard
 * library) gets a scope of its own in that file. What has no place has line 0. */
#include "target/llvm/codegen.h"
#include <llvm-c/DebugInfo.h>
#include <unistd.h>

struct Debug {
  LLVMDIBuilderRef builder;
  LLVMMetadataRef unit, no_file, type;
  Map files; /* Source to LLVMMetadataRef */
  Map types; /* name of a dtype to LLVMMetadataRef */
};

static LLVMMetadataRef file_new(Debug *d, const char *name) {
  char folder[4096];
  if (!getcwd(folder, sizeof folder)) folder[0] = '\0';
  return LLVMDIBuilderCreateFile(d->builder, name, strlen(name), folder, strlen(folder));
}

static LLVMMetadataRef file_of(Debug *d, Location at) {
  if (!at.source) return d->no_file;
  LLVMMetadataRef known = map_get(&d->files, at.source);
  if (known) return known;
  LLVMMetadataRef made = file_new(d, at.source->name);
  map_set(&d->files, at.source, made);
  return made;
}

static Location location_of(Span span) { return span.hi ? source_locate(span.lo) : (Location){0}; }

static void add_flag(Gen *g, const char *name, int64_t value) {
  LLVMAddModuleFlag(g->out, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                    LLVMValueAsMetadata(const_i32(g, value)));
}

/* The unit is named after the first function that has a place. */
static Location first_location(Node *module) {
  for each (Node *, f, &AS(IRModule, module)->functions) {
    Location at = location_of((*f)->span);
    if (at.source) return at;
  }
  return (Location){0};
}

void debug_begin(Gen *g) {
  Debug *d = g->debug = NEW(Debug, .builder = LLVMCreateDIBuilder(g->out));
  add_flag(g, "Debug Info Version", LLVMDebugMetadataVersion());
  add_flag(g, "Dwarf Version", 4);
  LLVMSetIsNewDbgInfoFormat(g->out, true);
  d->no_file = file_new(d, "<unknown>");
  LLVMMetadataRef file = file_of(d, first_location(g->module));
  bool optimized = target_option_int(g->target, "opt-level") > 0;
  d->unit = LLVMDIBuilderCreateCompileUnit(d->builder, LLVMDWARFSourceLanguageC11, file, "tvms", 4,
                                           optimized, "", 0, 0, "", 0, LLVMDWARFEmissionFull, 0,
                                           true, false, "", 0, "", 0);
  d->type = LLVMDIBuilderCreateSubroutineType(d->builder, file, NULL, 0, LLVMDIFlagZero);
}

void debug_end(Gen *g) {
  if (g->debug) LLVMDIBuilderFinalize(g->debug->builder);
}

void debug_dispose(Gen *g) {
  if (g->debug) LLVMDisposeDIBuilder(g->debug->builder);
}

void debug_function(Gen *g, const char *name, Span span) {
  Debug *d = g->debug;
  if (!d) return;
  Location at = location_of(span);
  size_t length;
  const char *symbol = LLVMGetValueName2(g->f->llvm, &length);
  bool is_local = LLVMGetLinkage(g->f->llvm) == LLVMInternalLinkage;
  g->f->scope = LLVMDIBuilderCreateFunction(
      d->builder, file_of(d, at), name, strlen(name), symbol, length, file_of(d, at),
      (unsigned)at.line, d->type, is_local, true, (unsigned)at.line, LLVMDIFlagZero, true);
  g->f->file = at.source;
  LLVMSetSubprogram(g->f->llvm, g->f->scope);
  debug_place(g, span);
}

void debug_place(Gen *g, Span span) {
  if (!g->debug || !g->f->scope) return;
  Location at = location_of(span);
  LLVMMetadataRef scope = g->f->scope;
  if (at.source && at.source != g->f->file) {
    LLVMMetadataRef *known = map_get(&g->f->scopes, at.source);
    if (!known) {
      known = NEW(LLVMMetadataRef, LLVMDIBuilderCreateLexicalBlockFile(g->debug->builder, scope,
                                                                       file_of(g->debug, at), 0));
      map_set(&g->f->scopes, at.source, known);
    }
    scope = *known;
  }
  LLVMMetadataRef place = LLVMDIBuilderCreateDebugLocation(g->context, (unsigned)at.line,
                                                           (unsigned)at.column, scope, NULL);
  LLVMSetCurrentDebugLocation2(g->b, place);
}

void debug_no_place(Gen *g) {
  if (g->debug) LLVMSetCurrentDebugLocation2(g->b, NULL);
}

/* ---- variables ---- */

static unsigned encoding_of(DataType t) {
  enum { BOOLEAN = 2, FLOAT = 4, SIGNED = 5, UNSIGNED = 7 }; /* DW_ATE_ */
  if (dtype_is_bool(t)) return BOOLEAN;
  if (t.code == DTYPE_INT) return SIGNED;
  return dtype_is_float(t) && !lowered_is_small_float(t) ? FLOAT : UNSIGNED; /* bits */
}

static LLVMMetadataRef scalar_type(Debug *d, DataType t) {
  const char *name = str_intern(dtype_text(t));
  LLVMMetadataRef known = map_get(&d->types, name);
  if (known) return known;
  LLVMMetadataRef made = LLVMDIBuilderCreateBasicType(d->builder, name, strlen(name),
                                                      8ul * (unsigned)lowered_nbytes(t),
                                                      encoding_of(t), LLVMDIFlagZero);
  map_set(&d->types, name, made);
  return made;
}

/* NULL for what debuggers are not told of: vectors. */
static LLVMMetadataRef variable_type(Gen *g, Var *var) {
  DataType t = var->node.dtype;
  if (t.lanes != 1) return NULL;
  if (!dtype_is_handle(t)) return scalar_type(g->debug, t);
  bool is_known = !dtype_is_void(var->elem) && !dtype_is_handle(var->elem);
  LLVMMetadataRef to = scalar_type(g->debug, is_known ? dtype_element(var->elem) : UINT8);
  return LLVMDIBuilderCreatePointerType(
      g->debug->builder, to, LLVMPointerSize(LLVMGetModuleDataLayout(g->out)) * 8, 0, 0, "", 0);
}

/* From 1 on. */
static unsigned param_number(Gen *g, LLVMValueRef value) {
  unsigned i = 0;
  while (LLVMGetParam(g->f->llvm, i) != value) i++;
  return i + 1;
}

void debug_variable(Gen *g, Node *node, LLVMValueRef value) {
  LLVMMetadataRef place = g->debug && g->f->scope ? LLVMGetCurrentDebugLocation2(g->b) : NULL;
  Var *var = AS(Var, node);
  LLVMMetadataRef type = place ? variable_type(g, var) : NULL;
  if (!type) return;
  LLVMDIBuilderRef b = g->debug->builder;
  LLVMMetadataRef scope = LLVMDILocationGetScope(place),
                  file = file_of(g->debug, location_of(node->span));
  unsigned line = LLVMDILocationGetLine(place),
           number = LLVMIsAArgument(value) ? param_number(g, value) : 0;
  size_t length = strlen(var->name);
  LLVMMetadataRef about =
      number ? LLVMDIBuilderCreateParameterVariable(b, g->f->scope, var->name, length, number, file,
                                                    line, type, true, LLVMDIFlagZero)
             : LLVMDIBuilderCreateAutoVariable(b, scope, var->name, length, file, line, type, true,
                                               LLVMDIFlagZero, 0);
  LLVMDIBuilderInsertDbgValueRecordAtEnd(b, value, about, LLVMDIBuilderCreateExpression(b, NULL, 0),
                                         place, LLVMGetInsertBlock(g->b));
}
