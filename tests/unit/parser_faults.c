/* parser_faults.c -- unit tests of parser/: what it says about faults, and texts that are nasty. */
#include "parser/parser.h"
#include "ir/support/diag.h"
#include "tests/unit/unit.h"
#include <stdio.h>
#include <time.h>

/* ---- help for these tests ---- */

static void add_diag(Str *out, const Diag *d) {
  static const char *const words[] = {"", "warning: ", "note: ", "help: "};
  Location at = source_locate(d->span.lo);
  if (at.source) str_printf(out, "%d:%d: ", at.line, at.column);
  str_printf(out, "%s%s\n", words[d->severity], d->text);
  for each (Diag *, note, &d->notes) add_diag(out, *note);
}

/* Parses the text; returns what is reported first, one a line: "line:column: text". */
static const char *report(const char *text, size_t len) {
  DiagVec *outer = diag_capture();
  parse_module(source_add("test", text, len));
  Str out = {0};
  DiagVec *got = diag_restore(outer);
  for (int i = 0; i < got->len && i < 100; i++) add_diag(&out, got->at[i]);
  return str_text(&out);
}

static bool report_is(const char *text, const char *reports) {
  const char *got = report(text, strlen(text));
  bool good = strcmp(got, reports) == 0;
  if (!good) printf("text:\n%sexpected:\n%sfound:\n%s", text, reports, got);
  return good;
}

#define faults(text, reports) CHECK(report_is(text, reports))

/* ---- messages ---- */

TEST(a_header_without_its_colon_is_reported_and_its_block_read) {
  faults("with R.dataflow()\n  x = = 1\n",
         "1:18: expected ':' after 'with' header, found end of line\n"
         "2:7: expected expression, found '='\n");
  faults("if a\n  b\nelse\n  c d\n", "1:5: expected ':' after 'if' header, found end of line\n"
                                     "3:5: expected ':' after 'else' header, found end of line\n"
                                     "4:5: expected end of line, found name 'd'\n");
  faults("def f()\n  pass\n", "1:8: expected ':' after 'def' header, found end of line\n");
  faults("class A\n  pass\n", "1:8: expected ':' after 'class' header, found end of line\n");
  faults("while a  # c\n  b\n", "1:8: expected ':' after 'while' header, found end of line\n");
  faults("for a in b\nc\n", "1:11: expected ':' after 'for' header, found end of line\n");
  faults("try\n  a\nexcept\n  b\n", "1:4: expected ':' after 'try' header, found end of line\n"
                                    "3:7: expected ':' after 'except' header, found end of line\n");
  faults("with a as b, c\n  d e\n", "1:15: expected ':' after 'with' header, found end of line\n"
                                    "2:5: expected end of line, found name 'e'\n");
}

TEST(a_header_that_does_not_parse_is_reported_once) {
  faults("if x = 3:\n  a\n", "1:6: expected ':' after 'if' header, found '='\n"
                             "help: write '==' to compare\n");
  faults("else if a:\n  b\n", "1:1: 'else' without a matching 'if', 'for', 'while' or 'try'\n");
  faults("if a: pass\nelse if b:\n  c d\n", "2:6: expected ':' after 'else' header, found 'if'\n"
                                            "help: write 'elif'\n"
                                            "3:5: expected end of line, found name 'd'\n");
  faults("for a b in c:\n  d\n", "1:7: expected 'in', found name 'b'\n");
  faults("def f:\n  pass\n", "1:6: expected '(', found ':'\n");
  faults("def f(a b):\n  pass\n", "1:9: expected ',' or ')', found name 'b'\n");
  faults("if a b:\n  if c:\n    d e\n  f g\n",
         "1:6: expected ':' after 'if' header, found name 'b'\n"
         "3:7: expected end of line, found name 'e'\n"
         "4:5: expected end of line, found name 'g'\n");
  faults("class 1:\n  a\n", "1:7: expected name, found number '1'\n");
}

TEST(a_missing_block_is_reported) {
  faults("if a:\nb\n", "1:5: expected an indented block after 'if' header\n");
  faults("def f():\n", "1:8: expected an indented block after 'def' header\n");
  faults("class A:\n  def f():\n  def g(): pass\n",
         "2:10: expected an indented block after 'def' header\n");
  faults("try:\nexcept: a\n", "1:4: expected an indented block after 'try' header\n");
  faults("if a:\n# only a comment\n", "1:5: expected an indented block after 'if' header\n");
}

