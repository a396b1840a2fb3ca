/* registers.c -- see registers.h.
 *
 * The assembler gives registers to values that are needed at the same time: liveness by the usual
 * equations over the blocks of the text, in words of 32 bits. What it does not keep is not counted:
 * constants and parameters, which instructions name as operands, and sums of a register and a
 * constant, which are part of an address. It moves instructions to hide latencies, so the estimate
 * adds what it takes on average for that. `make check-ptx` tells how far off it is. */
#include "target/speed/registers.h"
#include "ir/ir.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Beyond the values: addresses in flight, what the assembler needs itself. */
enum { OVERHEAD = 6, LEAST = 8, MOST = 255 };

typedef struct Value {
  int words, defs;
  int base;     /* the value that it is a constant away from; its own number: none */
  bool is_free; /* a constant: takes no register */
} Value;

typedef struct Instr {
  int first, defs, count; /* operands: those that it writes, then those that it reads */
  const char *target;     /* of a branch; else NULL */
  bool falls_through, is_guarded;
} Instr;

typedef struct BasicBlock {
  int begin, end;
  uint64_t *in; /* values that are needed at its start */
} BasicBlock;

typedef struct Text {
  VEC(Value) values;
  IntVec operands;
  VEC(Instr) instrs;
  Map numbers; /* name of a register to its Value's number + 1 */
  Map labels;  /* name to the number of the instruction behind it + 1 */
} Text;

/* ---- reading ---- */

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

/* "%rd12" at the place; its length, or 0: special registers have no number. */
static size_t register_at(const char *at) {
  size_t n = 1;
  if (*at != '%') return 0;
  while (isalpha((unsigned char)at[n])) n++;
  size_t letters = n;
  while (isdigit((unsigned char)at[n])) n++;
  return n > letters && letters > 1 ? n : 0;
}

static int words_of(const char *name) {
  if (name[1] == 'p') return 0;
  return str_begins(name, "%rd") || str_begins(name, "%fd") ? 2 : 1;
}

static int number_of(Text *t, const char *at, size_t n) {
  const char *name = str_intern_n(at, n);
  intptr_t known = (intptr_t)map_get(&t->numbers, name);
  if (known) return (int)known - 1;
  Value v = {.words = words_of(name), .base = t->values.len};
  vec_push(&t->values, v);
  map_set(&t->numbers, name, (void *)(intptr_t)t->values.len);
  return t->values.len - 1;
}

static int add_registers(Text *t, const char *from, const char *to) {
  int count = 0;
  for (; from < to; from++) {
    size_t n = register_at(from);
    if (!n) continue;
    vec_push(&t->operands, number_of(t, from, n));
    count++;
    from += n - 1;
  }
  return count;
}

static bool has_result(const char *op) {
  static const char *const without[] = {"st.",    "bra",   "bar",  "ret",      "exit", "cp.async",
                                        "membar", "fence", "red.", "prefetch", "call", "trap"};
  for (size_t i = 0; i < sizeof without / sizeof *without; i++)
    if (str_begins(op, without[i])) return false;
  return true;
}

/* Where the first operand ends: at its comma, or behind its braces. */
static const char *end_of_result(const char *at, const char *end) {
  while (at < end && isspace((unsigned char)*at)) at++;
  const char *stop = memchr(at, *at == '{' ? '}' : ',', (size_t)(end - at));
  return stop ? stop : end;
}

/* Constants, and values that are a constant away from another one. */
static void classify(Text *t, const Instr *i, const char *op, const char *args, const char *end) {
  if (i->defs != 1) return;
  Value *v = &t->values.at[t->operands.at[i->first]];
  bool is_move = str_begins(op, "mov."),
       is_sum = str_begins(op, "add.s") || str_begins(op, "add.u");
  if (i->count == 1) {
    bool is_special = memchr(args, '%', (size_t)(end - args)) != NULL && is_move;
    v->is_free = str_begins(op, "ld.param") || (is_move && !is_special);
    const char *comma = memchr(args, ',', (size_t)(end - args));
    if (is_special && comma) v->is_free = !memchr(comma, '%', (size_t)(end - comma));
  } else if (i->count == 2 && (is_move || is_sum)) {
    v->base = t->operands.at[i->first + 1];
  }
}

