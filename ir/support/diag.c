/* diag.c -- gathers diagnostics and prints them with the source line and a caret. */
#include "ir/support/progress.h"
#include "ir/support/diag.h"
#include "ir/support/gc.h"
#include "ir/support/map.h"

/* A line longer than this is shown in part, around the span. */
enum { LINE_SHOWN = 160, ERRORS_SHOWN = 100 };

static DiagVec first_list, *current = &first_list;

static Diag *new_diag(Severity severity, Span span, const char *format, va_list args) {
  return NEW(Diag, .severity = severity, .span = span, .text = str_vformat(format, args));
}

static Diag *report(Severity severity, DiagCode code, Span span, const char *format, va_list args) {
  Diag *d = new_diag(severity, span, format, args);
  d->code = code;
  vec_push(current, d);
  return d;
}

Diag *diag_fault(DiagCode code, Span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  Diag *d = report(DIAG_ERROR, code, span, format, args);
  va_end(args);
  return d;
}

Diag *diag_error(Span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  Diag *d = report(DIAG_ERROR, NO_CODE, span, format, args);
  va_end(args);
  return d;
}

/* ---- warnings ---- */

typedef enum { WARN_USUALLY, WARN_ON, WARN_OFF, WARN_AS_ERROR } WarnState;
static WarnState warnings[CODE_COUNT], all_warnings;

bool diag_set_warning(const char *flag) {
  bool off = strncmp(flag, "no-", 3) == 0;
  const char *name = off ? flag + 3 : flag;
  bool as_error = strncmp(name, "error=", 6) == 0;
  if (as_error) name += 6;
  if (strcmp(name, "all") == 0) {
    for (DiagCode c = NO_CODE + 1; c < CODE_COUNT; c++) warnings[c] = off ? WARN_OFF : WARN_ON;
    return true;
  }
  if (strcmp(name, "error") == 0) return all_warnings = off ? WARN_USUALLY : WARN_AS_ERROR, true;
  DiagCode c = code_of_warning(name);
  if (c) warnings[c] = off ? WARN_OFF : as_error ? WARN_AS_ERROR : WARN_ON;
  return c != NO_CODE;
}

Diag *diag_warning(DiagCode code, Span span, const char *format, ...) {
  WarnState state = warnings[code];
  if (state == WARN_OFF || (state == WARN_USUALLY && !code_row(code)->usual)) return NULL;
  bool is_error = state == WARN_AS_ERROR || all_warnings == WARN_AS_ERROR;
  va_list args;
  va_start(args, format);
  Diag *d = report(is_error ? DIAG_ERROR : DIAG_WARNING, code, span, format, args);
  va_end(args);
  return d;
}

/* ---- notes ---- */

void diag_note(Diag *d, Span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vec_push(&d->notes, new_diag(DIAG_NOTE, span, format, args));
  va_end(args);
}

void diag_help(Diag *d, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vec_push(&d->notes, new_diag(DIAG_HELP, (Span){0}, format, args));
  va_end(args);
}

void diag_near(Diag *d, const char *name, const char *const *options, int n) {
  const char *near = str_near(name, options, n);
  if (near) diag_help(d, "did you mean '%s'?", near);
}

DiagVec *diag_capture(void) {
  DiagVec *old = current;
  current = NEW(DiagVec, 0);
  return old;
}

DiagVec *diag_restore(DiagVec *old) {
  DiagVec *captured = current;
  current = old;
  return captured;
}

void diag_append(const DiagVec *more) {
  for each (Diag *, d, more) vec_push(current, *d);
}

int diag_error_count(void) {
  int n = 0;
  for each (Diag *, d, current) n += (*d)->severity == DIAG_ERROR;
  return n;
}

static const struct {
  const char *word, *colour;
} severities[] = {
    [DIAG_ERROR] = {"error", "\033[1;31m"},
    [DIAG_WARNING] = {"warning", "\033[1;35m"},
    [DIAG_NOTE] = {"note", "\033[1;36m"},
    [DIAG_HELP] = {"help", "\033[1;32m"},
};

/* Prints bytes [lo, hi) of a line; control characters as one blank, so that carets stay in place.
 */
static void print_line_part(FILE *out, const char *line, size_t lo, size_t hi) {
  for (size_t i = lo; i < hi; i++) {
    unsigned char c = (unsigned char)line[i];
    fputc(c < 0x20 || c == 0x7f ? ' ' : c, out);
  }
}

static size_t count_columns(const char *line, size_t lo, size_t hi) {
  size_t n = 0;
  for (size_t i = lo; i < hi; i++) n += (line[i] & 0xc0) != 0x80;
  return n;
}

static void print_caret_line(FILE *out, const Location *loc, Span span, const char *colour) {
  const char *line = loc->line_text;
  size_t at = (size_t)(loc->source->text + (span.lo - loc->source->base) - line);
  size_t end = at + (span.hi > span.lo ? span.hi - span.lo : 1);
  if (end > loc->line_length) end = loc->line_length;
  size_t lo = at > LINE_SHOWN / 2 ? at - LINE_SHOWN / 2 : 0, hi = loc->line_length;
  if (hi <= LINE_SHOWN) lo = 0;
  if (hi - lo > LINE_SHOWN) hi = lo + LINE_SHOWN;
  while (lo < at && (line[lo] & 0xc0) == 0x80) lo++; /* not inside a character */
  while (hi > lo && hi < loc->line_length && (line[hi] & 0xc0) == 0x80) hi--;
  if (end > hi) end = hi;
  bool cut = hi < loc->line_length;
  fprintf(out, "%6d | %s", loc->line, lo ? "..." : "");
  print_line_part(out, line, lo, hi);
  fprintf(out, "%s\n       | %s", cut ? "..." : "", lo ? "   " : "");
  for (size_t i = count_columns(line, lo, at); i > 0; i--) fputc(' ', out);
  fprintf(out, "%s^", colour);
  for (size_t i = at < end ? count_columns(line, at, end) : 0; i > 1; i--) fputc('~', out);
  fprintf(out, "%s\n", *colour ? "\033[0m" : "");
}

