/* unicode.c -- letters and their case, by the C library's tables of the locale C.UTF-8. Where a
 * system lacks that locale, only ASCII letters have a case. */
#include "lang/value/object.h"
#include <locale.h>
#include <wchar.h>
#include <wctype.h>

static locale_t tables(void) {
  static locale_t l;
  static bool asked;
  if (!asked) l = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
  asked = true;
  return l;
}

static bool is_letter_of(uint32_t c, char low, char high) {
  return c >= (unsigned char)low && c <= (unsigned char)high;
}

uint32_t unicode_upper(uint32_t c) {
  if (c < 0x80 || !tables()) return is_letter_of(c, 'a', 'z') ? c - 32 : c;
  return towupper_l((wint_t)c, tables());
}

uint32_t unicode_lower(uint32_t c) {
  if (c < 0x80 || !tables()) return is_letter_of(c, 'A', 'Z') ? c + 32 : c;
  return towlower_l((wint_t)c, tables());
}

bool unicode_is_alpha(uint32_t c) {
  if (c < 0x80 || !tables()) return is_letter_of(c | 32, 'a', 'z');
  return iswalpha_l((wint_t)c, tables());
}

bool unicode_is_space(uint32_t c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 28 && c <= 31) || c == 0x85 || c == 0xa0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

bool unicode_is_digit(uint32_t c) { return is_letter_of(c, '0', '9'); }

/* What neither shows nor takes room, and what is for private use: glibc takes it for printable. */
static bool is_hidden(uint32_t c) {
  static const uint32_t ranges[][2] = {{0xad, 0xad},     {0x600, 0x605},     {0x61c, 0x61c},
                                       {0x180e, 0x180e}, {0x200b, 0x200f},   {0x202a, 0x202e},
                                       {0x2060, 0x206f}, {0xd800, 0xf8ff},   {0xfeff, 0xfeff},
                                       {0xfff9, 0xfffb}, {0xe0001, 0x10ffff}};
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
    if (c >= ranges[i][0] && c <= ranges[i][1]) return true;
  return false;
}

bool unicode_is_printable(uint32_t c) {
  if (c < 0xa1) return c >= 0x20 && c < 0x7f;
  if (is_hidden(c) || unicode_is_space(c)) return false;
  return !tables() || iswprint_l((wint_t)c, tables());
}
