/* library.c -- is a file a shared library that this machine can load?
 *
 * Asked before dlopen, which takes the file at its word: of one that was cut short it maps pages
 * that are not there. */
#include "target/runtime/runtime_impl.h"

#if defined(__ELF__)
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
  int machine;
  const char *name;
} machines[] = {{EM_X86_64, "x86_64"},   {EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv64"},
                {EM_PPC64, "powerpc64"}, {EM_386, "x86"},         {EM_ARM, "arm"}};

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define THIS_MACHINE EM_AARCH64
#elif defined(__riscv)
#define THIS_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define THIS_MACHINE EM_PPC64
#else
#define THIS_MACHINE EM_NONE /* not known: nothing is asked */
#endif

static const char *machine_name(int machine) {
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
    if (machines[i].machine == machine) return machines[i].name;
  return "another machine";
}

static int cut_short(const char *path, long long have, long long want) {
  return tvms_set_error("'%s' is cut short: it has %lld bytes of at least %lld", path, have, want);
}

/* How far the file must reach for what its header tells. */
static int check_extent(const char *path, int fd, const Elf64_Ehdr *h, long long size) {
  unsigned long long end = h->e_shoff + (unsigned long long)h->e_shnum * h->e_shentsize;
  if (end > (unsigned long long)size) return cut_short(path, size, (long long)end);
  for (int i = 0; i < h->e_phnum; i++) {
    Elf64_Phdr p;
    off_t at = (off_t)(h->e_phoff + (unsigned long long)i * h->e_phentsize);
    if (pread(fd, &p, sizeof p, at) != sizeof p)
      return cut_short(path, size, at + (long long)sizeof p);
    end = p.p_offset + p.p_filesz;
    if (p.p_type == PT_LOAD && end > (unsigned long long)size)
      return cut_short(path, size, (long long)end);
  }
  return 0;
}

static int check_open_file(const char *path, int fd) {
  Elf64_Ehdr h;
  struct stat s;
  if (fstat(fd, &s) || !S_ISREG(s.st_mode)) return 0; /* dlopen says what it is */
  ssize_t n = pread(fd, &h, sizeof h, 0);
  if (n < SELFMAG || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
    return tvms_set_error("can't load '%s': it is no shared library", path);
  if (n < (ssize_t)sizeof h) return cut_short(path, (long long)n, (long long)sizeof h);
  if (THIS_MACHINE != EM_NONE && h.e_machine != THIS_MACHINE)
    return tvms_set_error("can't load '%s': it is for %s, but this process runs on %s", path,
                          machine_name(h.e_machine), machine_name(THIS_MACHINE));
  if (h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_type != ET_DYN)
    return tvms_set_error("can't load '%s': it is no shared library for this machine (an object "
                          "file is linked into the program)",
                          path);
  return check_extent(path, fd, &h, s.st_size);
}

int tvms__library_check(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0; /* dlopen says why */
  int status = check_open_file(path, fd);
  close(fd);
  return status;
}

#else
int tvms__library_check(const char *path) {
  (void)path; /* another form, of which nothing is known here */
  return 0;
}
#endif
