/* lexer.re -- finds the next token in the text; re2c writes the automaton.
 *
 * In:   a Lexer over UTF-8 text that ends in one NUL.
 * Out:  the token's kind; its text is [start, cursor). 0 at the end.
 * Not:  layout, brackets and messages: see indent.c and message.c. What is no token is returned as
 *       a FAULT kind of token.def, which the grammar then refuses. */
#include "parser/parser_impl.h"

/*!re2c
  re2c:eof = 0;
  re2c:yyfill:enable = 0;
  re2c:flags:utf-8 = 1;
  re2c:define:YYCTYPE = "unsigned char";
  re2c:define:YYCURSOR = "cursor";
  re2c:define:YYMARKER = "marker";
  re2c:define:YYLIMIT = "s->end";
*/
/*!include:re2c "unicode_categories.re" */

/* The end of every rule: the cursor is a local variable, which the automaton moves byte by byte. */
#define GIVE(kind) return s->cursor = cursor, kind

int lexer_next(Lexer *s) {
  const char *cursor = s->cursor, *marker = cursor;
next:
  s->start = cursor;
  /*!re2c
  any      = [^];
  eol      = "\r\n" | "\n" | "\r";
  letter   = L | Nl | "_";
  word     = letter (letter | Mn | Mc | Nd | Pc)*;

  digit    = [0-9];
  digits   = digit ("_"? digit)*;
  int      = "0" ("_"? "0")* | [1-9] ("_"? digit)* | "0" [xX] ("_"? [0-9a-fA-F])+ | "0" [oO] ("_"? [0-7])+
           | "0" [bB] ("_"? [01])+;
  exponent = [eE] [+-]? digits;
  float    = (digits "." digits? | "." digits) exponent? | digits exponent;

  prefix   = [rRuUbBfF] | [rR] [bBfF] | [bBfF] [rR];
  escaped  = "\\" (eol | any);
  single   = "'" ([^'\\\r\n] | escaped)*;
  double   = ["] ([^"\\\r\n] | escaped)*;
  singles  = "'''" ("'"{0,2} ([^'\\] | escaped))*;
  doubles  = ["]["]["] (["]{0,2} ([^"\\] | escaped))*;

  [ \t\f]+ | "\\" eol           { goto next; }
  eol                           { GIVE(T_NEWLINE); }
  "#" [^\r\n]*                  { GIVE(T_COMMENT); }
  word                          { GIVE(token_keyword(s->start, (size_t)(cursor - s->start))); }
  int                           { GIVE(T_INT); }
  float                         { GIVE(T_FLOAT); }
  digit [0-9a-zA-Z_]* | float [0-9a-zA-Z_]+         { GIVE(T_BAD_NUMBER); }
  prefix? (single "'" | double ["] | singles "'''" | doubles ["]["]["])  { GIVE(T_STRING); }
  prefix? (single | double) "\\"?                   { GIVE(T_OPEN_STRING); }
  prefix? (singles "'"{0,2} | doubles ["]{0,2}) "\\"?  { GIVE(T_OPEN_TEXT); }

  "("   { GIVE(T_LPAR); }      ")"   { GIVE(T_RPAR); }
  "["   { GIVE(T_LSQB); }      "]"   { GIVE(T_RSQB); }
  "{"   { GIVE(T_LBRACE); }    "}"   { GIVE(T_RBRACE); }
  ","   { GIVE(T_COMMA); }     ":"   { GIVE(T_COLON); }
  ";"   { GIVE(T_SEMI); }      "."   { GIVE(T_DOT); }
  "..." { GIVE(T_ELLIPSIS); }  "->"  { GIVE(T_ARROW); }
  "="   { GIVE(T_EQUAL); }     ":="  { GIVE(T_WALRUS); }
  "+"   { GIVE(T_PLUS); }      "+="  { GIVE(T_PLUS_EQUAL); }
  "-"   { GIVE(T_MINUS); }     "-="  { GIVE(T_MINUS_EQUAL); }
  "*"   { GIVE(T_STAR); }      "*="  { GIVE(T_STAR_EQUAL); }
  "/"   { GIVE(T_SLASH); }     "/="  { GIVE(T_SLASH_EQUAL); }
  "//"  { GIVE(T_DOUBLE_SLASH); }    "//="  { GIVE(T_DOUBLE_SLASH_EQUAL); }
  "%"   { GIVE(T_PERCENT); }   "%="  { GIVE(T_PERCENT_EQUAL); }
  "**"  { GIVE(T_DOUBLE_STAR); }     "**="  { GIVE(T_DOUBLE_STAR_EQUAL); }
  "@"   { GIVE(T_AT); }        "@="  { GIVE(T_AT_EQUAL); }
  "<<"  { GIVE(T_SHL); }       "<<=" { GIVE(T_SHL_EQUAL); }
  ">>"  { GIVE(T_SHR); }       ">>=" { GIVE(T_SHR_EQUAL); }
  "&"   { GIVE(T_AMPER); }     "&="  { GIVE(T_AMPER_EQUAL); }
  "|"   { GIVE(T_BAR); }       "|="  { GIVE(T_BAR_EQUAL); }
  "^"   { GIVE(T_CARET); }     "^="  { GIVE(T_CARET_EQUAL); }
  "~"   { GIVE(T_TILDE); }     "=="  { GIVE(T_EQ); }
  "!="  { GIVE(T_NE); }        "<"   { GIVE(T_LT); }
  "<="  { GIVE(T_LE); }        ">"   { GIVE(T_GT); }
  ">="  { GIVE(T_GE); }

  "\\"  { GIVE(T_BAD_CONTINUATION); }
  any   { GIVE(T_BAD_CHAR); }
  *     { GIVE(T_BAD_CHAR); } /* ill-formed UTF-8: the driver has refused it already */
  $     { GIVE(0); }
  */
}