/* "E0312", or for a warning "-Wunused-variable"; NULL without a code. */
static const char *code_text(const Diag *d) {
  const CodeRow *row = code_row(d->code);
  return row->warning ? str_format("-W%s", row->warning) : row->name;
}

static void print_text(FILE *out, const Diag *d, bool colour) {
  Location loc = source_locate(d->span.lo);
  const char *tint = colour ? severities[d->severity].colour : "", *plain = colour ? "\033[0m" : "";
  const char *code = code_text(d);
  if (loc.source) fprintf(out, "%s:%d:%d: ", loc.source->name, loc.line, loc.column);
  else if (d->severity < DIAG_NOTE) fprintf(out, "tvms: ");
  else fprintf(out, "       = ");
  fprintf(out, "%s%s%s%s%s:%s %s\n", tint, severities[d->severity].word, code ? "[" : "",
          code ? code : "", code ? "]" : "", plain, d->text);
  if (loc.source) print_caret_line(out, &loc, d->span, tint);
  for each (Diag *, note, &d->notes) print_text(out, *note, colour);
}

/* ---- JSON ---- */

static void add_key(Str *s, const char *key, const char *text) {
  str_printf(s, "%s\"%s\":", s->at[s->len - 1] == '{' ? "" : ",", key);
  if (text) str_add_json(s, text);
  else str_add(s, "null");
}

static void add_place(Str *s, Span span) {
  Location lo = source_locate(span.lo), hi = source_locate(span.hi > span.lo ? span.hi : span.lo);
  add_key(s, "file", lo.source ? lo.source->name : NULL);
  if (!lo.source) return;
  str_printf(s, ",\"line\":%d,\"column\":%d,\"end\":{\"line\":%d,\"column\":%d}", lo.line,
             lo.column, hi.line, hi.column);
}

/* Help is what to write instead; every other note tells a place, or a reason. */
static const char *suggestion_of(const Diag *d) {
  for each (Diag *, note, &d->notes)
    if ((*note)->severity == DIAG_HELP) return (*note)->text;
  return NULL;
}

static void add_json(Str *s, const Diag *d) {
  str_add(s, "{");
  add_place(s, d->span);
  add_key(s, "severity", severities[d->severity].word);
  if (d->severity < DIAG_NOTE) add_key(s, "code", code_row(d->code)->name);
  add_key(s, "message", d->text);
  if (d->severity < DIAG_NOTE) {
    str_add(s, ",\"notes\":[");
    for (int i = 0; i < d->notes.len; i++) {
      if (i) str_add(s, ",");
      add_json(s, d->notes.at[i]);
    }
    str_add(s, "]");
    add_key(s, "suggestion", suggestion_of(d));
  }
  str_add(s, "}");
}

void diag_print(FILE *out, const Diag *d, DiagForm form) {
  progress_clear();
  if (form != DIAG_JSON) {
    print_text(out, d, form == DIAG_COLOUR);
    return;
  }
  Str s = {0};
  add_json(&s, d);
  fprintf(out, "%s\n", str_text(&s));
}

/* The last diagnostic at each place, and the one before it there, by their numbers + 1. */
typedef struct Told {
  Map last;
  int *before;
} Told;

/* A loop of the script that writes out statements meets a fault of theirs once for each value.
 * Looks back at no more faults of a place than are shown. */
static bool is_told(Told *told, const DiagVec *list, int n) {
  const Diag *d = list->at[n];
  const void *place = (const void *)(uintptr_t)((uint64_t)d->span.lo + 1);
  int last = (int)(intptr_t)map_get(&told->last, place), steps = 0;
  for (int i = last; i && steps < ERRORS_SHOWN; i = told->before[i - 1], steps++) {
    const Diag *other = list->at[i - 1];
    if (other->span.hi == d->span.hi && other->code == d->code && other->severity == d->severity &&
        strcmp(other->text, d->text) == 0)
      return true;
  }
  told->before[n] = last;
  map_set(&told->last, place, (void *)(intptr_t)(n + 1));
  return false;
}

int diag_flush(FILE *out, DiagForm form) {
  int errors = 0;
  Told told = {.before = NEW_ARRAY(int, current->len + 1)};
  for each (Diag *, d, current) {
    if (is_told(&told, current, (int)(d - current->at))) continue;
    errors += (*d)->severity == DIAG_ERROR;
    if (errors <= ERRORS_SHOWN || form == DIAG_JSON) diag_print(out, *d, form);
  }
  if (errors > ERRORS_SHOWN && form != DIAG_JSON)
    fprintf(out, "tvms: %d more errors are not shown\n", errors - ERRORS_SHOWN);
  *current = (DiagVec){0};
  return errors;
}
