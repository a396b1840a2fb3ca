/* diag.c -- gathers diagnostics and prints them with the source line and a caret. */
#include "ir/support/diag.h"

/* A line longer than this is shown in part, around the span. */
enum { LINE_SHOWN = 160, ERRORS_SHOWN = 100 };

static DiagVec first_list, *current = &first_list;

static Diag *new_diag(Severity severity, Span span, const char *format, va_list args) {
  return NEW(Diag, .severity = severity, .span = span, .text = str_vformat(format, args));
}

static Diag *report(Severity severity, Span span, const char *format, va_list args) {
  Diag *d = new_diag(severity, span, format, args);
  vec_push(current, d);
  return d;
}

Diag *diag_error(Span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  Diag *d = report(DIAG_ERROR, span, format, args);
  va_end(args);
  return d;
}

Diag *diag_warning(Span span, const char *format, ...) {
  va_list args;
  va_start(args, format);
  Diag *d = report(DIAG_WARNING, span, format, args);
  va_end(args);
  return d;
}

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

void diag_print(FILE *out, const Diag *d, bool colour) {
  Location loc = source_locate(d->span.lo);
  const char *tint = colour ? severities[d->severity].colour : "", *plain = colour ? "\033[0m" : "";
  if (loc.source) fprintf(out, "%s:%d:%d: ", loc.source->name, loc.line, loc.column);
  else if (d->severity < DIAG_NOTE) fprintf(out, "tvms: ");
  else fprintf(out, "       = ");
  fprintf(out, "%s%s:%s %s\n", tint, severities[d->severity].word, plain, d->text);
  if (loc.source) print_caret_line(out, &loc, d->span, tint);
  for each (Diag *, note, &d->notes) diag_print(out, *note, colour);
}

int diag_flush(FILE *out, bool colour) {
  int errors = 0;
  for each (Diag *, d, current) {
    errors += (*d)->severity == DIAG_ERROR;
    if (errors <= ERRORS_SHOWN) diag_print(out, *d, colour);
  }
  if (errors > ERRORS_SHOWN)
    fprintf(out, "tvms: %d more errors are not shown\n", errors - ERRORS_SHOWN);
  *current = (DiagVec){0};
  return errors;
}
