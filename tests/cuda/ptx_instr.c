/* ptx_instr.c -- the instructions that each thread does by itself. */
#include "ptx_machine.h"
#include <math.h>
#include <string.h>

bool instr_has(const Instr *i, const char *word) {
  for (int k = 1; k < i->n_words; k++)
    if (!strcmp(i->words[k], word)) return true;
  return false;
}

/* ---- types ---- */

typedef struct Type {
  char kind; /* u, s, b, f, p */
  int bits;
} Type;

static Type type_of(const char *w) {
  if (!strcmp(w, "pred")) return (Type){'p', 1};
  if (!strncmp(w, "bf", 2)) return (Type){'B', 16};
  int bits = 0;
  for (const char *c = w + 1; *c >= '0' && *c <= '9'; c++) bits = 10 * bits + *c - '0';
  return (Type){w[0], bits};
}
static Type last_type(const Instr *i) { return type_of(i->words[i->n_words - 1]); }

static uint64_t cut(uint64_t v, int bits) { return bits >= 64 ? v : v & ((1ull << bits) - 1); }
static int64_t as_signed(uint64_t v, int bits) {
  return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static double as_float(uint64_t v, Type t) {
  if (t.bits == 64) {
    double d;
    memcpy(&d, &v, 8);
    return d;
  }
  if (t.bits == 16) {
    uint16_t bits = (uint16_t)v;
    _Float16 h;
    memcpy(&h, &bits, 2);
    return (double)h;
  }
  uint32_t bits = (uint32_t)v;
  float f;
  memcpy(&f, &bits, 4);
  return (double)f;
}

static uint64_t from_float(double d, Type t) {
  if (t.bits == 64) {
    uint64_t v;
    memcpy(&v, &d, 8);
    return v;
  }
  if (t.bits == 16) {
    _Float16 h = (_Float16)d;
    uint16_t v;
    memcpy(&v, &h, 2);
    return v;
  }
  float f = (float)d;
  uint32_t v;
  memcpy(&v, &f, 4);
  return v;
}

/* ---- memory ---- */

static Space space_of(const Instr *i) {
  return instr_has(i, "param")    ? SPACE_PARAM
         : instr_has(i, "shared") ? SPACE_SHARED
         : instr_has(i, "local")  ? SPACE_LOCAL
                                  : SPACE_NONE;
}

static int vector_of(const Instr *i) { return instr_has(i, "v4") ? 4 : instr_has(i, "v2") ? 2 : 1; }

static bool do_ld(Machine *m, const Instr *i) {
  Type t = last_type(i);
  int n = vector_of(i);
  size_t nbytes = (size_t)t.bits / 8;
  each_thread(m, i, th) {
    const char *p = address(m, i, th, &i->operands[n], space_of(i), nbytes * (size_t)n);
    for (int k = 0; p && k < n; k++) {
      uint64_t v = 0;
      memcpy(&v, p + (size_t)k * nbytes, nbytes);
      set(m, th, &i->operands[k], t.kind == 's' ? (uint64_t)as_signed(v, t.bits) : v);
    }
  }
  return true;
}

static bool do_st(Machine *m, const Instr *i) {
  Type t = last_type(i);
  int n = vector_of(i);
  size_t nbytes = (size_t)t.bits / 8;
  each_thread(m, i, th) {
    char *p = address(m, i, th, &i->operands[0], space_of(i), nbytes * (size_t)n);
    for (int k = 0; p && k < n; k++) {
      uint64_t v = get(m, th, &i->operands[1 + k]);
      memcpy(p + (size_t)k * nbytes, &v, nbytes);
    }
  }
  return true;
}

/* cp.async.bulk... [to], [from], nbytes, [barrier] */
static bool do_bulk_copy(Machine *m, const Instr *i) {
  each_thread(m, i, t) {
    size_t nbytes = (size_t)get(m, t, &i->operands[2]);
    if (nbytes % 16) return machine_fault(m, i, "a bulk copy is of a multiple of 16 bytes");
    for (size_t at = 0; at < nbytes; at += 16) {
      Operand there = i->operands[0], here = i->operands[1];
      there.offset += (int64_t)at, here.offset += (int64_t)at;
      char *to = address(m, i, t, &there, SPACE_SHARED, 16);
      const char *from = address(m, i, t, &here, SPACE_NONE, 16);
      if (!to || !from) return false;
      memcpy(to, from, 16);
    }
    if (!barrier_complete(m, i, t, &i->operands[3], nbytes)) return false;
  }
  return true;
}

/* cp.async.cg.shared.global [to], [from], nbytes[, how many of them] */
static bool do_cp(Machine *m, const Instr *i) {
  if (instr_has(i, "bulk")) return do_bulk_copy(m, i);
  /* commit_group, wait_group, mbarrier.arrive: copies are done at once */
  if (!instr_has(i, "shared") || instr_has(i, "mbarrier")) return true;
  size_t nbytes = (size_t)i->operands[2].value;
  each_thread(m, i, t) {
    size_t count = i->n > 3 ? (size_t)get(m, t, &i->operands[3]) : nbytes;
    char *to = address(m, i, t, &i->operands[0], SPACE_SHARED, nbytes);
    const char *from = count ? address(m, i, t, &i->operands[1], SPACE_NONE, count) : "";
    if (!to || !from) return false;
    memset(to, 0, nbytes);
    memcpy(to, from, count);
  }
  return true;
}

static bool do_atom(Machine *m, const Instr *i) {
  Type t = last_type(i);
  int first = !strcmp(i->words[0], "red") ? 0 : 1;
  const char *op = i->words[i->n_words - 2];
  each_thread(m, i, th) {
    size_t nbytes = (size_t)t.bits / 8;
    char *p = address(m, i, th, &i->operands[first], space_of(i), nbytes);
    uint64_t old = 0, v = get(m, th, &i->operands[first + 1]), now = v;
    if (!p) return false;
    memcpy(&old, p, nbytes);
    int64_t a = as_signed(old, t.bits), b = as_signed(v, t.bits);
    if (!strcmp(op, "add"))
      now = t.kind == 'f' ? from_float(as_float(old, t) + as_float(v, t), t) : old + v;
    else if (!strcmp(op, "and")) now = old & v;
    else if (!strcmp(op, "or")) now = old | v;
    else if (!strcmp(op, "xor")) now = old ^ v;
    else if (!strcmp(op, "max")) now = t.kind == 's' ? (a > b ? old : v) : old > v ? old : v;
    else if (!strcmp(op, "min")) now = t.kind == 's' ? (a < b ? old : v) : old < v ? old : v;
    else if (strcmp(op, "exch")) return machine_fault(m, i, "the operation is not known");
    memcpy(p, &now, nbytes);
    if (first) set(m, th, &i->operands[0], old);
  }
  return true;
}

/* ---- moves ---- */

/* mov.b64 {a, b}, c and mov.b64 c, {a, b}: the parts lie from the lowest bits on. */
static bool do_mov(Machine *m, const Instr *i) {
  Type t = last_type(i);
  int left = 0, parts = i->n - 1;
  while (left < i->n && i->group[left] == 0) left++;
  each_thread(m, i, th) {
    if (parts == 1) set(m, th, &i->operands[0], get(m, th, &i->operands[1]));
    else if (left > 1) {
      uint64_t v = get(m, th, &i->operands[left]);
      for (int k = 0; k < left; k++)
        set(m, th, &i->operands[k], cut(v >> k * t.bits / left, t.bits / left));
    } else {
      uint64_t v = 0;
      for (int k = 0; k < parts; k++)
        v |= cut(get(m, th, &i->operands[1 + k]), t.bits / parts) << k * t.bits / parts;
      set(m, th, &i->operands[0], v);
    }
  }
  return true;
}

static double rounded(const Instr *i, double d) {
  return instr_has(i, "rni")   ? rint(d)
         : instr_has(i, "rmi") ? floor(d)
         : instr_has(i, "rpi") ? ceil(d)
         : instr_has(i, "rzi") ? trunc(d)
                               : d;
}

static uint64_t saturated(double d, Type t) {
  if (isnan(d)) return 0;
  double low = t.kind == 's' ? -ldexp(1, t.bits - 1) : 0,
         end = ldexp(1, t.kind == 's' ? t.bits - 1 : t.bits);
  if (d < low) return t.kind == 's' ? 1ull << (t.bits - 1) : 0;
  if (d >= end) return t.kind == 's' ? (1ull << (t.bits - 1)) - 1 : cut(~0ull, t.bits);
  return t.kind == 's' ? (uint64_t)(int64_t)d : (uint64_t)d;
}

/* The nearest bfloat16, a tie to the even one. */
static uint32_t to_bfloat16(double d) {
  float f = (float)d;
  uint32_t word;
  memcpy(&word, &f, 4);
  return isnan(f) ? 0x7fff : (word + 0x7fff + (word >> 16 & 1)) >> 16;
}

/* cvt.rn.f16x2.f32 d, high, low */
static bool do_cvt_pair(Machine *m, const Instr *i, const char *to) {
  Type half = type_of("f16"), from = last_type(i);
  bool is_half = !strcmp(to, "f16x2");
  if (!is_half && strcmp(to, "bf16x2")) return machine_fault(m, i, "the conversion is not known");
  each_thread(m, i, t) {
    uint64_t out = 0;
    for (int k = 1; k <= 2; k++) {
      double d = as_float(get(m, t, &i->operands[k]), from);
      out = out << 16 | (is_half ? from_float(d, half) : to_bfloat16(d));
    }
    set(m, t, &i->operands[0], out);
  }
  return true;
}

/* cvt[.rounding].to.from d, a; an integer goes to float in one rounding */
static bool do_cvt(Machine *m, const Instr *i) {
  if (strstr(i->words[i->n_words - 2], "x2")) return do_cvt_pair(m, i, i->words[i->n_words - 2]);
  Type to = type_of(i->words[i->n_words - 2]), from = last_type(i);
  each_thread(m, i, t) {
    uint64_t v = get(m, t, &i->operands[1]), out;
    int64_t s = as_signed(v, from.bits);
    if (from.kind == 'f') {
      double d = rounded(i, as_float(v, from));
      out = to.kind == 'f' ? from_float(d, to) : saturated(d, to);
    } else if (to.kind == 'f' && to.bits == 32) {
      float f = from.kind == 's' ? (float)s : (float)cut(v, from.bits);
      out = from_float((double)f, to);
    } else if (to.kind == 'f')
      out = from_float(from.kind == 's' ? (double)s : (double)cut(v, from.bits), to);
    else out = from.kind == 's' ? (uint64_t)s : cut(v, from.bits);
    if (to.kind != 'f')
      out = to.kind == 's' ? (uint64_t)as_signed(out, to.bits) : cut(out, to.bits);
    set(m, t, &i->operands[0], out);
  }
  return true;
}

/* ---- arithmetic ---- */

static double float_op(const char *op, double a, double b, double c, Type t, bool *known) {
  if (!strcmp(op, "add")) return a + b;
  if (!strcmp(op, "sub")) return a - b;
  if (!strcmp(op, "mul")) return a * b;
  if (!strcmp(op, "div")) return a / b;
  if (!strcmp(op, "fma"))
    return t.bits == 64 ? fma(a, b, c) : (double)fmaf((float)a, (float)b, (float)c);
  if (!strcmp(op, "neg")) return -a;
  if (!strcmp(op, "abs")) return fabs(a);
  if (!strcmp(op, "sqrt")) return t.bits == 64 ? sqrt(a) : (double)sqrtf((float)a);
  if (!strcmp(op, "rcp")) return 1 / a;
  if (!strcmp(op, "ex2")) return exp2(a);
  if (!strcmp(op, "min")) return fmin(a, b);
  if (!strcmp(op, "max")) return fmax(a, b);
  if (!strcmp(op, "copysign")) return copysign(b, a);
  *known = false;
  return 0;
}

static uint64_t int_op(const Instr *i, const uint64_t *in, Type t, bool *known) {
  uint64_t a = in[0], b = in[1], c = in[2];
  const char *op = i->words[0];
  bool is_signed = t.kind == 's';
  int64_t x = as_signed(a, t.bits), y = as_signed(b, t.bits);
  uint64_t u = cut(a, t.bits), v = cut(b, t.bits);
  __int128 product = is_signed ? (__int128)x * y : (__int128)((unsigned __int128)u * v);
  if (!strcmp(op, "add")) return a + b;
  if (!strcmp(op, "sub")) return a - b;
  if (!strcmp(op, "mul") || !strcmp(op, "mad")) {
    if (instr_has(i, "hi")) return (uint64_t)(product >> t.bits) + (op[1] == 'a' ? c : 0);
    return (uint64_t)product + (op[1] == 'a' ? c : 0);
  }
  if (!strcmp(op, "div"))
    return !v ? ~0ull : is_signed ? (y == -1 ? (uint64_t)-x : (uint64_t)(x / y)) : u / v;
  if (!strcmp(op, "rem")) return !v ? ~0ull : is_signed ? (y == -1 ? 0 : (uint64_t)(x % y)) : u % v;
  if (!strcmp(op, "min")) return is_signed ? (uint64_t)(x < y ? x : y) : u < v ? u : v;
  if (!strcmp(op, "max")) return is_signed ? (uint64_t)(x > y ? x : y) : u > v ? u : v;
  if (!strcmp(op, "neg")) return -a;
  if (!strcmp(op, "abs")) return (uint64_t)(x < 0 ? -x : x);
  if (!strcmp(op, "and")) return a & b;
  if (!strcmp(op, "or")) return a | b;
  if (!strcmp(op, "xor")) return a ^ b;
  if (!strcmp(op, "not")) return t.kind == 'p' ? !(a & 1) : ~a;
  if (!strcmp(op, "cnot")) return u == 0;
  if (!strcmp(op, "popc")) return (uint64_t)__builtin_popcountll(u);
  if (!strcmp(op, "clz"))
    return u ? (uint64_t)(__builtin_clzll(u) - 64 + t.bits) : (uint64_t)t.bits;
  uint64_t count = cut(b, 32);
  if (!strcmp(op, "shl")) return count >= (unsigned)t.bits ? 0 : a << count;
  if (!strcmp(op, "shr")) {
    if (count >= (unsigned)t.bits) return is_signed && x < 0 ? ~0ull : 0;
    return is_signed ? (uint64_t)(x >> count) : u >> count;
  }
  if (!strcmp(op, "bfe")) {
    int at = (int)(b & 255), n = (int)(c & 255);
    uint64_t field = at >= t.bits || !n ? 0 : cut(u >> at, n);
    return is_signed && n ? (uint64_t)as_signed(field, n) : field;
  }
  if (!strcmp(op, "bfi")) {
    int at = (int)(c & 255), n = (int)(in[3] & 255);
    uint64_t mask = at >= t.bits || !n ? 0 : cut(~0ull, n) << at;
    return (b & ~mask) | (a << (at & 63) & mask);
  }
  if (!strcmp(op, "shf")) { /* the high word of (b, a) moved left, or the low one moved right */
    uint64_t both = v << 32 | u;
    int n = (int)(c & 31);
    return instr_has(i, "l") ? (both << n) >> 32 : both >> n;
  }
  if (!strcmp(op, "prmt")) {
    uint64_t bytes = v << 32 | u, out = 0;
    for (int k = 0; k < 4; k++) out |= (bytes >> 8 * (c >> 4 * k & 7) & 255) << 8 * k;
    return out;
  }
  *known = false;
  return 0;
}

/* Of one value, or of one half of "f16x2". */
static uint64_t compute(const Instr *i, const uint64_t *v, Type t, bool *known) {
  if (t.kind != 'f') return int_op(i, v, t, known);
  double out =
      float_op(i->words[0], as_float(v[0], t), as_float(v[1], t), as_float(v[2], t), t, known);
  return from_float(out, t);
}

static bool do_math(Machine *m, const Instr *i) {
  Type t = last_type(i);
  const char *op = i->words[0];
  bool known = true, is_pair = strstr(i->words[i->n_words - 1], "x2") != NULL;
  bool counts = !strcmp(op, "popc") || !strcmp(op, "clz");
  int bits = counts ? 32 : instr_has(i, "wide") ? 2 * t.bits : t.bits;
  each_thread(m, i, th) {
    uint64_t v[4] = {0}, high[4];
    for (int k = 1; k < i->n && k <= 4; k++) v[k - 1] = get(m, th, &i->operands[k]);
    for (int k = 0; k < 4; k++) high[k] = v[k] >> 16;
    uint64_t out = cut(compute(i, v, t, &known), bits);
    if (is_pair) out |= cut(compute(i, high, t, &known), 16) << 16;
    if (!known) return machine_fault(m, i, "the operation is not known");
    set(m, th, &i->operands[0], out);
  }
  return true;
}

/* ---- comparisons ---- */

static bool compared(const char *op, double a, double b, bool unordered) {
  bool with_nan = strlen(op) == 3 && op[2] == 'u';
  if (!strcmp(op, "num")) return !unordered;
  if (!strcmp(op, "nan")) return unordered;
  if (unordered) return with_nan;
  return !strncmp(op, "eq", 2)   ? a == b
         : !strncmp(op, "ne", 2) ? a != b
         : !strncmp(op, "lt", 2) ? a < b
         : !strncmp(op, "le", 2) ? a <= b
         : !strncmp(op, "gt", 2) ? a > b
                                 : a >= b;
}

static bool compare_ints(const char *op, uint64_t a, uint64_t b, Type t) {
  int64_t x = as_signed(a, t.bits), y = as_signed(b, t.bits);
  uint64_t u = cut(a, t.bits), v = cut(b, t.bits);
  bool less = t.kind == 's' ? x < y : u < v;
  if (!strcmp(op, "eq")) return u == v;
  if (!strcmp(op, "ne")) return u != v;
  if (!strcmp(op, "lt") || !strcmp(op, "lo")) return less;
  if (!strcmp(op, "le") || !strcmp(op, "ls")) return less || u == v;
  return !strcmp(op, "gt") || !strcmp(op, "hi") ? !less && u != v : !less;
}

/* setp.op[.bool].type p, a, b[, q] */
static bool do_setp(Machine *m, const Instr *i) {
  if (strstr(i->words[i->n_words - 1], "x2"))
    return machine_fault(m, i, "the comparison is not known");
  Type t = last_type(i);
  each_thread(m, i, th) {
    uint64_t a = get(m, th, &i->operands[1]), b = get(m, th, &i->operands[2]);
    double x = t.kind == 'f' ? as_float(a, t) : 0, y = t.kind == 'f' ? as_float(b, t) : 0;
    bool p = t.kind == 'f' ? compared(i->words[1], x, y, isnan(x) || isnan(y))
                           : compare_ints(i->words[1], a, b, t);
    if (i->n > 3) {
      bool q = get(m, th, &i->operands[3]) & 1;
      p = instr_has(i, "and") ? p && q : instr_has(i, "or") ? p || q : p != q;
    }
    set(m, th, &i->operands[0], p);
  }
  return true;
}

static bool do_selp(Machine *m, const Instr *i) {
  each_thread(m, i, t)
      set(m, t, &i->operands[0], get(m, t, &i->operands[get(m, t, &i->operands[3]) & 1 ? 1 : 2]));
  return true;
}

/* ---- control ---- */

static bool do_bra(Machine *m, const Instr *i) {
  each_thread(m, i, t) m->pc[t] = (int)i->operands[0].value;
  return true;
}

static bool do_ret(Machine *m, const Instr *i) {
  each_thread(m, i, t) m->pc[t] = m->code->len;
  return true;
}

/* Threads that are done count as there. */
static bool do_bar(Machine *m, const Instr *i) {
  if (instr_has(i, "warp")) return true; /* its lanes step together, or meet soon */
  each_thread(m, i, t) m->waits[t] = true;
  return true;
}

static bool do_activemask(Machine *m, const Instr *i) {
  each_thread(m, i, t) {
    uint32_t mask = 0;
    for (int k = t - t % 32; k < m->n && k < t - t % 32 + 32; k++)
      mask |= (uint32_t)m->here[k] << k % 32;
    set(m, t, &i->operands[0], mask);
  }
  return true;
}

/* Memory is the same for all. */
static bool do_fence(Machine *m, const Instr *i) {
  (void)m, (void)i;
  return true;
}

Execute *ptx_instruction(const Instr *i) {
  static const struct {
    const char *name;
    Execute *execute;
  } rows[] = {{"ld", do_ld},
              {"st", do_st},
              {"mov", do_mov},
              {"cvt", do_cvt},
              {"setp", do_setp},
              {"selp", do_selp},
              {"bra", do_bra},
              {"ret", do_ret},
              {"bar", do_bar},
              {"barrier", do_bar},
              {"cp", do_cp},
              {"atom", do_atom},
              {"red", do_atom},
              {"activemask", do_activemask},
              {"shfl", warp_shuffle},
              {"ldmatrix", warp_ldmatrix},
              {"mma", warp_mma},
              {"wmma", warp_wmma},
              {"wgmma", warp_wgmma},
              {"fence", do_fence},
              {"mbarrier", thread_barrier}};
  static const char *const arithmetic[] = {"add",  "sub",  "mul", "mad",  "div", "rem", "min",
                                           "max",  "neg",  "abs", "and",  "or",  "xor", "not",
                                           "cnot", "popc", "clz", "shl",  "shr", "bfe", "bfi",
                                           "shf",  "prmt", "fma", "sqrt", "rcp", "ex2", "copysign"};
  for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
    if (!strcmp(rows[k].name, i->words[0])) return rows[k].execute;
  for (size_t k = 0; k < sizeof arithmetic / sizeof *arithmetic; k++)
    if (!strcmp(arithmetic[k], i->words[0])) return do_math;
  return NULL;
}
