/* pass.c -- the tables of passes and of named pipelines, and the rows of this folder. */
#define PASS_FILE "passes/pass.def"
#include "passes/rows.h"
#include <stdlib.h>

static VEC(const Pass *) passes;
static VEC(const NamedPipeline *) pipelines;

void pass_register(const Pass *table, int n) {
  for (int i = 0; i < n; i++) vec_push(&passes, &table[i]);
}

bool pass_define(const Pass *pass) {
  for each (const Pass *, p, &passes) {
    if (!str_same((*p)->name, pass->name)) continue;
    if (!(*p)->definition) return false;
    *p = pass;
    return true;
  }
  vec_push(&passes, pass);
  return true;
}

const Pass *pass_at(int i) { return i < passes.len ? passes.at[i] : NULL; }

/* The name of the same pass here. */
static const char *own_name(const char *name) {
  static const struct {
    const char *name, *ours;
  } aliases[] = {
#define ALIAS(name, ours) {#name, #ours},
#include "passes/absent.def"
  };
  for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
    if (str_same(aliases[i].name, name)) return aliases[i].ours;
  return name;
}

const Pass *pass_find(const char *name) {
  name = own_name(name);
  for each (const Pass *, p, &passes)
    if (str_same((*p)->name, name)) return *p;
  return NULL;
}

void pipeline_register(const NamedPipeline *table, int n) {
  for (int i = 0; i < n; i++) vec_push(&pipelines, &table[i]);
}

const NamedPipeline *pipeline_at(int i) { return i < pipelines.len ? pipelines.at[i] : NULL; }

const NamedPipeline *pipeline_find(const char *name) {
  for each (const NamedPipeline *, p, &pipelines)
    if (str_same((*p)->name, name)) return *p;
  return NULL;
}

const char *pass_option_str(const PassContext *context, const char *name) {
  const char *text = map_get(&context->options, str_intern(name));
  REQUIRE(text, "the pass has an option '%s'", name);
  return text;
}

Node *(*library_pass_hook)(Node *n, const PassContext *context);

Node *pass_of_library(Node *n, const PassContext *context) {
  REQUIRE(library_pass_hook, "nobody runs passes of the standard library");
  return library_pass_hook(n, context);
}

bool pass_option_lists(const PassContext *context, const char *option, const char *name) {
  const char *list = pass_option_str(context, option);
  return *list && str_in_list(list, name);
}

int64_t pass_option_int(const PassContext *context, const char *name) {
  return strtoll(pass_option_str(context, name), NULL, 10);
}

static const NamedPipeline named[] = {
#define PIPELINE(name, text, doc) {#name, text, doc},
#include "passes/pipeline.def"
};

void passes_start(void) {
  pass_register(rows, ROWS);
  pipeline_register(named, sizeof named / sizeof *named);
}

const char *pass_absent(const char *name) {
  static const struct {
    const char *name, *why;
  } absent[] = {
#define ABSENT(name, why) {#name, why},
#include "passes/absent.def"
  };
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
    if (str_same(absent[i].name, name)) return absent[i].why;
  return NULL;
}
