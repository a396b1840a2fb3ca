/* safetensors.c -- parameters of a module that lie in a .safetensors file beside it: mapped, not
 * read, and checked against what the module was compiled with.
 *
 * The file: 8 bytes with the length of a header, the header in JSON (for each tensor "dtype",
 * "shape" and "data_offsets"), the data. The mapping is shared by all loads of one library. */
#include "target/runtime/runtime_impl.h"

#if defined(__ELF__)
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct Mapping {
  struct Mapping *next;
  const TvmsModuleParams *params;
  void *at;
  size_t size;
  int count;
} Mapping;

static struct {
  pthread_mutex_t lock;
  Mapping *first;
} mappings = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the header: just as much JSON as it has ---- */

typedef struct Json {
  const char *at, *end;
} Json;

static void skip_blanks(Json *j) {
  while (j->at < j->end && strchr(" \t\r\n", *j->at)) j->at++;
}

static bool take(Json *j, char c) {
  skip_blanks(j);
  if (j->at == j->end || *j->at != c) return false;
  j->at++;
  return true;
}

/* A string without its quotes, escapes as they stand. */
static bool take_string(Json *j, const char **text, size_t *n) {
  if (!take(j, '"')) return false;
  *text = j->at;
  while (j->at < j->end && *j->at != '"') j->at += *j->at == '\\' ? 2 : 1;
  if (j->at >= j->end) return false;
  *n = (size_t)(j->at++ - *text);
  return true;
}

static bool take_number(Json *j, uint64_t *out) {
  skip_blanks(j);
  const char *start = j->at;
  for (*out = 0; j->at < j->end && *j->at >= '0' && *j->at <= '9'; j->at++)
    if (__builtin_mul_overflow(*out, 10, out) ||
        __builtin_add_overflow(*out, (uint64_t)(*j->at - '0'), out))
      return false;
  return j->at > start;
}

/* Passes over a value of any form. */
static bool skip_value(Json *j) {
  const char *text;
  size_t n;
  int depth = 0;
  do {
    skip_blanks(j);
    if (j->at >= j->end) return false;
    if (*j->at == '"') {
      if (!take_string(j, &text, &n)) return false;
      continue;
    }
    depth += (*j->at == '{' || *j->at == '[') - (*j->at == '}' || *j->at == ']');
    j->at++;
    while (!depth && j->at < j->end && !strchr(",}] \t\r\n", *j->at)) j->at++;
  } while (depth > 0);
  return depth == 0;
}

typedef struct Entry {
  uint64_t begin, end;
  const char *dtype;
  size_t dtype_len;
} Entry;

static bool read_entry(Json *j, Entry *e) {
  const char *key;
  size_t n;
  *e = (Entry){0};
  if (!take(j, '{')) return false;
  do {
    if (!take_string(j, &key, &n) || !take(j, ':')) return false;
    bool fine;
    if (n == 5 && memcmp(key, "dtype", n) == 0) fine = take_string(j, &e->dtype, &e->dtype_len);
    else if (n == 12 && memcmp(key, "data_offsets", n) == 0)
      fine = take(j, '[') && take_number(j, &e->begin) && take(j, ',') && take_number(j, &e->end) &&
             take(j, ']');
    else fine = skip_value(j);
    if (!fine) return false;
  } while (take(j, ','));
  return take(j, '}');
}

/* 1: found, 0: there is no such tensor, -1: the header can't be read. */
static int find_entry(Json j, const char *name, Entry *e) {
  const char *key;
  size_t n;
  if (!take(&j, '{')) return -1;
  if (take(&j, '}')) return 0;
  do {
    if (!take_string(&j, &key, &n) || !take(&j, ':')) return -1;
    bool wanted = n == strlen(name) && memcmp(key, name, n) == 0;
    if (wanted ? !read_entry(&j, e) : !skip_value(&j)) return -1;
    if (wanted) return 1;
  } while (take(&j, ','));
  return take(&j, '}') ? 0 : -1;
}

/* ---- a file ---- */