static void read_instr(Text *t, const char *at, const char *end) {
  Instr i = {.first = t->operands.len, .falls_through = true};
  const char *guard = NULL, *op = at;
  if (*at == '@') {
    guard = at;
    while (op < end && !isspace((unsigned char)*op)) op++;
    while (op < end && isspace((unsigned char)*op)) op++;
  }
  const char *args = op;
  while (args < end && !isspace((unsigned char)*args)) args++;
  const char *after = has_result(op) ? end_of_result(args, end) : args;
  i.defs = add_registers(t, args, after);
  i.count = i.defs + add_registers(t, after, end);
  if (str_begins(op, "wgmma.mma")) i.count += add_registers(t, args, after); /* adds to it */
  i.is_guarded = guard != NULL;
  if (guard) i.count += add_registers(t, guard, op);
  for (int k = 0; k < i.defs; k++) t->values.at[t->operands.at[i.first + k]].defs++;
  if (str_begins(op, "bra")) {
    const char *label = end;
    while (label > args && is_name(label[-1])) label--;
    i.target = str_intern_n(label, (size_t)(end - label));
  }
  bool leaves = str_begins(op, "bra") || str_begins(op, "ret") || str_begins(op, "exit");
  i.falls_through = !leaves || guard;
  classify(t, &i, op, args, end);
  vec_push(&t->instrs, i);
}

/* A line of a kernel's body, without what stands around it. */
static void read_line(Text *t, const char *at, const char *end) {
  while (at < end && isspace((unsigned char)*at)) at++;
  while (end > at && (isspace((unsigned char)end[-1]) || end[-1] == ';')) end--;
  bool is_code = at < end && (isalpha((unsigned char)*at) || *at == '@' || *at == '$');
  if (!is_code) return;
  if (end[-1] != ':') return read_instr(t, at, end);
  map_set(&t->labels, str_intern_n(at, (size_t)(end - 1 - at)),
          (void *)(intptr_t)(t->instrs.len + 1));
}

/* ---- values ---- */

/* A value that is set once, from one that is set once: instructions name both. */
static int root_of(const Text *t, int n) {
  for (int steps = 0; steps < 64; steps++) {
    const Value *v = &t->values.at[n];
    if (v->base == n || v->defs != 1 || t->values.at[v->base].defs != 1) return n;
    n = v->base;
  }
  return n;
}

enum { NOTHING = -1 }; /* is written by an instruction that is part of others */

static void settle(Text *t) {
  for each (const Instr, i, &t->instrs)
    for (int k = 0; k < i->count; k++) {
      int *operand = &t->operands.at[i->first + k], root = root_of(t, *operand);
      *operand = k < i->defs && root != *operand ? NOTHING : root;
    }
  for each (Value, v, &t->values)
    if (v->defs != 1) v->is_free = false;
}

/* ---- liveness ---- */

typedef VEC(BasicBlock) BasicBlockVec;

static bool begins_block(const Text *t, int i) {
  if (i == 0 || t->instrs.at[i - 1].target || !t->instrs.at[i - 1].falls_through) return true;
  for each (const MapEntry, e, &t->labels)
    if ((intptr_t)e->value == i + 1) return true;
  return false;
}

static BasicBlockVec blocks_of(const Text *t, int words) {
  BasicBlockVec out = {0};
  for (int i = 0; i < t->instrs.len; i++) {
    BasicBlock b = {.begin = i, .end = i, .in = (uint64_t *)(void *)NEW_BYTES((size_t)words * 8)};
    memset(b.in, 0, (size_t)words * 8);
    if (begins_block(t, i)) vec_push(&out, b);
    vec_last(&out).end = i + 1;
  }
  return out;
}

static const BasicBlock *block_at(const BasicBlockVec *blocks, int instr) {
  for each (const BasicBlock, b, blocks)
    if (b->begin == instr) return b;
  return NULL;
}

static void set_bit(uint64_t *set, int n, bool on) {
  if (on) set[n / 64] |= (uint64_t)1 << n % 64;
  else set[n / 64] &= ~((uint64_t)1 << n % 64);
}