TEST(odd_indentation_is_reported_and_read) {
  faults("a\n  b\n    c\nd e\n", "2:1: unexpected indent\n"
                                 "3:1: unexpected indent\n"
                                 "4:3: expected end of line, found name 'e'\n");
  faults("  a\nb\n", "1:1: unexpected indent\n");
  faults("if a:\n    b\n  c\n  d\n    e\nf g\n",
         "3:3: unindent does not match any outer level of indentation\n"
         "6:3: expected end of line, found name 'g'\n");
  faults("if a:\n    b\n  if c:\n    d\n  e\nf\n",
         "3:3: unindent does not match any outer level of indentation\n");
  faults("if a:\n\tb\n        c\n", "3:1: inconsistent use of tabs and spaces in indentation\n"
                                    "help: indent with spaces only\n");
  faults("if a:\n        b\n\tc\n", "3:1: inconsistent use of tabs and spaces in indentation\n"
                                    "help: indent with spaces only\n");
  faults("if a:\n  b\n\tc\n", "3:1: inconsistent use of tabs and spaces in indentation\n"
                              "help: indent with spaces only\n"
                              "3:1: unexpected indent\n");
}

TEST(an_unclosed_bracket_costs_one_statement) {
  faults("f(a, b\n", "1:2: '(' was never closed\n");
  faults("f(a\nx = 1\ny z\n", "1:2: '(' was never closed\n"
                              "3:3: expected end of line, found name 'z'\n");
  faults("x = [1, 2\ndef f():\n  a b\n", "1:5: '[' was never closed\n"
                                         "3:5: expected end of line, found name 'b'\n");
  faults("if a:\n  f(b,\n  return c\n", "2:4: '(' was never closed\n");
  faults("x = (1, [2, {3\ny = 1\n", "1:13: '{' was never closed\n");
  faults("f(a b\nx y\n", "1:5: expected ',' or ')', found name 'b'\n"
                         "2:3: expected end of line, found name 'y'\n");
  faults("f(\n  a,\n  b c\n)\nx y\n", "3:5: expected ',' or ')', found name 'c'\n"
                                      "1:2: note: '(' was opened here\n"
                                      "5:3: expected end of line, found name 'y'\n");
  faults("class A(B\n  pass\n", "1:8: '(' was never closed\n");
}

TEST(a_bracket_that_does_not_match_is_reported) {
  faults("f(a]\nx y\n", "1:4: closing ']' does not match opening '('\n"
                        "1:2: note: opened here\n"
                        "2:3: expected end of line, found name 'y'\n");
  faults(")\n", "1:1: unmatched ')'\n");
  faults("(a\n]\n", "2:1: closing ']' does not match opening '('\n"
                    "1:1: note: opened here\n");
  faults("x = {)}\n", "1:6: closing ')' does not match opening '{'\n"
                      "1:5: note: opened here\n");
}

TEST(a_token_that_does_not_fit_is_reported) {
  faults("x = )\n", "1:5: expected expression, found ')'\n");
  faults("a b\n", "1:3: expected end of line, found name 'b'\n");
  faults("a 'b'\n", "1:3: expected end of line, found string\n");
  faults("x = 1 +\n", "1:8: expected expression, found end of line\n");
  faults("x = a if b\n", "1:11: expected 'else', found end of line\n");
  faults("x = {1: 2, 3}\n", "1:13: expected ':', found '}'\n");
  faults("x = {1, 2: 3}\n", "1:10: expected ',' or '}', found ':'\n");
  faults("f(a for a in b, c)\n", "1:15: expected ')', found ','\n");
  faults("[a, b c]\n", "1:7: expected ',' or ']', found name 'c'\n");
  faults("a[1 2]\n", "1:5: expected ',' or ']', found number '2'\n");
  faults("lambda x\n", "1:9: expected ':', found end of line\n");
  faults("lambda (a): b\n", "1:8: expected ':', found '('\n");
  faults("import a.b as\n", "1:14: expected name, found end of line\n");
  faults("import\n", "1:7: expected name, found end of line\n");
  faults("from import a\n", "1:1: expected a module name after 'from', found 'import'\n");
  faults("from a import (b\n", "1:15: '(' was never closed\n");
  faults("from a\n", "1:7: expected 'import' or '.', found end of line\n");
  faults("global a,\n", "1:10: expected name, found end of line\n");
  faults("return return\n", "1:8: expected end of line, found 'return'\n");
  faults("x = not\n", "1:8: expected expression, found end of line\n");
  faults("a := 1\n", "1:3: expected end of line, found ':='\n");
  faults("del\n", "1:4: expected expression, found end of line\n");
  faults("a.1\n", "1:2: expected end of line, found number '.1'\n");
  faults("a.if\n", "1:3: expected name, found 'if'\n");
  faults("raise a from\n", "1:13: expected expression, found end of line\n");
  faults("if a: if b: c\n", "1:7: expected statement, found 'if'\n");
  faults("= 1\n", "1:1: expected statement, found '='\n");
  faults("x: int: y\n", "1:7: expected end of line, found ':'\n");
  faults("assert\n", "1:7: expected expression, found end of line\n");
  faults("import a-b\n", "1:9: expected end of line, found '-'\n");
  faults("def f[1](): pass\n", "1:7: expected name, found number '1'\n");
  faults("x = yield = 1\n", "1:5: cannot assign to a yield expression\n");
}

