/* llvm_emit.c -- files that the llvm back end writes, and the targets that it knows. */
#include "tests/unit/llvm_test.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static Case add_one(void) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", FLOAT32), *i = var_new("i", INT64, NOWHERE);
  Node *tanh = call("tanh", FLOAT32, NODES(load_at(A, i)));
  Node *sum = raw_binary(NK_Add, tanh, float_imm(FLOAT32, 1, NOWHERE));
  c.body = loop(LOOP_PARALLEL, i, c.n, store_at(A, i, sum));
  return c;
}

typedef struct Emit {
  const char *target;
  EmitKind kind;
  const char *path;
} Emit;

static void do_emit(void *context) {
  Emit *e = context;
  Case c = add_one();
  backend_llvm.emit(case_module(&c), target_parse(e->target, NOWHERE), e->kind, e->path);
}

static const char *new_folder(void) {
  char name[] = "/tmp/tvms_unit_XXXXXX";
  return str_copy_n(mkdtemp(name) ? name : "", strlen(name));
}

static int count_files(const char *folder) {
  DIR *d = opendir(folder);
  int n = 0;
  while (d && readdir(d)) n++;
  if (d) closedir(d);
  return n - 2;
}

static const char *read_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return "";
  char *text = NEW_BYTES(1 << 20);
  size_t n = fread(text, 1, (1 << 20) - 1, f);
  fclose(f);
  text[n] = '\0';
  return text;
}

/* Writes a file, reads it, removes it. */
static const char *emitted(const char *target, EmitKind kind) {
  const char *folder = new_folder(), *path = str_format("%s/out", folder);
  Error *e = protect(do_emit, &(Emit){target, kind, path});
  if (e) printf("%s: %s\n", e->kind, e->text);
  CHECK(!e && count_files(folder) == 1);
  const char *text = read_file(path);
  unlink(path);
  rmdir(folder);
  return text;
}

TEST(llvm_emits_text_assembly_and_objects) {
  const char *text = emitted("llvm", EMIT_LLVM);
  CHECK(strstr(text, "define i32 @__tvms_run(") && strstr(text, "@tvms_module_info"));
  CHECK(strstr(emitted("llvm -mcpu=x86-64 -mtriple=x86_64-linux-gnu", EMIT_ASM), "__tvms_run:"));
  CHECK(strncmp(emitted("llvm", EMIT_OBJECT), "\177ELF", 4) == 0);
}

TEST(llvm_emits_code_of_other_machines) {
  CHECK(strstr(emitted("llvm -mtriple=aarch64-linux-gnu", EMIT_ASM), "fadd"));
  CHECK(strstr(emitted("llvm -mtriple=riscv64-linux-gnu", EMIT_ASM), "fadd.s"));
}

static void emit_pointers(void *path) {
  Case c = case_new();
  Node *A = case_buffer(&c, "a", HANDLE);
  c.body = store_at(A, i64(0), load_at(A, i64(1)));
  backend_llvm.emit(case_module(&c), target_parse("llvm -mtriple=wasm32-wasi", NOWHERE),
                    EMIT_OBJECT, path);
}

TEST(llvm_refuses_what_wasm32_has_not) {
  const char *folder = new_folder(), *path = str_format("%s/out", folder);
  Error *e = protect(emit_pointers, (void *)(uintptr_t)path);
  CHECK(e && strstr(e->text, "a buffer of pointers needs a machine of 64 bits"));
  CHECK(strncmp(emitted("llvm -mtriple=wasm32-wasi", EMIT_OBJECT), "\0asm", 4) == 0);
  e = protect(do_emit, &(Emit){"llvm -mtriple=wasm32-wasi", EMIT_SHARED, path});
  CHECK(e && strstr(e->text, "wasm32 has no shared libraries: write a module for browsers"));
  CHECK(count_files(folder) == 0);
  rmdir(folder);
}

TEST(llvm_output_is_the_same_each_time) {
  CHECK(str_same(emitted("llvm", EMIT_LLVM), emitted("llvm", EMIT_LLVM)));
}

TEST(llvm_shared_library_runs) {
  const char *folder = new_folder(), *path = str_format("%s/lib.so", folder);
  Error *e = protect(do_emit, &(Emit){"llvm", EMIT_SHARED, path});
  CHECK(!e && count_files(folder) == 1);
  TvmsModule *m = NULL;
  CHECK(tvms_module_load(&m, path) == 0);
  if (!m) return (void)printf("%s\n", e ? e->text : tvms_last_error());
  CHECK(tvms_module_function_count(m) == 1);
  CHECK(str_same(tvms_module_function_name(m, 0), "run"));
  Case c = add_one();
  float a[5] = {0, 100, -100, 0, 0};
  CHECK(run_case(m, &c, 5, (void *[]){a}) == 0);
  CHECK(a[0] == 1 && a[1] == 2 && a[2] == 0);
  tvms_release(m);
  unlink(path);
  rmdir(folder);
}

