/* weights.c -- large constants in an object file of their own: LLVM would copy them several times,
 * and hold them in memory while it works. The file is ELF of 64 bits, little-endian, as the System
 * V ABI describes it: one section, and a hidden symbol for each constant. */
#include "target/llvm/codegen.h"
#include <elf.h>
#include <errno.h>
#include <stdio.h>

/* Smaller constants are left to LLVM, which may compute with what is in them. */
enum { LEAST_BYTES = 1 << 16 };

enum { RODATA = 1, STACK_NOTE, SYMBOLS, SYMBOL_NAMES, SECTION_NAMES, SECTIONS };

static const char section_names[] = "\0.rodata\0.note.GNU-stack\0.symtab\0.strtab\0.shstrtab";

static bool has_such_files(const Gen *g) {
  return strstr(LLVMGetTarget(g->out), "-linux") &&
         LLVMPointerSize(LLVMGetModuleDataLayout(g->out)) == 8;
}

LLVMValueRef weights_add(Gen *g, const ConstData *data) {
  if (!g->weights || data->nbytes < LEAST_BYTES || !has_such_files(g)) return NULL;
  const char *symbol = str_format("tvms_weight_%d", g->weights->len);
  LLVMTypeRef type = LLVMArrayType2(type_int(g, 8), data->nbytes);
  LLVMValueRef global = LLVMAddGlobal(g->out, type, symbol);
  LLVMSetVisibility(global, LLVMHiddenVisibility);
  vec_push(g->weights, ((Weight){symbol, data}));
  return global;
}

/* ---- the file ---- */

typedef struct Writer {
  FILE *file;
  uint64_t at;
  bool failed;
} Writer;

static void put(Writer *w, const void *bytes, size_t n) {
  w->failed |= fwrite(bytes, 1, n, w->file) != n;
  w->at += n;
}

static void align(Writer *w, size_t n) {
  static const char zeros[STACK_ALIGN];
  put(w, zeros, (size_t)(-w->at % n));
}

static Elf64_Shdr section(const char *name, uint32_t type, uint64_t begin, uint64_t end,
                          uint64_t alignment) {
  const char *at = section_names + 1;
  while (!str_same(at, name)) at += strlen(at) + 1;
  return (Elf64_Shdr){.sh_name = (uint32_t)(at - section_names),
                      .sh_type = type,
                      .sh_offset = begin,
                      .sh_size = end - begin,
                      .sh_addralign = alignment};
}

static void put_data(Writer *w, const Weights *weights, Elf64_Sym *symbols, Str *names) {
  uint64_t begin = w->at;
  for (int i = 0; i < weights->len; i++) {
    const Weight *one = &weights->at[i];
    align(w, STACK_ALIGN);
    symbols[i + 1] = (Elf64_Sym){.st_name = (uint32_t)names->len,
                                 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                 .st_other = STV_HIDDEN,
                                 .st_shndx = RODATA,
                                 .st_value = w->at - begin,
                                 .st_size = one->data->nbytes};
    str_add_n(names, one->symbol, strlen(one->symbol) + 1);
    put(w, one->data->bytes, one->data->nbytes);
  }
}

static void put_object(Writer *w, const Weights *weights, Elf64_Ehdr *header) {
  Elf64_Sym *symbols = NEW_ARRAY(Elf64_Sym, weights->len + 1);
  Elf64_Shdr all[SECTIONS] = {0};
  Str names = {0};
  str_add_n(&names, "", 1);
  put(w, header, sizeof *header); /* again when it is known where the sections are told */
  align(w, STACK_ALIGN);
  uint64_t data = w->at;
  put_data(w, weights, symbols, &names);
  all[RODATA] = section(".rodata", SHT_PROGBITS, data, w->at, STACK_ALIGN);
  all[RODATA].sh_flags = SHF_ALLOC;
  all[STACK_NOTE] = section(".note.GNU-stack", SHT_PROGBITS, w->at, w->at, 1);
  align(w, 8);
  uint64_t begin = w->at;
  put(w, symbols, (size_t)(weights->len + 1) * sizeof *symbols);
  all[SYMBOLS] = section(".symtab", SHT_SYMTAB, begin, w->at, 8);
  all[SYMBOLS].sh_link = SYMBOL_NAMES;
  all[SYMBOLS].sh_info = 1; /* the first that is not local */
  all[SYMBOLS].sh_entsize = sizeof *symbols;
  begin = w->at;
  put(w, str_text(&names), names.len);
  all[SYMBOL_NAMES] = section(".strtab", SHT_STRTAB, begin, w->at, 1);
  begin = w->at;
  put(w, section_names, sizeof section_names);
  all[SECTION_NAMES] = section(".shstrtab", SHT_STRTAB, begin, w->at, 1);
  align(w, 8);
  header->e_shoff = w->at;
  put(w, all, sizeof all);
  w->failed |= fseek(w->file, 0, SEEK_SET) != 0;
  put(w, header, sizeof *header);
}

/* The machine and its conventions are those of another object. */
static bool read_header(const char *path, Elf64_Ehdr *header) {
  FILE *f = fopen(path, "r");
  bool whole = f && fread(header, sizeof *header, 1, f) == 1;
  if (f) fclose(f);
  bool is_object = whole && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                   header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_type == ET_REL;
  header->e_shoff = 0;
  header->e_shentsize = sizeof(Elf64_Shdr);
  header->e_shnum = SECTIONS;
  header->e_shstrndx = SECTION_NAMES;
  return is_object;
}

void weights_write(const Weights *weights, const char *path, const char *beside) {
  Elf64_Ehdr header;
  if (!read_header(beside, &header)) BUG("'%s' is no object file of ELF", beside);
  Writer w = {.file = fopen(path, "w")};
  if (w.file) put_object(&w, weights, &header);
  int failed = errno;
  if (!w.file || (fclose(w.file) != 0) | w.failed)
    error_raisef("CompileError", (Span){0}, "can't write '%s': %s", path, strerror(failed));
}
