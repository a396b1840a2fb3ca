/* line_editor.h -- lines from a person: by libedit, which is loaded when first needed, or plainly.
 */
#ifndef LANG_TOOL_LINE_EDITOR_H
#define LANG_TOOL_LINE_EDITOR_H

#include "lang/lang.h"

typedef enum { LINE_READ, LINE_END, LINE_INTERRUPTED } LineResult;

/* On a terminal: editing, history, completion. Else lines as they come, without a prompt. */
void line_editor_start(void);
void line_editor_end(void); /* saves the history */

/* Reads a line, without its newline. */
LineResult line_editor_read(const char *prompt, const char **line);
/* Puts blanks at the start of the line that is read next, if a person types it. */
void line_editor_indent(size_t n);
/* Is more input there already: a paste, or the rest of a file? */
bool line_editor_has_more(void);
void line_editor_remember(const char *text); /* for the history */

int terminal_columns(void); /* 80 where there is no terminal */

/* What the word before `cursor` could become: adds whole words. *start: where the word begins. */
extern void (*line_editor_complete)(const char *line, size_t cursor, size_t *start, StrVec *words);

#endif
