/* os_path.c -- the modules os and os.path: names of files, the environment, folders. */
#include "lang/builtin/builtin.h"
#include "lang/builtin/file.h"
#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A str, or an object with __fspath__. */
static const char *path_text(Value v, const char *what, Span span) {
  if (v.type == &type_instance) {
    Value text = instance_special(v, INTERNED("__fspath__"), 0, NULL, span);
    if (text.type) v = text;
  }
  return value_as_text(v, what, span);
}

static const char *path_arg(BuiltinCall *c, int i) {
  return path_text(c->args[i], "the path", c->spans[i]);
}

/* ---- os.path ---- */

static Value path_join(BuiltinCall *c) {
  Str out = {0};
  str_add(&out, path_arg(c, 0));
  for each (Value, v, value_items(c->args[1])) {
    const char *part = path_text(*v, "each part of the path", c->span);
    if (*part == '/') out.len = 0;
    else if (out.len && out.at[out.len - 1] != '/') str_add(&out, "/");
    str_add(&out, part);
  }
  return value_str_take(&out);
}

static size_t base_start(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash + 1 - path) : 0;
}

static Value path_basename(BuiltinCall *c) {
  const char *path = path_arg(c, 0);
  return value_str(path + base_start(path));
}

static Value directory_of(const char *path) {
  size_t n = base_start(path), all = n;
  while (n > 0 && path[n - 1] == '/') n--;
  return value_str_n(path, n ? n : all);
}
static Value path_dirname(BuiltinCall *c) { return directory_of(path_arg(c, 0)); }
static Value path_split(BuiltinCall *c) {
  return value_tuple_of(2, path_dirname(c), path_basename(c));
}

static Value path_splitext(BuiltinCall *c) {
  const char *path = path_arg(c, 0), *base = path + base_start(path), *dot = strrchr(base, '.');
  while (*base == '.') base++;
  if (!dot || dot < base) dot = path + strlen(path);
  return value_tuple_of(2, value_str_n(path, (size_t)(dot - path)), value_str(dot));
}

static bool stat_is(BuiltinCall *c, mode_t kind) {
  struct stat s;
  return stat(path_arg(c, 0), &s) == 0 && (!kind || (s.st_mode & S_IFMT) == kind);
}
static Value path_exists(BuiltinCall *c) { return value_bool(stat_is(c, 0)); }
static Value path_isfile(BuiltinCall *c) { return value_bool(stat_is(c, S_IFREG)); }
static Value path_isdir(BuiltinCall *c) { return value_bool(stat_is(c, S_IFDIR)); }
static Value path_isabs(BuiltinCall *c) { return value_bool(*path_arg(c, 0) == '/'); }
static Value path_getsize(BuiltinCall *c) {
  struct stat s;
  if (stat(path_arg(c, 0), &s) != 0) raise_os_error(path_arg(c, 0), c->span);
  return value_int(s.st_size);
}

/* Without "." and "..", and double slashes. */
static Value normalised(const char *path) {
  VEC(const char *) parts = {0};
  bool absolute = *path == '/';
  for (const char *at = path; *at;) {
    const char *end = strchrnul(at, '/');
    const char *part = str_copy_n(at, (size_t)(end - at));
    bool up = strcmp(part, "..") == 0;
    if (up && parts.len && strcmp(vec_last(&parts), "..") != 0) parts.len--;
    else if (*part && strcmp(part, ".") != 0 && !(up && absolute)) vec_push(&parts, part);
    at = *end ? end + 1 : end;
  }
  Str out = {0};
  if (absolute) str_add(&out, "/");
  for (int i = 0; i < parts.len; i++) str_printf(&out, "%s%s", i ? "/" : "", parts.at[i]);
  return out.len ? value_str_take(&out) : value_str(".");
}
static Value path_normpath(BuiltinCall *c) { return normalised(path_arg(c, 0)); }

