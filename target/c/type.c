/* type.c -- types and literals of C. */
#include "target/c/c.h"
#include <math.h>
#include <stdlib.h>

const CDialect c_dialect = {.name = "the c target", .is_host = true, .function = "static inline "};

void c_check_type(CGen *g, DataType t, Span span) {
  const char *lack = g->dialect->lacks ? g->dialect->lacks(t) : NULL;
  if (lack)
    error_raisef("CompileError", span, "%s has no %s: %s", g->dialect->name,
                 dtype_text(dtype_element(t)), lack);
  if (dtype_is_custom(t) || (dtype_is_mini_float(t) && !c_has_format(g, t)))
    error_raisef("CompileError", span, "%s has no %s", g->dialect->name, dtype_text(t));
  if (!c_has_vector(g, t))
    error_raisef("CompileError", span, "%s: %s has no vectors here", dtype_text(t),
                 g->dialect->name);
}

const char *c_type(CGen *g, DataType t) {
  if (g->dialect->type) return g->dialect->type(t);
  if (t.lanes > 1) return c_vector_type(g, t);
  switch ((DTypeCode)t.code) {
  case DTYPE_INT: return str_format("int%d_t", t.bits < 8 ? 8 : t.bits);
  case DTYPE_BOOL: return "bool";
  case DTYPE_HANDLE: return "void *";
  case DTYPE_VOID: return "void";
  case DTYPE_FLOAT:
    if (t.bits > 16) return t.bits == 32 ? "float" : "double";
    return "uint16_t";
  default: return str_format("uint%d_t", t.bits < 8 ? 8 : t.bits);
  }
}

const char *c_type_in_memory(CGen *g, DataType t) {
  return dtype_is_bool(t) ? "uint8_t" : c_type(g, t);
}

const char *c_pointer(CGen *g, DataType elem) {
  const char *type = c_type_in_memory(g, elem);
  return str_format("%s%s*", type, dtype_is_handle(elem) ? "" : " ");
}

const char *c_pointer_to(CGen *g, const CVar *v) {
  return str_format("%s%s", v->space ? v->space : "", c_pointer(g, v->elem));
}

const char *c_declare_as(CGen *g, DataType t, const char *name) {
  if (g->dialect->declare) return g->dialect->declare(g->dialect->type(t), name);
  return str_format("%s%s%s", c_type(g, t), dtype_is_handle(t) ? "" : " ", name);
}

const char *c_declare(CGen *g, Node *var, const CVar *v) {
  if (dtype_is_handle(var->dtype))
    return str_format("%s%s%s", v->is_const ? "const " : "", c_pointer_to(g, v), v->name);
  return c_declare_as(g, var->dtype, v->name);
}

DataType c_compute(DataType t) { return lowered_is_small_float(t) ? FLOAT32 : t; }

CText c_int(CGen *g, DataType t, int64_t value, bool typed) {
  if (g->dialect->integer && !dtype_is_float(t)) return g->dialect->integer(g, t, value);
  if (dtype_is_float(t)) return c_float(g, t, (double)value);
  if (dtype_is_bool(t)) return (CText){value ? "true" : "false", BINDS_ATOM};
  if (dtype_is_handle(t)) {
    if (!value) return (CText){"NULL", BINDS_ATOM};
    return c_text(BINDS_UNARY, "(void *)(uintptr_t)UINT64_C(%llu)", (unsigned long long)value);
  }
  bool is_unsigned = t.code == DTYPE_UINT;
  if (is_unsigned && t.bits == 64 && (typed || value < 0 || value > INT32_MAX))
    return c_text(BINDS_ATOM, "UINT64_C(%llu)", (unsigned long long)value);
  if (is_unsigned && t.bits == 32 && (typed || value > INT32_MAX))
    return c_text(BINDS_ATOM, "%lluu", (unsigned long long)value);
  if (value == dtype_min_int(t) && t.bits >= 32 && !is_unsigned)
    return c_text(BINDS_ATOM, "INT%d_MIN", t.bits);
  bool is_wide = t.bits == 64 && (typed || value > INT32_MAX || value < -INT32_MAX);
  const char *digits = str_format("%lld", (long long)(value < 0 ? -value : value));
  if (is_wide) digits = str_format("INT64_C(%s)", digits);
  return value < 0 ? c_text(BINDS_UNARY, "-%s", digits) : (CText){digits, BINDS_ATOM};
}

/* The shortest decimal that reads back. */
const char *c_decimal(double value, bool is_double) {
  char text[64];
  for (int digits = is_double ? 15 : 6; digits <= 17; digits++) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (is_double ? strtod(text, NULL) == value : strtof(text, NULL) == (float)value) break;
  }
  bool has_point = strpbrk(text, ".e") != NULL;
  return str_format("%s%s%s", text, has_point ? "" : ".0", is_double ? "" : "f");
}

CText c_float(CGen *g, DataType t, double value) {
  if (g->dialect->real) return g->dialect->real(g, t, value);
  if (lowered_is_small_float(t))
    return c_text(BINDS_ATOM, "0x%0*x", t.bits / 4, dtype_float_to_bits(t, value));
  bool is_double = t.bits == 64;
  const char *special = isnan(value) ? "NAN" : isinf(value) ? "INFINITY" : NULL;
  Binding sign = signbit(value) ? BINDS_UNARY : BINDS_ATOM;
  const char *size = special ? str_format("%s%s", is_double ? "(double)" : "", special)
                             : c_decimal(fabs(value), is_double);
  if (special && is_double) sign = BINDS_UNARY;
  return (CText){signbit(value) ? str_format("-%s", size) : size, sign};
}

/* Octal escapes have three digits, so that what follows can't become part of one; two question
 * marks would begin a trigraph. */
const char *c_string(const char *text) {
  Str s = {0};
  str_add(&s, "\"");
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '\n') str_add(&s, "\\n");
    else if (*c == '"' || *c == '\\') str_printf(&s, "\\%c", *c);
    else if (*c < 32 || *c > 126 || (*c == '?' && c[1] == '?')) str_printf(&s, "\\%03o", *c);
    else str_add_char(&s, (char)*c);
  }
  str_add(&s, "\"");
  return str_text(&s);
}
