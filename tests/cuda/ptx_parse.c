/* ptx_parse.c -- the text of a module to instructions. */
#include "ptx_parse.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Name {
  char text[PTX_NAME];
  Operand operand; /* of a symbol, a register, a label */
} Name;

typedef struct Parser {
  const char *at, *line;
  PtxKernel *kernel;
  Name *names;
  int n_names, cap, globals; /* the first `globals` are the module's */
  char *why;
  size_t size;
  bool failed;
} Parser;

struct PtxModule {
  PtxKernel *kernels;
};

static bool fail(Parser *p, const char *what) {
  if (!p->failed) snprintf(p->why, p->size, "%s: %.*s", what, (int)strcspn(p->line, "\n"), p->line);
  p->failed = true;
  return false;
}

/* ---- words ---- */

static void skip(Parser *p) {
  for (;;) {
    while (isspace((unsigned char)*p->at)) p->at++;
    if (p->at[0] != '/' || p->at[1] != '/') return;
    p->at += strcspn(p->at, "\n");
  }
}

static bool take(Parser *p, const char *text) {
  size_t n = strlen(text);
  skip(p);
  if (strncmp(p->at, text, n)) return false;
  p->at += n;
  return true;
}

static bool is_name(char c) { return isalnum((unsigned char)c) || strchr("_$%", c); }

/* A name; dots too if it is an opcode, a special register or a directive. */
static void word(Parser *p, bool dots, char *out) {
  size_t n = 0;
  skip(p);
  while (*p->at && (is_name(*p->at) || (dots && *p->at == '.') || (dots && *p->at == ':')) &&
         n + 1 < PTX_NAME)
    out[n++] = *p->at++;
  out[n] = '\0';
}

/* ---- names ---- */

static Name *find(Parser *p, const char *text) {
  for (int i = p->n_names - 1; i >= 0; i--)
    if (!strcmp(p->names[i].text, text)) return &p->names[i];
  return NULL;
}

static Name *define(Parser *p, const char *text, Operand o) {
  if (p->n_names == p->cap) {
    p->cap = p->cap ? 2 * p->cap : 256;
    p->names = realloc(p->names, sizeof *p->names * (size_t)p->cap);
  }
  Name *n = &p->names[p->n_names++];
  snprintf(n->text, sizeof n->text, "%s", text);
  n->operand = o;
  return n;
}

static Operand named(Parser *p, const char *text) {
  static const char *const specials[] = {"%tid.x",   "%tid.y",  "%tid.z",  "%ctaid.x", "%ctaid.y",
                                         "%ctaid.z", "%ntid.x", "%ntid.y", "%ntid.z",  "%laneid"};
  for (int i = 0; i < 10; i++)
    if (!strcmp(specials[i], text)) return (Operand){.kind = OPERAND_SPECIAL, .value = i};
  Name *known = find(p, text);
  if (known) return known->operand;
  if (text[0] == '$')
    return define(p, text, (Operand){.kind = OPERAND_LABEL, .value = -1})->operand;
  Operand made = {.kind = OPERAND_REG, .value = p->kernel->code->registers++};
  return define(p, text, made)->operand;
}

/* ---- operands ---- */

static Operand number(Parser *p) {
  Operand o = {.kind = OPERAND_IMM};
  char *end;
  if (p->at[0] == '0' && (p->at[1] == 'f' || p->at[1] == 'd')) {
    char digits[20] = "";
    size_t n = p->at[1] == 'f' ? 8 : 16;
    memcpy(digits, p->at + 2, n);
    o.value = (int64_t)strtoull(digits, &end, 16);
    p->at += 2 + n;
    return o;
  }
  o.value = *p->at == '-' ? strtoll(p->at, &end, 0) : (int64_t)strtoull(p->at, &end, 0);
  p->at = end;
  if (*p->at == 'U') p->at++;
  return o;
}