static void step_back(const Text *t, const Instr *i, uint64_t *live) {
  for (int k = 0; k < i->defs && !i->is_guarded; k++)
    if (t->operands.at[i->first + k] != NOTHING) set_bit(live, t->operands.at[i->first + k], false);
  for (int k = i->defs; k < i->count; k++) set_bit(live, t->operands.at[i->first + k], true);
}

/* What is needed behind the block. */
static void join(const Text *t, const BasicBlockVec *blocks, const BasicBlock *b, uint64_t *live,
                 int words) {
  const Instr *last = &t->instrs.at[b->end - 1];
  const BasicBlock *next[2] = {last->falls_through ? block_at(blocks, b->end) : NULL, NULL};
  intptr_t to = last->target ? (intptr_t)map_get(&t->labels, last->target) : 0;
  if (to) next[1] = block_at(blocks, (int)to - 1);
  memset(live, 0, (size_t)words * 8);
  for (int k = 0; k < 2; k++)
    for (int w = 0; next[k] && w < words; w++) live[w] |= next[k]->in[w];
}

static int words_live(const Text *t, const uint64_t *live, int words) {
  int sum = 0;
  for (int w = 0; w < words; w++)
    for (uint64_t rest = live[w]; rest; rest &= rest - 1) {
      const Value *v = &t->values.at[w * 64 + __builtin_ctzll(rest)];
      sum += v->is_free ? 0 : v->words;
    }
  return sum;
}

static int most_live(const Text *t) {
  int words = t->values.len / 64 + 1, most = 0;
  BasicBlockVec blocks = blocks_of(t, words);
  uint64_t *live = (uint64_t *)(void *)NEW_BYTES((size_t)words * 8);
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = blocks.len - 1; i >= 0; i--) {
      BasicBlock *b = &blocks.at[i];
      join(t, &blocks, b, live, words);
      for (int k = b->end - 1; k >= b->begin; k--) step_back(t, &t->instrs.at[k], live);
      if (memcmp(live, b->in, (size_t)words * 8) == 0) continue;
      memcpy(b->in, live, (size_t)words * 8);
      changed = true;
    }
  }
  for each (const BasicBlock, b, &blocks) {
    join(t, &blocks, b, live, words);
    for (int k = b->end - 1; k >= b->begin; k--) {
      step_back(t, &t->instrs.at[k], live);
      int now = words_live(t, live, words);
      most = now > most ? now : most;
    }
  }
  return most;
}

/* ---- kernels ---- */

static int used(int registers) {
  int n = registers + OVERHEAD;
  return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

/* ".shared .align 16 .b8 name[4096];" */
static int64_t shared_bytes(const char *at, const char *end) {
  if (!memmem(at, (size_t)(end - at), ".shared", 7)) return 0;
  const char *size = memchr(at, '[', (size_t)(end - at));
  return size && *at == '.' ? strtoll(size + 1, NULL, 10) : 0;
}

PtxKernelVec ptx_kernels(const char *text) {
  PtxKernelVec out = {0};
  Text t = {0};
  PtxKernel k = {0};
  int64_t shared = 0;
  bool inside = false;
  for (const char *at = text, *end; *at; at = end + (*end == '\n')) {
    end = at + strcspn(at, "\n");
    const char *entry = memmem(at, (size_t)(end - at), ".entry ", 7);
    if (entry) k = (PtxKernel){.name = str_copy_n(entry + 7, strcspn(entry + 7, "(\n "))};
    else if (k.name && *at == '{') t = (Text){0}, inside = true;
    else if (inside && *at == '}') {
      settle(&t);
      k.registers = used(most_live(&t));
      k.instructions = t.instrs.len;
      k.shared = shared;
      vec_push(&out, k);
      k = (PtxKernel){0}, inside = false, shared = 0;
    } else if (inside) {
      const char *comment = memmem(at, (size_t)(end - at), "//", 2);
      shared += shared_bytes(at + strspn(at, "\t "), end);
      read_line(&t, at, comment ? comment : end);
    } else shared += shared_bytes(at, end);
  }
  return out;
}