TEST(what_was_meant_is_suggested) {
  faults("whlie x:\n  a\n", "1:7: expected end of line, found name 'x'\n"
                            "help: did you mean 'while'?\n");
  faults("retrun a\n", "1:8: expected end of line, found name 'a'\n"
                       "help: did you mean 'return'?\n");
  faults("improt a\n", "1:8: expected end of line, found name 'a'\n"
                       "help: did you mean 'import'?\n");
  faults("match a:\n  b\n", "1:7: expected end of line, found name 'a'\n"
                            "help: 'match' statements are not supported\n");
  faults("if a = b: pass\n", "1:6: expected ':' after 'if' header, found '='\n"
                             "help: write '==' to compare\n");
}

TEST(words_without_their_statement_are_reported) {
  faults("else:\n  a\n", "1:1: 'else' without a matching 'if', 'for', 'while' or 'try'\n");
  faults("elif a:\n  b\n", "1:1: 'elif' without a matching 'if'\n");
  faults("except a:\n  b\n", "1:1: 'except' without a matching 'try'\n");
  faults("finally:\n  a\n", "1:1: 'finally' without a matching 'try'\n");
  faults("if a: b\nx\nelse: c\n", "3:1: 'else' without a matching 'if', 'for', 'while' or 'try'\n");
}

TEST(try_needs_a_handler) {
  faults("try:\n  a\nb c\n", "1:1: expected 'except' or 'finally' after the 'try' block\n"
                             "3:3: expected end of line, found name 'c'\n");
  faults("try: a\nelse: b\n", "1:1: expected 'except' after the 'try' block\n");
  faults("try: a\nexcept: b\nexcept c: d\n",
         "2:1: an 'except' without a type must be the last one\n");
  faults("try: a\nelse: b\nfinally: c\n", "1:1: expected 'except' after the 'try' block\n");
}

TEST(decorators_need_a_definition) {
  faults("@a\nb\n", "2:1: expected 'def' or 'class' after the decorator, found name 'b'\n");
  faults("@a\n", "2:1: expected 'def' or 'class' after the decorator, found end of input\n");
  faults("@a\n  b\n", "2:1: expected 'def' or 'class' after the decorator, found indented line\n");
  faults("if a:\n  @b\nc\n",
         "2:5: expected 'def' or 'class' after the decorator, found end of block\n");
  faults("@a b\ndef f(): pass\n", "1:4: expected end of line, found name 'b'\n");
}

TEST(what_is_not_supported_says_so) {
  faults("async def f():\n  await a\n  b c\n", "1:1: 'async' is not supported\n"
                                               "2:3: 'await' is not supported\n"
                                               "3:5: expected end of line, found name 'c'\n");
  faults("x = await y\n", "1:5: 'await' is not supported\n");
  faults("async with a: pass\n", "1:1: 'async' is not supported\n");
  faults("3j\n", "1:1: complex numbers are not supported\n");
  faults("'\\N{DASH}'\n", "1:2: '\\N' escapes are not supported: write '\\u' and the number\n");
  faults("[x async for x in y]\n", "1:4: 'async' is not supported\n");
}

