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
  re2c:define:YYCURSOR = "s->cursor";
  re2c:define:YYMARKER = "s->marker";
  re2c:define:YYLIMIT = "s->end";
*/
/*!include:re2c "unicode_categories.re" */

int lexer_next(Lexer *s) {
next:
  s->start = s->cursor;
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
  eol                           { return T_NEWLINE; }
  "#" [^\r\n]*                  { return T_COMMENT; }
  word                          { return token_keyword(s->start, (size_t)(s->cursor - s->start)); }
  int                           { return T_INT; }
  float                         { return T_FLOAT; }
  digit [0-9a-zA-Z_]* | float [0-9a-zA-Z_]+         { return T_BAD_NUMBER; }
  prefix? (single "'" | double ["] | singles "'''" | doubles ["]["]["])  { return T_STRING; }
  prefix? (single | double) "\\"?                   { return T_OPEN_STRING; }
  prefix? (singles "'"{0,2} | doubles ["]{0,2}) "\\"?  { return T_OPEN_TEXT; }

  "("   { return T_LPAR; }      ")"   { return T_RPAR; }
  "["   { return T_LSQB; }      "]"   { return T_RSQB; }
  "{"   { return T_LBRACE; }    "}"   { return T_RBRACE; }
  ","   { return T_COMMA; }     ":"   { return T_COLON; }
  ";"   { return T_SEMI; }      "."   { return T_DOT; }
  "..." { return T_ELLIPSIS; }  "->"  { return T_ARROW; }
  "="   { return T_EQUAL; }     ":="  { return T_WALRUS; }
  "+"   { return T_PLUS; }      "+="  { return T_PLUS_EQUAL; }
  "-"   { return T_MINUS; }     "-="  { return T_MINUS_EQUAL; }
  "*"   { return T_STAR; }      "*="  { return T_STAR_EQUAL; }
  "/"   { return T_SLASH; }     "/="  { return T_SLASH_EQUAL; }
  "//"  { return T_DOUBLE_SLASH; }    "//="  { return T_DOUBLE_SLASH_EQUAL; }
  "%"   { return T_PERCENT; }   "%="  { return T_PERCENT_EQUAL; }
  "**"  { return T_DOUBLE_STAR; }     "**="  { return T_DOUBLE_STAR_EQUAL; }
  "@"   { return T_AT; }        "@="  { return T_AT_EQUAL; }
  "<<"  { return T_SHL; }       "<<=" { return T_SHL_EQUAL; }
  ">>"  { return T_SHR; }       ">>=" { return T_SHR_EQUAL; }
  "&"   { return T_AMPER; }     "&="  { return T_AMPER_EQUAL; }
  "|"   { return T_BAR; }       "|="  { return T_BAR_EQUAL; }
  "^"   { return T_CARET; }     "^="  { return T_CARET_EQUAL; }
  "~"   { return T_TILDE; }     "=="  { return T_EQ; }
  "!="  { return T_NE; }        "<"   { return T_LT; }
  "<="  { return T_LE; }        ">"   { return T_GT; }
  ">="  { return T_GE; }

  "\\"  { return T_BAD_CONTINUATION; }
  any   { return T_BAD_CHAR; }
  *     { return T_BAD_CHAR; } /* ill-formed UTF-8: the driver has refused it already */
  $     { return 0; }
  */
}