static Operand simple(Parser *p) {
  char text[PTX_NAME];
  skip(p);
  if (isdigit((unsigned char)*p->at) || *p->at == '-') return number(p);
  word(p, *p->at == '%', text);
  if (!*text) fail(p, "an operand is missing");
  Operand o = named(p, text);
  if (o.kind == OPERAND_SYMBOL && take(p, "+")) o.value += number(p).value;
  return o;
}

static Operand memory(Parser *p) {
  Operand o = simple(p);
  o.is_memory = true;
  if (take(p, "+")) skip(p), o.offset = number(p).value;
  if (!take(p, "]")) fail(p, "']' is missing");
  return o;
}

static void add(Parser *p, Instr *i, int group, Operand o) {
  if (i->n == MOST_OPERANDS) return (void)fail(p, "there are too many operands");
  i->group[i->n] = group;
  i->operands[i->n++] = o;
}

static void operands(Parser *p, Instr *i) {
  for (int group = 0; !p->failed && !take(p, ";"); group++) {
    if (take(p, "{")) {
      do add(p, i, group, simple(p));
      while (take(p, ","));
      if (!take(p, "}")) fail(p, "'}' is missing");
    } else if (take(p, "[")) add(p, i, group, memory(p));
    else add(p, i, group, simple(p));
    if (!take(p, ",") && !take(p, "|") && *p->at != ';') fail(p, "',' or ';' is missing");
  }
}

static void instruction(Parser *p) {
  PtxCode *c = p->kernel->code;
  char text[PTX_NAME];
  Instr i = {.guard = -1, .line = p->line};
  if (take(p, "@")) {
    i.guard_not = take(p, "!");
    i.guard = (int)simple(p).value;
  }
  word(p, true, text);
  for (char *w = strtok(text, "."); w && i.n_words < MOST_WORDS; w = strtok(NULL, "."))
    snprintf(i.words[i.n_words++], sizeof *i.words, "%s", w);
  operands(p, &i);
  i.execute = ptx_instruction(&i);
  if (!i.execute) fail(p, "the instruction is not known");
  if (c->len == c->cap) {
    c->cap = c->cap ? 2 * c->cap : 256;
    c->at = realloc(c->at, sizeof *c->at * (size_t)c->cap);
  }
  c->at[c->len++] = i;
}

/* ---- declarations ---- */

/* .align 16 .b8 name[64]; gives the bytes, and the name. */
static size_t variable(Parser *p, char *name, size_t *align) {
  char type[PTX_NAME];
  size_t n = 1;
  *align = 1;
  if (take(p, ".align")) skip(p), *align = (size_t)number(p).value;
  word(p, true, type);
  word(p, false, name);
  if (take(p, "[")) {
    skip(p);
    n = isdigit((unsigned char)*p->at) ? (size_t)number(p).value : 0;
    take(p, "]");
  }
  return n * (size_t)atoi(type + 2) / 8;
}

static size_t place(size_t *used, size_t align, size_t nbytes) {
  size_t at = (*used + align - 1) / align * align;
  *used = at + nbytes;
  return at;
}

static void declare(Parser *p, Space space, size_t *used) {
  char name[PTX_NAME];
  size_t align, nbytes = variable(p, name, &align), at = place(used, align, nbytes);
  define(p, name, (Operand){.kind = OPERAND_SYMBOL, .space = space, .value = (int64_t)at});
  if (!take(p, ";")) fail(p, "';' is missing");
}

static void params(Parser *p) {
  char type[PTX_NAME], name[PTX_NAME];
  PtxKernel *k = p->kernel;
  while (!take(p, ")") && !p->failed) {
    if (!take(p, ".param")) fail(p, ".param is missing");
    word(p, true, type);
    word(p, false, name);
    if (k->params == PTX_MOST_PARAMS) return (void)fail(p, "there are too many parameters");
    snprintf(k->types[k->params], sizeof *k->types, "%.7s", type + 1);
    define(p, name, (Operand){.kind = OPERAND_SYMBOL, .space = SPACE_PARAM, .value = k->params++});
    take(p, ",");
  }
}