TEST(only_targets_can_be_assigned_to) {
  faults("f() = 1\n", "1:1: cannot assign to a call\n");
  faults("1 = x\n", "1:1: cannot assign to a literal\n");
  faults("'a' = x\n", "1:1: cannot assign to a literal\n");
  faults("a + b = c\n", "1:1: cannot assign to an expression\n");
  faults("a == b = c\n", "1:1: cannot assign to a comparison\n"
                         "help: write '=' to assign\n");
  faults("None = 1\nTrue = 1\n... = 1\n", "1:1: cannot assign to None\n"
                                          "2:1: cannot assign to True\n"
                                          "3:1: cannot assign to '...'\n");
  faults("a = f() = b\n", "1:5: cannot assign to a call\n");
  faults("(a, f()) = b\n", "1:5: cannot assign to a call\n");
  faults("[a, 1] = b\n", "1:5: cannot assign to a literal\n");
  faults("*a = b\n", "1:1: a starred expression must be in a list, a tuple, a set or a call\n");
  faults("*a, *b = c\n", "1:5: only one starred target may be in an assignment\n"
                         "1:1: note: the first one\n");
  faults("a if b else c = d\n", "1:1: cannot assign to a conditional expression\n");
  faults("lambda: a = b\n", "1:1: cannot assign to a lambda\n");
  faults("f'{a}' = b\n", "1:1: cannot assign to an f-string\n");
  faults("{a} = b\n{a: b} = c\n", "1:1: cannot assign to a set\n"
                                  "2:1: cannot assign to a dict\n");
  faults("[a for a in b] = c\n(a for a in b) = c\n",
         "1:1: cannot assign to a comprehension\n"
         "2:1: cannot assign to a generator expression\n");
  faults("a, b += c\n", "1:1: cannot use augmented assignment on a tuple\n");
  faults("f() += 1\n", "1:1: cannot use augmented assignment on a call\n");
  faults("[a] += 1\n", "1:1: cannot use augmented assignment on a list\n");
  faults("a, b: c\n", "1:1: cannot annotate a tuple\n");
  faults("f(): a\n", "1:1: cannot annotate a call\n");
  faults("for f() in a: pass\n", "1:5: cannot assign to a call\n");
  faults("for 1, a in b: pass\n", "1:5: cannot assign to a literal\n");
  faults("[a for f() in b]\n", "1:8: cannot assign to a call\n");
  faults("with a as f(): pass\n", "1:11: cannot assign to a call\n");
  faults("with a as 1, b as c: pass\n", "1:11: cannot assign to a literal\n");
  faults("del f()\n", "1:5: cannot delete a call\n");
  faults("del a, 1\n", "1:8: cannot delete a literal\n");
  faults("del *a\n", "1:5: a starred expression must be in a list, a tuple, a set or a call\n");
  faults("(yield) = 1\n", "1:1: cannot assign to a yield expression\n");
  faults("(a := 1) = 2\n", "1:1: cannot assign to an assignment expression\n");
  faults("-a = 1\n", "1:1: cannot assign to an expression\n");
  faults("not a = 1\n", "1:1: cannot assign to an expression\n");
}

TEST(starred_expressions_need_a_place) {
  faults("*a\n", "1:1: a starred expression must be in a list, a tuple, a set or a call\n");
  faults("x = *a\n", "1:5: a starred expression must be in a list, a tuple, a set or a call\n");
  faults("(*a)\n", "1:2: a starred expression must be in a list, a tuple, a set or a call\n");
  faults("return *a\n", "1:8: a starred expression must be in a list, a tuple, a set or a call\n");
  faults("for *a in b: pass\n",
         "1:5: a starred expression must be in a list, a tuple, a set or a call\n");
  faults("(*a for a in b)\n", "1:5: expected ',' or ')', found 'for'\n");
  faults("x = (*a) + 1\n",
         "1:6: a starred expression must be in a list, a tuple, a set or a call\n");
}

