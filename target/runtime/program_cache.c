/* program_cache.c -- a folder of binaries by their keys.
 *
 * A file is named by a hash of its key and holds a Header, the key and the binary. Both are
 * compared or summed when it is read: a clash, a cut file or one of another machine is no hit. A
 * file is written under another name and then renamed, so none is ever seen half-written. */
#include "target/runtime/program_cache.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_SIZE = 4000, PATH_SIZE = FOLDER_SIZE + 32 }; /* a name has 24 characters */
#define MOST_BYTES ((int64_t)256 << 20)                    /* of all files */
#define SUFFIX     ".program"

typedef struct Header {
  char magic[8];
  uint64_t key_size, size, sum; /* of the binary: bytes and hash */
} Header;

static const char magic[8] = "tvmsprg";

/* FNV-1a. */
static uint64_t hash(const void *bytes, size_t n) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < n; i++) h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return h;
}

/* ---- the folder ---- */

static bool find_folder(char *out) {
  const char *named = getenv("TVMS_CACHE"), *base = getenv("XDG_CACHE_HOME"),
             *home = getenv("HOME");
  int n = -1;
  if (named) n = snprintf(out, FOLDER_SIZE, "%s", named);
  else if (base && *base == '/') n = snprintf(out, FOLDER_SIZE, "%s/tvms", base);
  else if (home && *home == '/') n = snprintf(out, FOLDER_SIZE, "%s/.cache/tvms", home);
  return n > 0 && n < FOLDER_SIZE;
}

static void make_folders(char *path) {
  for (char *at = path + 1; *at; at++) {
    if (*at != '/') continue;
    *at = '\0';
    mkdir(path, 0700);
    *at = '/';
  }
  mkdir(path, 0700);
}

static void file_of(const char *folder, const char *key, char *out) {
  snprintf(out, PATH_SIZE, "%s/%016llx" SUFFIX, folder, (unsigned long long)hash(key, strlen(key)));
}

/* ---- reading ---- */

static bool read_all(int fd, void *to, size_t n) {
  for (size_t done = 0; done < n;) {
    ssize_t got = read(fd, (char *)to + done, n - done);
    if (got <= 0) return false;
    done += (size_t)got;
  }
  return true;
}

/* The binary, if the file's length is what its header says and its key is this one. */
static void *read_binary(int fd, const char *key, size_t *n) {
  struct stat s;
  Header h;
  size_t key_size = strlen(key);
  if (fstat(fd, &s) || !read_all(fd, &h, sizeof h) || memcmp(h.magic, magic, sizeof magic) != 0 ||
      h.key_size != key_size || s.st_size > MOST_BYTES || h.size > (uint64_t)s.st_size ||
      sizeof h + key_size + h.size != (uint64_t)s.st_size)
    return NULL;
  char *bytes = malloc(key_size + h.size);
  bool whole = bytes && read_all(fd, bytes, key_size + h.size) && !memcmp(bytes, key, key_size) &&
               hash(bytes + key_size, h.size) == h.sum;
  if (!whole) return free(bytes), NULL;
  memmove(bytes, bytes + key_size, h.size);
  *n = h.size;
  return bytes;
}

void *tvms__program_cache_get(const char *key, size_t *n) {
  char folder[FOLDER_SIZE], path[PATH_SIZE];
  if (!find_folder(folder)) return NULL;
  file_of(folder, key, path);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  void *binary = read_binary(fd, key, n);
  if (binary) futimens(fd, NULL); /* it was used now */
  close(fd);
  return binary;
}

/* ---- writing ---- */

static bool write_all(int fd, const void *from, size_t n) {
  for (size_t done = 0; done < n;) {
    ssize_t put = write(fd, (const char *)from + done, n - done);
    if (put <= 0) return false;
    done += (size_t)put;
  }
  return true;
}

/* Also one that was never finished: its process may have been killed. */
static bool is_program(const char *name) { return strstr(name, SUFFIX) != NULL; }

/* Bytes of all programs of the folder; `oldest`: the file that was not used for longest, or "". */
static int64_t survey(const char *folder, char *oldest) {
  DIR *d = opendir(folder);
  int64_t all = 0, time = INT64_MAX;
  *oldest = '\0';
  if (!d) return 0;
  for (struct dirent *e; (e = readdir(d));) {
    char path[PATH_SIZE];
    struct stat s;
    int n = snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    if (!is_program(e->d_name) || n >= (int)sizeof path || stat(path, &s)) continue;
    all += s.st_size;
    if (s.st_mtime >= time) continue;
    time = s.st_mtime;
    memcpy(oldest, path, (size_t)n + 1);
  }
  closedir(d);
  return all;
}

static void drop_oldest(const char *folder) {
  char oldest[PATH_SIZE];
  while (survey(folder, oldest) > MOST_BYTES && *oldest)
    if (unlink(oldest)) return;
}

void tvms__program_cache_put(const char *key, const void *binary, size_t n) {
  char folder[FOLDER_SIZE], path[PATH_SIZE], other[PATH_SIZE + 8];
  size_t key_size = strlen(key);
  if ((int64_t)(key_size + n) > MOST_BYTES / 4 || !find_folder(folder)) return;
  make_folders(folder);
  file_of(folder, key, path);
  snprintf(other, sizeof other, "%s.XXXXXX", path);
  int fd = mkstemp(other);
  if (fd < 0) return;
  Header h = {.key_size = key_size, .size = n, .sum = hash(binary, n)};
  memcpy(h.magic, magic, sizeof magic);
  bool whole =
      write_all(fd, &h, sizeof h) && write_all(fd, key, key_size) && write_all(fd, binary, n);
  if (close(fd) || !whole || rename(other, path)) unlink(other);
  else drop_oldest(folder);
}
