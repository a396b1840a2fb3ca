/* dtype.c -- element types as text: "float32", "int8x4", "bool". */
#include "target/runtime/runtime_impl.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names that end in a width are a prefix and the widths it may have. */
static const struct {
  const char *prefix;
  uint8_t code;
  uint8_t widths[8];
} families[] = {
    {"int", kDLInt, {1, 2, 4, 8, 16, 32, 64}}, {"uint", kDLUInt, {1, 2, 4, 8, 16, 32, 64}},
    {"float", kDLFloat, {16, 32, 64}},         {"bfloat", kDLBfloat, {16}},
    {"complex", kDLComplex, {64, 128}},
};

static const struct {
  const char *name;
  uint8_t code, bits;
} singles[] = {
    {"bool", kDLBool, 8},
    {"handle", kDLOpaqueHandle, 64},
    {"float8_e4m3fn", 10, 8},
    {"float8_e5m2", 12, 8},
};

#define LENGTH(a) ((int)(sizeof(a) / sizeof *(a)))

static bool has_width(int family, unsigned long bits) {
  for (int i = 0; i < 8 && families[family].widths[i]; i++)
    if (families[family].widths[i] == bits) return true;
  return false;
}

/* The text behind the element type, or NULL if there is none at the start. */
static const char *parse_element(const char *text, DLDataType *out) {
  for (int i = 0; i < LENGTH(singles); i++) {
    size_t n = strlen(singles[i].name);
    if (strncmp(text, singles[i].name, n) != 0) continue;
    *out = (DLDataType){singles[i].code, singles[i].bits, 1};
    return text + n;
  }
  for (int i = 0; i < LENGTH(families); i++) {
    size_t n = strlen(families[i].prefix);
    if (strncmp(text, families[i].prefix, n) != 0 || text[n] < '1' || text[n] > '9') continue;
    char *end;
    unsigned long bits = strtoul(text + n, &end, 10);
    if (!has_width(i, bits)) return NULL;
    *out = (DLDataType){families[i].code, (uint8_t)bits, 1};
    return end;
  }
  return NULL;
}

int tvms_dtype_parse(const char *text, DLDataType *out) {
  DLDataType t;
  const char *rest = parse_element(text, &t);
  if (rest && rest[0] == 'x' && rest[1] >= '1' && rest[1] <= '9') {
    char *end;
    unsigned long lanes = strtoul(rest + 1, &end, 10);
    if (lanes > INT16_MAX) return tvms_set_error("dtype '%.40s' has too many lanes", text);
    t.lanes = (uint16_t)lanes;
    rest = end;
  }
  if (!rest || *rest) return tvms_set_error("'%.40s' is not a dtype", text);
  *out = t;
  return 0;
}

void tvms_dtype_text(DLDataType t, char *out, size_t out_size) {
  char element[24];
  snprintf(element, sizeof element, "dlpack%d.%d", t.code, t.bits);
  for (int i = 0; i < LENGTH(families); i++)
    if (families[i].code == t.code && has_width(i, t.bits))
      snprintf(element, sizeof element, "%s%d", families[i].prefix, t.bits);
  for (int i = 0; i < LENGTH(singles); i++)
    if (singles[i].code == t.code && singles[i].bits == t.bits)
      snprintf(element, sizeof element, "%s", singles[i].name);
  if (t.lanes == 1) snprintf(out, out_size, "%s", element);
  else snprintf(out, out_size, "%sx%d", element, t.lanes);
}

size_t tvms__dtype_element_bytes(DLDataType t) { return ((size_t)t.bits * t.lanes + 7) / 8; }

bool tvms__dtype_same(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}