TEST(parameters_have_an_order) {
  faults("def f(a=1, b): pass\n", "1:12: a parameter without default follows one with a default\n");
  faults("def f(*): pass\n", "1:7: a parameter must follow '*'\n");
  faults("def f(*, **a): pass\n", "1:7: a parameter must follow '*'\n");
  faults("def f(**a, b): pass\n", "1:12: no parameter may follow '**'\n");
  faults("def f(*a, *b): pass\n", "1:11: only one '*' may be among the parameters\n");
  faults("def f(/): pass\n", "1:7: at least one parameter must come before '/'\n");
  faults("def f(a, /, b, /): pass\n", "1:16: only one '/' may be among the parameters\n");
  faults("def f(*, a, /): pass\n", "1:13: '/' must come before '*'\n");
  faults("def f(a, a): pass\n", "1:10: parameter 'a' is there twice\n");
  faults("def f(a, *, a): pass\n", "1:13: parameter 'a' is there twice\n");
  faults("lambda a=1, b: c\n", "1:13: a parameter without default follows one with a default\n");
  faults("lambda *: a\n", "1:8: a parameter must follow '*'\n");
  faults("lambda a, a: b\n", "1:11: parameter 'a' is there twice\n");
  faults("def f(a, (b, c)): pass\n", "1:10: expected ',' or ')', found '('\n");
  faults("def f(**a=1): pass\n", "1:10: expected ',' or ')', found '='\n");
}

TEST(arguments_have_an_order) {
  faults("f(a=1, b)\n", "1:8: a positional argument follows a keyword argument\n");
  faults("f(**a, b)\n", "1:8: a positional argument follows '**'\n");
  faults("f(**a, *b)\n", "1:8: a positional argument follows '**'\n");
  faults("f(1=2)\n", "1:4: expected ',' or ')', found '='\n");
  faults("f(a.b=1)\n", "1:6: expected ',' or ')', found '='\n");
  faults("class A(b=1, c): pass\n", "1:14: a positional argument follows a keyword argument\n");
}

TEST(malformed_literals_are_explained) {
  faults("x = 012\n", "1:5: a decimal number cannot begin with 0: write 0o for an octal one\n");
  faults("0x\n0xg\n", "1:1: malformed hexadecimal number\n"
                      "2:1: malformed hexadecimal number\n");
  faults("0b2\n", "1:1: malformed binary number: its digits are 0 and 1\n");
  faults("0o8\n", "1:1: malformed octal number: its digits are 0 to 7\n");
  faults("1__0\n1_\n", "1:1: an underscore in a number must be between two digits\n"
                       "2:1: an underscore in a number must be between two digits\n");
  faults("1abc\n", "1:1: malformed number: a name cannot follow its digits\n");
  faults("1.5abc\n", "1:1: malformed number: a name cannot follow its digits\n");
  faults("1e\n", "1:1: malformed number: a name cannot follow its digits\n");
  faults("'\\x1'\n", "1:2: expected 2 hexadecimal digits after '\\x'\n");
  faults("'\\u12g'\n", "1:2: expected 4 hexadecimal digits after '\\u'\n");
  faults("'\\U00110000'\n", "1:2: no character has this number: the last is \\U0010ffff\n");
  faults("'\\ud800'\n", "1:2: a surrogate is not a character of its own\n");
  faults("'\\400'\n", "1:2: expected an octal escape up to \\377\n");
  faults("b'é'\n", "1:3: bytes can only hold ASCII characters: write '\\x' and the number\n");
  faults("b'a' 'b'\n", "1:6: cannot join bytes and text literals\n");
  faults("f'{a}' b'c'\n", "1:8: cannot join bytes and text literals\n");
  faults("'abc\nx y\n", "1:1: unterminated string literal\n"
                        "2:3: expected end of line, found name 'y'\n");
  faults("\"abc\n", "1:1: unterminated string literal\n");
  faults("'''abc\nd\n", "1:1: unterminated triple-quoted string literal\n");
  faults("x = f'''\n", "1:5: unterminated triple-quoted string literal\n");
  faults("'abc\\\n", "1:1: unterminated string literal\n");
  faults("rb'a\n", "1:1: unterminated string literal\n");
}

