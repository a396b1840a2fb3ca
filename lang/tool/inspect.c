/* inspect.c -- `tvms inspect`: what a compiled file tells of itself, for whatever machine it is; an
 * ONNX model is looked into by onnx.c. */
#include "lang/tool/tool.h"
#include "target/describe.h"
#include "target/speed/registers.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The text of the description, or NULL. */
static const char *find_description(const char *file, size_t n) {
  size_t mark = strlen(DESCRIPTION_MARK);
  const char *at = n ? memmem(file, n, DESCRIPTION_MARK, mark) : NULL;
  if (!at) return NULL;
  at += mark;
  const char *end = memchr(at, '\0', n - (size_t)(at - file));
  return end ? str_copy_n(at, (size_t)(end - at)) : NULL;
}

static int failed(const char *path, const char *why) {
  fprintf(stderr, "tvms: error: inspect: '%s': %s\n", path, why);
  return STATUS_ERROR;
}

/* Of a text of PTX: its kernels, and the registers that a thread of each takes. */
static int inspect_ptx(const char *path, const char *file, size_t n) {
  PtxKernelVec kernels = ptx_kernels(str_copy_n(file, n));
  if (!kernels.len) return failed(path, "it has no kernel");
  printf("%s\n", path);
  for each (const PtxKernel, k, &kernels)
    printf("kernel    %s: about %d registers, %lld bytes of shared memory, %d instructions\n",
           k->name, k->registers, (long long)k->shared, k->instructions);
  return STATUS_OK;
}

static int inspect(char *path, const ModelOptions *model) {
  if (is_onnx(path)) return onnx_inspect(path, model);
  struct stat s;
  int fd = open(path, O_RDONLY);
  if (fd < 0 || fstat(fd, &s)) return failed(path, strerror(errno));
  size_t n = S_ISREG(s.st_mode) ? (size_t)s.st_size : 0;
  void *file = n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (file == MAP_FAILED) return failed(path, "it is empty, or no regular file");
  if (str_ends(path, ".ptx")) return inspect_ptx(path, file, n);
  const char *text = find_description(file, n);
  munmap(file, n);
  if (!text)
    return failed(path, "it holds no description of a module: tvms build did not make it, or it "
                        "was cut short");
  printf("%s\n%s", path, text);
  return STATUS_OK;
}

int tool_inspect(int argc, char **argv) {
  ModelOptions model = {0};
  const Option options[] = {MODEL_OPTIONS(model)};
  int status, worst = STATUS_OK;
  if (!options_parse(options, sizeof options / sizeof *options, &argc, argv, &status))
    return status;
  if (argc < 2) return usage_error("inspect", "which file?");
  for (int i = 1; i < argc; i++)
    if (inspect(argv[i], &model) != STATUS_OK) worst = STATUS_ERROR;
  return worst;
}