static const char *working_folder(Span span) {
  char at[PATH_MAX];
  if (!getcwd(at, sizeof at)) raise_os_error(".", span);
  return str_copy_n(at, strlen(at));
}
static Value path_abspath(BuiltinCall *c) {
  const char *path = path_arg(c, 0);
  return normalised(*path == '/' ? path : str_format("%s/%s", working_folder(c->span), path));
}
static Value path_expanduser(BuiltinCall *c) {
  const char *path = path_arg(c, 0), *home = getenv("HOME");
  bool tilde = *path == '~' && (path[1] == '/' || !path[1]);
  return tilde && home ? value_str(str_format("%s%s", home, path + 1)) : c->args[0];
}

static Value path_islink(BuiltinCall *c) {
  struct stat s;
  return value_bool(lstat(path_arg(c, 0), &s) == 0 && S_ISLNK(s.st_mode));
}
static Value path_getmtime(BuiltinCall *c) {
  struct stat s;
  if (stat(path_arg(c, 0), &s) != 0) raise_os_error(path_arg(c, 0), c->span);
  return value_float((double)s.st_mtim.tv_sec + (double)s.st_mtim.tv_nsec * 1e-9);
}

static const Builtin path_rows[] = {
    {"join", "path, *parts", path_join, "the parts with slashes between them"},
    {"basename", "path, /", path_basename, "the part after the last slash"},
    {"dirname", "path, /", path_dirname, "the part before the last slash"},
    {"split", "path, /", path_split, "(dirname, basename)"},
    {"splitext", "path, /", path_splitext, "(path without, extension)"},
    {"exists", "path, /", path_exists, "is there something?"},
    {"isfile", "path, /", path_isfile, "is it a file?"},
    {"isdir", "path, /", path_isdir, "is it a folder?"},
    {"isabs", "path, /", path_isabs, "does it begin with a slash?"},
    {"islink", "path, /", path_islink, "is it a symbolic link?"},
    {"getmtime", "path, /", path_getmtime, "seconds since 1970 of the last change"},
    {"getsize", "path, /", path_getsize, "bytes of a file"},
    {"normpath", "path, /", path_normpath, "without . and .."},
    {"abspath", "path, /", path_abspath, "from the root"},
    {"expanduser", "path, /", path_expanduser, "~ becomes the home folder"},
};

Value os_path_load(void) {
  Value ns = value_namespace("_os_path");
  namespace_add_builtins(ns, path_rows, sizeof path_rows / sizeof *path_rows);
  namespace_set(ns, "sep", value_str("/"));
  return ns;
}

/* ---- os ---- */

static Value os_getcwd(BuiltinCall *c) { return value_str(working_folder(c->span)); }

static Value os_listdir(BuiltinCall *c) {
  DIR *dir = opendir(path_arg(c, 0));
  if (!dir) raise_os_error(path_arg(c, 0), c->span);
  ValueVec names = {0};
  for (struct dirent *e; (e = readdir(dir));) {
    if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
    Value v = value_str(e->d_name);
    vec_push(&names, v);
  }
  closedir(dir);
  sequence_sort(&names, value_none(), false, c->span);
  return value_list(names);
}

static Value os_getenv(BuiltinCall *c) {
  const char *x = getenv(value_as_text(c->args[0], "the name", c->spans[0]));
  return x ? value_str(x) : c->args[1];
}

static Value os_remove(BuiltinCall *c) {
  if (unlink(path_arg(c, 0)) != 0) raise_os_error(path_arg(c, 0), c->span);
  return value_none();
}