TEST(f_strings_are_checked) {
  faults("f'{}'\n", "1:3: f-string: expected expression in a field\n");
  faults("f'{ }'\n", "1:3: f-string: expected expression in a field\n");
  faults("f'{a b}'\n", "1:6: expected end of the expression, found name 'b'\n");
  faults("f'{a'\n", "1:3: f-string: '{' is never closed by '}'\n");
  faults("f'}'\n", "1:3: f-string: single '}': write '}}' for the character\n");
  faults("f'{a!x}'\n", "1:5: f-string: expected 'r', 's' or 'a' after '!'\n");
  faults("f'{a!}'\n", "1:5: f-string: expected 'r', 's' or 'a' after '!'\n");
  faults("f'{a:{b:{c:d}}}'\n", "1:11: f-string: format specs nested too deeply\n");
  faults("f'{a:{b'\n", "1:6: f-string: '{' is never closed by '}'\n");
  faults("f'{a(}'\n", "1:6: closing '}' does not match opening '('\n"
                      "1:5: note: opened here\n");
  faults("f'{a)}'\n", "1:5: unmatched ')'\n");
  faults("f'{\"\\n\"}'\n", "1:5: f-string: a backslash cannot be in a field\n");
  faults("f'{a=b}'\n", "1:5: expected end of the expression, found '='\n");
  faults("f'{lambda x: 1}'\n", "1:12: expected ':', found end of input\n");
  faults("f'x{a}\\x1'\n", "1:7: expected 2 hexadecimal digits after '\\x'\n");
  faults("f'{*a}'\n", "1:4: a starred expression must be in a list, a tuple, a set or a call\n");
  faults("f'{f(a=1, b)}'\n", "1:11: a positional argument follows a keyword argument\n");
}

TEST(characters_that_are_no_tokens_are_named) {
  faults("a ? b\n", "1:3: unexpected character '?'\n");
  faults("a $ b\n", "1:3: unexpected character '$'\n");
  faults("!a\n", "1:1: unexpected character '!'\n");
  faults("x = “hi”\n", "1:5: unexpected character '“' (U+201C)\n"
                       "help: write plain quotes: ' or \"\n");
  faults("a = 1\n", "1:2: unexpected invisible character U+00A0\n"
                    "help: delete it, or write a plain space\n");
  faults("a × b\n", "1:3: unexpected character '×' (U+00D7)\n");
  faults("﻿﻿a\n", "1:2: unexpected invisible character U+FEFF\n"
                      "help: delete it, or write a plain space\n");
  faults("a\\b\n", "1:2: expected end of line after '\\'\n");
  faults("a = \\ 1\n", "1:5: expected end of line after '\\'\n");
  faults("a \001 b\n", "1:3: unexpected invisible character U+0001\n"
                       "help: delete it, or write a plain space\n");
  faults("`a`\n", "1:1: unexpected character '`'\n");
}

/* ---- the listing of 2021: all faults of a sketch in one run ---- */

TEST(a_sketch_reports_all_its_faults_in_one_run) {
  faults("@tvm.script.ir_module\n"
         "class MyIRModule:\n"
         "    @T.prim_func\n"
         "    def tir_mm(X: T.Buffer[(n, d), \"float32\"], W: T.Buffer[(d, m), \"float32\"]):\n"
         "        for i, j, k in T.grid(n, m, d):\n"
         "            with T.block(\"body\"):\n"
         "                vi, vj, vk = T.axis.remap(\"SSR\", [i, j, k])\n"
         "                with T.init():\n"
         "                    Y[vi, vj] = 0\n"
         "              Y[vi, vj] += X[vi, vk] * W[wk, wj]\n"
         "    @R.function\n"
         "    def relax_func(x: R.Tensor[(n, d), \"float32\"]):\n"
         "        with R.dataflow()\n"
         "            lv0 = R.call_dps((n, m), tir_mm, [x, w])\n"
         "            gv0 = lv2 +\n"
         "            R.outputs(gv0)\n"
         "        R.call_packed(\"custom_inplace_update\", gv0)\n"
         "          return gv0\n",
         "10:15: unindent does not match any outer level of indentation\n"
         "13:26: expected ':' after 'with' header, found end of line\n"
         "15:24: expected expression, found end of line\n"
         "18:1: unexpected indent\n");
}

TEST(what_has_no_fault_stays_in_the_tree) {
  const char *text = "with a\n  b\nc d\n  e\nf\n";
  const char *dump = ast_dump(&parse_module(source_add("test", text, strlen(text)))->ast);
  CHECK(str_same(dump, "Module\n"
                       "  body: With\n"
                       "    items: WithItem\n"
                       "      context: Name name=\"a\"\n"
                       "    body: ExprStmt\n"
                       "      value: Name name=\"b\"\n"
                       "  body: Error\n"
                       "  body: ExprStmt\n"
                       "    value: Name name=\"e\"\n"
                       "  body: ExprStmt\n"
                       "    value: Name name=\"f\"\n"));
}

/* ---- nasty texts ---- */

static void repeat(Str *s, const char *piece, int n) {
  for (int i = 0; i < n; i++) str_add(s, piece);
}