static bool emit_raises(const char *target, const char *path, const char *kind, const char *text) {
  Error *e = protect(do_emit, &(Emit){target, EMIT_SHARED, path});
  bool same = e && str_same(e->kind, kind) && strstr(e->text, text);
  if (!same) printf("raised %s: %s\n", e ? e->kind : "nothing", e ? e->text : "");
  return same;
}

TEST(llvm_emit_leaves_nothing_behind_on_failure) {
  const char *folder = new_folder(), *target = str_format("%s/target", folder);
  CHECK(emit_raises("llvm", "/nonexistent/lib.so", "CompileError", "/nonexistent/lib.so"));
  CHECK(mkdir(target, 0777) == 0);
  CHECK(emit_raises("llvm", target, "CompileError", "can't write"));
  CHECK(count_files(folder) == 1);
  rmdir(target);
  rmdir(folder);
}

TEST(llvm_target_options_are_checked) {
  const char *path = "/nonexistent/x";
  CHECK(
      emit_raises("llvm -mcpu=nonsense", path, "TargetError", "no processor 'nonsense' of x86_64"));
  CHECK(emit_raises("llvm -mattr=+nonsense", path, "TargetError",
                    "no feature '+nonsense' of x86_64"));
  CHECK(emit_raises("llvm -mtriple=nonsense", path, "TargetError", "not for 'nonsense'"));
  CHECK(emit_raises("llvm -mtriple=i386-linux-gnu", path, "TargetError", "not for 'i386'"));
  CHECK(emit_raises("llvm -mtriple=x86_64-linux-gnu -mcpu=pentium3", path, "TargetError",
                    "can't make code for processor 'pentium3' of x86_64: 64-bit code"));
  CHECK(
      emit_raises("llvm -opt-level=9", path, "TargetError", "option -opt-level is 0 to 3, not 9"));
}

/* ---- target text (ir/target.c) ---- */

static void parse(void *text) { target_parse(text, NOWHERE); }

static bool parse_raises(const char *text, const char *want) {
  Error *e = protect(parse, (void *)(uintptr_t)text);
  bool same = e && str_same(e->kind, "TargetError") && strstr(e->text, want);
  if (!same) printf("raised: %s\n", e ? e->text : "nothing");
  return same;
}

TEST(target_text_and_back) {
  const Target *t = target_parse("llvm -mcpu=znver3 --num-cores=2 -fast-math", NOWHERE);
  CHECK(str_same(target_option(t, "mcpu"), "znver3") && target_option_int(t, "num-cores") == 2);
  CHECK(target_option_int(t, "fast-math") == 1 && target_option_int(t, "opt-level") == 3);
  CHECK(str_same(target_text(t), "llvm -mcpu=znver3 -num-cores=2 -fast-math=1"));
  CHECK(str_same(target_text(target_parse("  llvm -opt-level=3 ", NOWHERE)), "llvm"));
  CHECK(str_same(target_parse("interp", NOWHERE)->device, "cpu"));
}

TEST(target_errors_list_what_there_is) {
  CHECK(parse_raises("", "the target is empty"));
  CHECK(parse_raises("llvn", "unknown target kind 'llvn'; there are llvm, c, "));
  CHECK(parse_raises("llvn", "did you mean 'llvm'?"));
  CHECK(parse_raises("llvm -mcp=x", "target 'llvm' has no option 'mcp'; there are mcpu, "));
  CHECK(parse_raises("llvm -mcp=x", "did you mean 'mcpu'?"));
  CHECK(parse_raises("llvm -mcpu znver3", "option -mcpu has no value: write -mcpu=..."));
  CHECK(parse_raises("llvm znver3",
                     "expected an option such as -num-cores=4 in the target, found 'znver3'"));
  CHECK(parse_raises("llvm -num-cores=two", "option -num-cores is a number from 0 on, not 'two'"));
  CHECK(parse_raises("llvm -fast-math=2", "option -fast-math is 0 or 1, not '2'"));
  CHECK(parse_raises("llvm -mcpu=a -mcpu=b", "option -mcpu is given twice"));
  CHECK(parse_raises("interp -x=1", "target 'interp' has no option 'x'; there are none"));
}
