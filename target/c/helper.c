/* helper.c -- makes the helpers of helper.def, for the types that need them. */
#include "target/c/c.h"
#include "target/small_float.h"
#include <ctype.h>

static const CHelper helpers[] = {
#define HELPER(name, c_name, text) {#name, c_name, text},
#include "target/c/helper.def"
    {NULL, NULL, NULL}};

static const CHelper *row_of(const CHelper *rows, const char *name) {
  for (; rows && rows->name; rows++)
    if (str_same(rows->name, name)) return rows;
  return NULL;
}

bool c_has_helper(CGen *g, const char *name, DataType t) {
  const char *row = g->dialect->helper ? g->dialect->helper(name, t) : name;
  return row_of(g->dialect->helpers, row) != NULL;
}

static const char *format_number(const char *word, DataType t) {
  SmallFloat f = small_float_of(t);
  const struct {
    const char *word;
    uint32_t value;
  } numbers[] = {
      {"size", f.size},
      {"sign", f.sign},
      {"up", f.up},
      {"drop", f.drop},
      {"half", f.half},
      {"rebias", f.rebias},
      {"scale", f.scale},
      {"magic", f.magic},
      {"last", f.last},
      {"over", f.over},
      {"normal", f.normal},
      {"nan", f.nan},
      /* Of a format with the exponents of float32, subnormals are as other numbers. */
      {"subnormal", f.rebias ? 1u << f.mantissa : 0},
      {"rounded", f.rebias ? f.normal : 0},
      {"unit", f.rebias ? (128 - f.bias - f.mantissa) << 23 : 0},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
    if (str_same(numbers[i].word, word))
      return str_format(numbers[i].value < 64 ? "%u" : "0x%x", numbers[i].value);
  BUG("helper.def: what is $%s?", word);
}

static const char *unsigned_arithmetic(DataType t) { return t.bits > 32 ? "uint64_t" : "uint32_t"; }

/* low and high are literals of the float type `from`. */
static const char *int_number(CGen *g, const char *word, DataType t, DataType from) {
  bool is_signed = t.code == DTYPE_INT;
  int exponent = t.bits - is_signed;
  if (str_same(word, "least")) return c_int(g, t, dtype_min_int(t), true).at;
  if (str_same(word, "most"))
    return c_int(g, t, is_signed || t.bits < 64 ? dtype_max_int(t) : -1, true).at;
  const char *suffix = from.bits == 64 ? "" : "f";
  if (str_same(word, "low"))
    return is_signed ? str_format("%.1f%s", (double)dtype_min_int(t), suffix) : "0";
  if (str_same(word, "high"))
    return str_format("%.1f%s", (double)(1ull << (exponent - 1)) * 2, suffix);
  if (str_same(word, "mask")) return str_format("%uu", (1u << t.bits) - 1);
  if (str_same(word, "top")) return str_format("%d", 1 << (t.bits - 1));
  return NULL;
}

static const char *expand_word(CGen *g, const char *word, const char *c_name, DataType t,
                               DataType from) {
  bool is_small = lowered_is_small_float(t);
  const struct {
    const char *word, *text;
  } words[] = {
      {"n", c_name},
      {"T", c_type(g, t)},
      {"t", dtype_text(t)},
      {"F", c_type(g, from)},
      {"f", dtype_text(from)},
      {"U", unsigned_arithmetic(t)},
      {"C", c_type(g, c_compute(t))},
      {"s", c_suffix(g, t)},
      {"B", str_format("%d", t.bits - 1)},
      {"W", t.bits > 32 ? "unsigned long long" : "unsigned int"},
  };
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (str_same(words[i].word, word)) return words[i].text;
  if (str_same(word, "w")) return is_small ? c_helper(g, "widen", t, VOID_TYPE) : "";
  if (str_same(word, "r")) return is_small ? c_helper(g, "narrow", t, VOID_TYPE) : "";
  DataType bits = DTYPE_OF(UINT, t.bits);
  if (str_same(word, "asword")) return c_bits_function(g, bits, t);
  if (str_same(word, "asvalue")) return c_bits_function(g, t, bits);
  if (str_same(word, "fit")) return t.bits < 32 ? c_helper(g, "fit", t, VOID_TYPE) : "";
  if (str_same(word, "sign") && t.bits == 32) return "0x80000000";
  if (str_same(word, "bias")) return t.code == DTYPE_INT ? "0x80000000" : "0";
  if (c_has_helper(g, word, t)) return c_helper(g, word, t, from);
  if (str_same(word, "lane")) return c_helper(g, "lane", INT32, VOID_TYPE);
  if (str_same(word, "asfloat")) return c_bits_function(g, FLOAT32, DTYPE_OF(UINT, 32));
  if (str_same(word, "asbits")) return c_bits_function(g, DTYPE_OF(UINT, 32), FLOAT32);
  const char *number = dtype_is_int(t) ? int_number(g, word, t, from) : NULL;
  return number ? number : format_number(word, t);
}

static const char *expand(CGen *g, const char *text, const char *c_name, DataType t,
                          DataType from) {
  Str s = {0};
  while (*text) {
    if (*text != '$') {
      str_add_char(&s, *text++);
      continue;
    }
    bool braced = *++text == '{';
    size_t n = 0;
    text += braced;
    while (braced ? text[n] != '}' : isalpha((unsigned char)text[n])) n++;
    str_add(&s, expand_word(g, str_copy_n(text, n), c_name, t, from));
    text += n + braced;
  }
  return str_text(&s);
}

const char *c_bits_function(CGen *g, DataType to, DataType from) {
  return g->dialect->bits ? g->dialect->bits(to, from) : c_helper(g, "bits", to, from);
}

/* -0 is NaN in some formats; one holds powers of two. */
static const char *of_format(const char *name, DataType t) {
  bool widens = str_same(name, "widen"), narrows = str_same(name, "narrow");
  if (!widens && !narrows) return name;
  SmallFloat f = small_float_of(t);
  if (f.is_power) return widens ? "widen_power" : "narrow_power";
  if (f.zero_is_nan) return widens ? "widen_zero_nan" : "narrow_zero_nan";
  return name;
}

static const CHelper *find_helper(CGen *g, const char *name, DataType t) {
  name = of_format(name, t);
  if (g->dialect->helper) name = g->dialect->helper(name, t);
  const CHelper *row = row_of(g->dialect->helpers, name);
  return row || g->dialect->type ? row : row_of(helpers, name);
}

bool c_has_format(CGen *g, DataType t) {
  return small_float_known(t) && find_helper(g, "widen", t) != NULL;
}

const char *c_helper(CGen *g, const char *name, DataType t, DataType from) {
  const CHelper *row = find_helper(g, name, t);
  REQUIRE(row, "there is no helper '%s'", name);
  const char *c_name = str_intern(expand(g, row->c_name, "", t, from));
  if (map_has(&g->helpers, c_name)) return c_name;
  const char *text = expand(g, row->text, c_name, t, from);
  map_set(&g->helpers, c_name, (void *)(uintptr_t)str_format("%s%s", g->dialect->function, text));
  return c_name;
}