/* before, n times open, middle, n times close, after. */
static const char *nested(const char *before, const char *open, int n, const char *middle,
                          const char *close, const char *after) {
  Str s = {0};
  str_add(&s, before);
  repeat(&s, open, n);
  str_add(&s, middle);
  repeat(&s, close, n);
  str_add(&s, after);
  return report(str_text(&s), s.len);
}

static bool says(const char *report, const char *text) { return strstr(report, text) != NULL; }

TEST(deep_brackets_are_refused_or_read) {
  CHECK(str_same(nested("", "(", 1000, "a", ")", "\n"), ""));
  CHECK(str_same(nested("", "f(a, [", 700, "b", "])", "\n"), ""));
  CHECK(says(nested("", "(", 1 << 20, "", "", ""), "nested too deeply"));
  const char *both = nested("x = ", "[", 100000, "", "]", "\ny z\n");
  CHECK(says(both, "nested too deeply\n2:3: expected end of line, found name 'z'"));
}

TEST(deep_trees_without_brackets_are_refused) {
  static const char *const openers[] = {
      "a + ", "- ", "not ", "lambda: ", "a ** ", "a or ", "a if b else ", "x if y else lambda: "};
  for (size_t i = 0; i < sizeof openers / sizeof *openers; i++) {
    CHECK(str_same(nested("", openers[i], 1000, "a", "", "\n"), ""));
    CHECK(says(nested("", openers[i], 100000, "a", "", "\nb c\n"), "nested too deeply\n2:3: "));
  }
  CHECK(says(nested("a", "", 100000, "", ".b", "\n"), "nested too deeply"));
  CHECK(says(nested("a", "", 100000, "", "[1]", "\n"), "nested too deeply"));
  CHECK(says(nested("if a: b\n", "elif a: b\n", 100000, "", "", "c d\n"), "nested too deeply"));
}

TEST(long_chains_that_make_no_deep_tree_are_read) {
  CHECK(str_same(nested("x = [", "1, ", 100000, "", "", "]\n"), ""));
  CHECK(str_same(nested("x = ", "a < ", 100000, "b", "", "\n"), ""));
  CHECK(str_same(nested("", "a = ", 100000, "b", "", "\n"), ""));
  CHECK(str_same(nested("x = ", "'a' ", 100000, "'b'", "", "\n"), ""));
  CHECK(str_same(nested("import ", "a.", 100000, "b", "", "\n"), ""));
  CHECK(str_same(nested("", "pass; ", 100000, "pass", "", "\n"), ""));
}

TEST(deep_indentation_is_refused) {
  Str s = {0};
  for (int i = 0; i < 200; i++) str_printf(&s, "%*sif a:\n", i, "");
  str_printf(&s, "%*spass\nb c\n", 200, "");
  CHECK(str_same(report(str_text(&s), s.len), "102:102: nested too deeply\n"));
}

TEST(bytes_that_are_no_text_are_reported_once) {
  CHECK(
      str_same(report("a\nb \0 c d\n\0", 11), "2:3: unexpected NUL byte: is this a text file?\n"));
  faults("a\n'\xff\xfe'\n", "2:2: byte 0xff is not UTF-8 text\n");
  faults("'\xc3'\n", "1:2: byte 0xc3 is not UTF-8 text\n");
  faults("'\xc0\x80'\n", "1:2: byte 0xc0 is not UTF-8 text\n");
  faults("'\xed\xa0\x80'\n", "1:2: byte 0xed is not UTF-8 text\n");
  faults("'\xf4\x90\x80\x80'\n", "1:2: byte 0xf4 is not UTF-8 text\n");
}

TEST(many_faults_take_no_more_than_linear_time) {
  clock_t start = clock();
  static const char *const lines[] = {"'\n",  "f(\n",  "with (\n", "x = = 1\n",
                                      "(]\n", "  a\n", "if a\n"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    CHECK(*nested("", lines[i], 20000, "", "", ""));
  CHECK(*nested("", "with (", 20000, "", "", "") && *nested("", "(]", 20000, "", "", ""));
  CHECK((clock() - start) / CLOCKS_PER_SEC < 20);
}

TEST(a_long_line_is_read) {
  CHECK(str_same(nested("x = '", "0123456789", 1 << 20, "", "", "'\n"), ""));
  CHECK(str_same(nested("# ", "0123456789", 1 << 20, "", "", ""), ""));
  CHECK(str_same(nested("", " ", 1 << 20, "", "", "\nx\n"), ""));
}