static int fill(const char *path, const TvmsModuleParams *p, const char *file, size_t size) {
  uint64_t header = 0;
  if (size >= 8) memcpy(&header, file, 8);
  if (size < 8 || header > size - 8)
    return tvms_set_error("'%s' is cut short, or no .safetensors file", path);
  Json json = {file + 8, file + 8 + header};
  const char *data = file + 8 + header;
  size_t room = size - 8 - header;
  for (int i = 0; i < p->count; i++) {
    Entry e;
    const TvmsParam *want = &p->params[i];
    int found = find_entry(json, want->name, &e);
    if (found < 0) return tvms_set_error("the header of '%s' can't be read", path);
    if (!found) return tvms_set_error("'%s' has no tensor '%s'", path, want->name);
    if (e.end > room || e.begin > e.end)
      return tvms_set_error("'%s' is cut short: '%s' reaches over its end", path, want->name);
    bool same = e.end - e.begin == (uint64_t)want->nbytes && e.dtype_len == strlen(want->dtype) &&
                memcmp(e.dtype, want->dtype, e.dtype_len) == 0;
    if (!same)
      return tvms_set_error("'%s' of '%s' has %llu bytes of %.*s, but the module was built with "
                            "%lld of %s",
                            want->name, path, (unsigned long long)(e.end - e.begin),
                            (int)e.dtype_len, e.dtype, (long long)want->nbytes, want->dtype);
    if ((uintptr_t)(data + e.begin) % (uintptr_t)want->align)
      return tvms_set_error("'%s' of '%s' does not begin at a multiple of %d bytes", want->name,
                            path, want->align);
    *want->slot = data + e.begin;
  }
  return 0;
}

static int map_file(const char *path, const TvmsModuleParams *p, Mapping *m) {
  struct stat s;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 || fstat(fd, &s) || !S_ISREG(s.st_mode)) {
    int why = errno;
    if (fd >= 0) close(fd);
    return tvms_set_error("the module needs its parameters '%s': %s", path,
                          fd < 0 ? strerror(why) : "it is no regular file");
  }
  m->size = (size_t)s.st_size;
  m->at = m->size ? mmap(NULL, m->size, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
  close(fd);
  if (m->at == MAP_FAILED) return m->at = NULL, tvms_set_error("'%s' can't be mapped", path);
  return fill(path, p, m->at, m->size);
}

static int new_mapping(const char *path, const TvmsModuleParams *p) {
  Mapping *m = calloc(1, sizeof *m);
  if (!m) return tvms__error_no_memory(sizeof *m);
  m->params = p;
  m->count = 1;
  if (map_file(path, p, m)) {
    if (m->at) munmap(m->at, m->size);
    for (int i = 0; i < p->count; i++) *p->params[i].slot = NULL;
    free(m);
    return -1;
  }
  m->next = mappings.first;
  mappings.first = m;
  return 0;
}

/* "net.so" and "w.safetensors" to the file in the same folder; for free(). */
static char *beside(const char *library, const char *name) {
  const char *slash = strrchr(library, '/');
  int folder = slash ? (int)(slash - library) + 1 : 0;
  size_t n = (size_t)folder + strlen(name) + 1;
  char *path = malloc(n);
  if (!path) return tvms__error_no_memory(n), NULL;
  snprintf(path, n, "%.*s%s", folder, library, name);
  return path;
}

int tvms__params_load(const TvmsModuleParams *p, const char *library) {
  char *path = beside(library, p->file);
  if (!path) return -1;
  pthread_mutex_lock(&mappings.lock);
  Mapping *m = mappings.first;
  while (m && m->params != p) m = m->next;
  int status = 0;
  if (m) m->count++;
  else status = new_mapping(path, p);
  pthread_mutex_unlock(&mappings.lock);
  free(path);
  return status;
}

void tvms__params_release(const TvmsModuleParams *p) {
  pthread_mutex_lock(&mappings.lock);
  Mapping **at = &mappings.first;
  while (*at && (*at)->params != p) at = &(*at)->next;
  Mapping *m = *at;
  if (m && --m->count == 0) {
    *at = m->next;
    for (int i = 0; i < p->count; i++) *p->params[i].slot = NULL;
    if (m->at) munmap(m->at, m->size);
    free(m);
  }
  pthread_mutex_unlock(&mappings.lock);
}

#else
int tvms__params_load(const TvmsModuleParams *p, const char *library) {
  (void)library;
  return tvms_set_error("the parameters '%s' can't be mapped on this machine", p->file);
}

void tvms__params_release(const TvmsModuleParams *p) { (void)p; }
#endif

int tvms_params_missing(void *name) {
  return tvms_set_error("the parameter '%s' of the module is not loaded: tvms_module_load does it",
                        (char *)name);
}