static void label(Parser *p, const char *text) {
  Name *n = find(p, text);
  if (!n) n = define(p, text, (Operand){.kind = OPERAND_LABEL});
  n->operand.value = p->kernel->code->len;
}

/* One statement of a body. Braces inside only make scopes of registers, whose names differ. */
static void statement(Parser *p, int *depth) {
  char text[PTX_NAME];
  const char *start;
  skip(p);
  p->line = start = p->at;
  if (take(p, "{")) ++*depth;
  else if (take(p, "}")) --*depth;
  else if (take(p, ".reg") || take(p, ".pragma")) p->at += strcspn(p->at, ";") + 1;
  else if (take(p, ".local")) declare(p, SPACE_LOCAL, &p->kernel->code->local_bytes);
  else if (take(p, ".shared")) declare(p, SPACE_SHARED, &p->kernel->code->shared_bytes);
  else {
    word(p, false, text);
    if (*text == '$' && take(p, ":")) return label(p, text);
    p->at = start;
    instruction(p);
  }
}

static void set_labels(Parser *p) {
  PtxCode *c = p->kernel->code;
  for (int i = 0; i < c->len; i++)
    if (c->at[i].n == 1 && c->at[i].operands[0].kind == OPERAND_LABEL) {
      char text[PTX_NAME];
      const char *at = strchr(c->at[i].line, '$');
      snprintf(text, sizeof text, "%.*s", (int)strcspn(at, ";"), at);
      c->at[i].operands[0].value = find(p, text)->operand.value;
    }
}

static void entry(Parser *p, PtxModule *m) {
  PtxKernel *k = calloc(1, sizeof *k);
  int depth = 0;
  k->code = calloc(1, sizeof *k->code);
  k->next = m->kernels;
  m->kernels = p->kernel = k;
  k->threads[0] = 1024, k->threads[1] = k->threads[2] = 1;
  word(p, false, k->name);
  if (!take(p, "(")) fail(p, "'(' is missing");
  params(p);
  if (take(p, ".maxntid"))
    for (int i = 0; i < 3; i++) skip(p), k->threads[i] = (unsigned)number(p).value, take(p, ",");
  if (take(p, ".minnctapersm")) skip(p), (void)number(p);
  do statement(p, &depth);
  while (depth && *p->at && !p->failed);
  /* Memory whose size is told at launch lies behind all other. */
  set_labels(p);
  p->n_names = p->globals;
}

PtxModule *ptx_module_new(const char *text, char *why, size_t size) {
  PtxModule *m = calloc(1, sizeof *m);
  Parser p = {.at = text, .line = text, .why = why, .size = size};
  if (!strstr(text, ".version ") || !strstr(text, ".address_size 64")) fail(&p, "no PTX");
  while (!p.failed && (skip(&p), *p.at)) {
    p.line = p.at;
    if (take(&p, ".version") || take(&p, ".target") || take(&p, ".address_size"))
      p.at += strcspn(p.at, "\n");
    else if (take(&p, ".visible .entry")) entry(&p, m);
    else if (take(&p, ".extern .shared")) {
      char name[PTX_NAME];
      size_t align;
      variable(&p, name, &align);
      take(&p, ";");
      define(&p, name,
             (Operand){.kind = OPERAND_SYMBOL, .space = SPACE_SHARED, .value = INT32_MAX});
      p.globals = p.n_names;
    } else fail(&p, "the statement is not known");
  }
  free(p.names);
  if (!p.failed) return m;
  ptx_module_free(m);
  return NULL;
}

PtxKernel *ptx_module_kernels(PtxModule *m) { return m->kernels; }

void ptx_module_free(PtxModule *m) {
  for (PtxKernel *k = m->kernels, *next; k; k = next) {
    next = k->next;
    free(k->code->at);
    free(k->code);
    free(k);
  }
  free(m);
}