static void make_folder(const char *path, bool exist_ok, Span span) {
  struct stat s;
  if (mkdir(path, 0777) == 0) return;
  if (exist_ok && stat(path, &s) == 0 && S_ISDIR(s.st_mode)) return;
  raise_os_error(path, span);
}
static Value os_mkdir(BuiltinCall *c) {
  make_folder(path_arg(c, 0), false, c->span);
  return value_none();
}
static Value os_makedirs(BuiltinCall *c) {
  const char *path = path_arg(c, 0);
  for (const char *slash = strchr(path + (*path == '/'), '/'); slash;
       slash = strchr(slash + 1, '/'))
    make_folder(str_copy_n(path, (size_t)(slash - path)), true, c->span);
  make_folder(path, value_truth(c->args[1], c->span), c->span);
  return value_none();
}
static Value os_rmdir(BuiltinCall *c) {
  if (rmdir(path_arg(c, 0)) != 0) raise_os_error(path_arg(c, 0), c->span);
  return value_none();
}
static Value os_rename(BuiltinCall *c) {
  if (rename(path_arg(c, 0), path_arg(c, 1)) != 0) raise_os_error(path_arg(c, 0), c->span);
  return value_none();
}
static Value os_getpid(BuiltinCall *c) { return (void)c, value_int(getpid()); }
static Value os_fspath(BuiltinCall *c) { return value_str(path_arg(c, 0)); }
static Value os_cpu_count(BuiltinCall *c) {
  (void)c;
  return value_int(sysconf(_SC_NPROCESSORS_ONLN));
}

/* ---- file descriptors ---- */

static int descriptor(BuiltinCall *c, int i) {
  int64_t fd = value_as_int(c->args[i], "a file descriptor", c->spans[i]);
  if (fd < 0 || fd > INT_MAX)
    raise("ValueError", c->spans[i], "%lld is no descriptor", (long long)fd);
  return (int)fd;
}
static Value checked(int fd, Span span) {
  if (fd < 0) raise_os_error("a file descriptor", span);
  return value_int(fd);
}
static Value os_dup(BuiltinCall *c) { return checked(dup(descriptor(c, 0)), c->span); }
static Value os_dup2(BuiltinCall *c) {
  return checked(dup2(descriptor(c, 0), descriptor(c, 1)), c->span);
}
static Value os_close(BuiltinCall *c) {
  checked(close(descriptor(c, 0)), c->span);
  return value_none();
}

static const Builtin os_rows[] = {
    {"getcwd", "", os_getcwd, "the working folder"},
    {"listdir", "path='.', /", os_listdir, "names in a folder, sorted"},
    {"getenv", "name, default=None, /", os_getenv, "a variable of the environment"},
    {"remove", "path, /", os_remove, "removes a file"},
    {"mkdir", "path, /", os_mkdir, "makes a folder"},
    {"makedirs", "path, exist_ok=False", os_makedirs, "makes a folder and those above it"},
    {"unlink", "path, /", os_remove, "removes a file"},
    {"rmdir", "path, /", os_rmdir, "removes an empty folder"},
    {"rename", "src, dst, /", os_rename, "gives a file or a folder another name"},
    {"replace", "src, dst, /", os_rename, "as rename"},
    {"getpid", "", os_getpid, "the number of this process"},
    {"fspath", "path, /", os_fspath, "the path as a str"},
    {"cpu_count", "", os_cpu_count, "processors of this machine"},
    {"dup", "fd, /", os_dup, "another descriptor of an open file"},
    {"dup2", "fd, fd2, inheritable=True", os_dup2, "makes fd2 a descriptor of the file of fd"},
    {"close", "fd, /", os_close, "closes a descriptor"},
};

Value os_load(void) {
  Value ns = value_namespace("_os");
  namespace_add_builtins(ns, os_rows, sizeof os_rows / sizeof *os_rows);
  namespace_set(ns, "sep", value_str("/"));
  Value env = value_dict();
  extern char **environ;
  for (char **e = environ; *e; e++) {
    const char *equal = strchr(*e, '=');
    if (equal)
      value_dict_set(env, value_str_n(*e, (size_t)(equal - *e)), value_str(equal + 1), (Span){0});
  }
  namespace_set(ns, "environ", env);
  return ns;
}
