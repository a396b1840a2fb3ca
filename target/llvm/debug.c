/* debug.c -- where code came from: line tables and a function for each kernel, in DWARF.
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
