/* grammar.y -- the grammar, in the order of the Python reference; lemon writes the automaton.
 *
 * An action is one constructor call. A constructor's span goes from its first argument to the last
 * token read, so no rule adds up places. Shapes that a grammar of one token's look-ahead can't tell
 * apart (is this list of expressions a target?) are checked by the constructors, in target.c.
 * After a fault the statement is dropped: `error NEWLINE`. Faults of whole lines (no colon, no
 * block, no indentation wanted) have rules of their own, so that what follows is still read. */

%name Grammar
%token_prefix T_
%token_type {Token}
%extra_context {Parser *p}
%default_type {Ast *}

/* The stack lies in the parser object, where the collector sees it. The driver refuses deeper
 * nesting before it overflows. */
%stack_size 20000
%stack_overflow { BUG("the parser's stack overflows"); }
%syntax_error { parse_fault(p, TOKEN); }

%include {
#pragma GCC diagnostic ignored "-Wunused-variable" /* the template fetches `p` even where idle */
#define NDEBUG 1
#include "parser/parser_impl.h"

/* The next fault is to be reported again, although few tokens were read since the last. */
#define RECOVERED() (yypParser->yyerrcnt = -1)
}

%code {
_Static_assert(YYNTOKEN == TOKEN_COUNT + 1, "token.def and grammar.y list different tokens");

bool grammar_accepts(const void *machine, int token) {
  const yyParser *m = machine;
  return yy_find_shift_action((YYCODETYPE)token, m->yytos->stateno) != YY_ERROR_ACTION;
}

int grammar_room(const void *machine) {
  const yyParser *m = machine;
  return (int)(m->yystackEnd - m->yytos);
}
}

/* ---- tokens that no rule mentions ---- */
%token COMMENT ASYNC AWAIT.
%token BAD_CHAR BAD_NUMBER BAD_CONTINUATION OPEN_STRING OPEN_TEXT UNMATCHED UNCLOSED TOO_DEEP.

/* ---- types ---- */
%type body {AstVec}          %type block {AstVec}         %type line {AstVec}
%type smalls {AstVec}        %type names {AstVec}         %type aliases {AstVec}
%type alias_list {AstVec}    %type imported {AstVec}      %type else {AstVec}
%type finally {AstVec}       %type elifs {AstVec}         %type handlers {AstVec}
%type with_items {AstVec}    %type inner_items {AstVec}   %type inner_list {AstVec}
%type decorators {AstVec}    %type type_params {AstVec}   %type bases {AstVec}
%type params {AstVec}        %type param_list {AstVec}    %type lambda_params {AstVec}
%type lambda_list {AstVec}   %type args {AstVec}          %type arg_list {AstVec}
%type tests {AstVec}         %type targets {AstVec}       %type elements {AstVec}
%type element_list {AstVec}  %type subscripts {AstVec}    %type clauses {AstVec}
%type conditions {AstVec}
%type dotted {TokenVec}      %type strings {TokenVec}
%type augment {Token}        %type no_colon {Token}
%type dots {int}             %type compare_op {AstOp}

/* ---- precedence, loosest first ---- */
%nonassoc NEWLINE.           /* of the rules that stand for something missing */
%nonassoc INDENT DEF CLASS.
%left OR.
%left AND.
%right NOT.
%left BAR.
%left CARET.
%left AMPER.
%left SHL SHR.
%left PLUS MINUS.
%left STAR SLASH DOUBLE_SLASH PERCENT AT.
%right TILDE.                /* and the other signs before an operand */
%right DOUBLE_STAR.

/* ==== What is parsed ==== */

start ::= START_MODULE body(B).                       { p->body = B; }
start ::= START_EXPRESSION value(E).                  { p->expression = E; }

body(B) ::= .                                         { B = (AstVec){0}; }
body(B) ::= body(B) line(L).                          { ast_append(p, &B, L); }
body(B) ::= body(B) compound(S).                      { ast_push(p, &B, S); }
body(B) ::= body(B) error NEWLINE.                    { ast_push(p, &B, parse_recovered(p)); RECOVERED(); }
body(B) ::= body(B) extra_indent body(C) DEDENT.      { ast_append(p, &B, C); }
extra_indent ::= INDENT(T).                           { parse_extra_indent(p, T); }

line(L) ::= smalls(L) NEWLINE.
line(L) ::= smalls(L) SEMI NEWLINE.
smalls(L) ::= small(S).                               { L = ast_one(p, S); }
smalls(L) ::= smalls(L) SEMI small(S).                { ast_push(p, &L, S); }

/* ==== Simple statements ==== */

small(S) ::= value(E).                                { S = ast_expr_stmt(p, E); }
small(S) ::= assign(A).                               { S = ast_assign_end(p, A); }
small(S) ::= testlist(T) augment(O) value(V).         { S = ast_aug_assign(p, T, O, V); }
small(S) ::= testlist(T) COLON test(A).               { S = ast_ann_assign(p, T, A, NULL); }
small(S) ::= testlist(T) COLON test(A) EQUAL value(V). { S = ast_ann_assign(p, T, A, V); }
assign(S) ::= testlist(T) EQUAL value(V).             { S = ast_assign(p, T, V); }
assign(S) ::= assign(A) EQUAL value(V).               { S = ast_assign_again(p, A, V); }
augment(O) ::= PLUS_EQUAL|MINUS_EQUAL|STAR_EQUAL|SLASH_EQUAL|DOUBLE_SLASH_EQUAL|PERCENT_EQUAL
              |DOUBLE_STAR_EQUAL|AT_EQUAL|SHL_EQUAL|SHR_EQUAL|AMPER_EQUAL|BAR_EQUAL
              |CARET_EQUAL(T).                        { O = T; }

small(S) ::= PASS|BREAK|CONTINUE(T).                  { S = ast_word(p, T); }
small(S) ::= RETURN(T).                               { S = ast_return(p, T, NULL); }
small(S) ::= RETURN(T) testlist(V).                   { S = ast_return(p, T, V); }
small(S) ::= RAISE(T).                                { S = ast_raise(p, T, NULL, NULL); }
small(S) ::= RAISE(T) test(V).                        { S = ast_raise(p, T, V, NULL); }
small(S) ::= RAISE(T) test(V) FROM test(C).           { S = ast_raise(p, T, V, C); }
small(S) ::= ASSERT(T) test(C).                       { S = ast_assert(p, T, C, NULL); }
small(S) ::= ASSERT(T) test(C) COMMA test(M).         { S = ast_assert(p, T, C, M); }
small(S) ::= DEL(T) target(V).                        { S = ast_delete(p, T, V); }
small(S) ::= GLOBAL|NONLOCAL(T) names(N).             { S = ast_scope(p, T, N); }
names(L) ::= NAME(N).                                 { L = ast_one(p, ast_name(p, N)); }
names(L) ::= names(L) COMMA NAME(N).                  { ast_push(p, &L, ast_name(p, N)); }

small(S) ::= IMPORT(T) aliases(A).                    { S = ast_import(p, T, A); }
small(S) ::= FROM(T) dots(D) IMPORT imported(A).      { S = ast_import_from(p, T, D, NULL, A); }
small(S) ::= FROM(T) dots(D) dotted(M) IMPORT imported(A). { S = ast_import_from(p, T, D, &M, A); }
dots(D) ::= .                                         { D = 0; }
dots(D) ::= dots(C) DOT.                              { D = C + 1; }
dots(D) ::= dots(C) ELLIPSIS.                         { D = C + 3; }
imported(L) ::= STAR(T).                              { L = ast_one(p, ast_alias_all(p, T)); }
imported(L) ::= alias_list(L).
imported(L) ::= LPAR alias_list(A) RPAR.              { L = A; }
imported(L) ::= LPAR alias_list(A) COMMA RPAR.        { L = A; }
alias_list(L) ::= alias(A).                           { L = ast_one(p, A); }
alias_list(L) ::= alias_list(L) COMMA alias(A).       { ast_push(p, &L, A); }
alias(A) ::= NAME(N).                                 { A = ast_alias(p, token_one(p, N), NULL); }
alias(A) ::= NAME(N) AS NAME(B).                      { A = ast_alias(p, token_one(p, N), &B); }
aliases(L) ::= module_alias(A).                       { L = ast_one(p, A); }
aliases(L) ::= aliases(L) COMMA module_alias(A).      { ast_push(p, &L, A); }
module_alias(A) ::= dotted(M).                        { A = ast_alias(p, M, NULL); }
module_alias(A) ::= dotted(M) AS NAME(B).             { A = ast_alias(p, M, &B); }
dotted(M) ::= NAME(N).                                { M = token_one(p, N); }
dotted(M) ::= dotted(M) DOT NAME(N).                  { token_push(p, &M, N); }

/* ==== Compound statements ==== */

block(B) ::= COLON line(L).                           { B = L; }
block(B) ::= COLON NEWLINE INDENT body(L) DEDENT.     { B = L; }
block(B) ::= no_colon INDENT body(L) DEDENT.          { B = L; }
block(B) ::= COLON NEWLINE.                           { B = parse_no_block(p); }
block(B) ::= no_colon(N).              [NEWLINE]      { B = ast_one(p, ast_error(p, N.span)); }
no_colon(N) ::= NEWLINE(T).                           { N = parse_no_colon(p, T); }

compound(S) ::= IF(T) named(C) block(B) elifs(L) else(E). { S = ast_if(p, T, C, B, L, E); }
elifs(L) ::= .                                        { L = (AstVec){0}; }
elifs(L) ::= elifs(L) ELIF(T) named(C) block(B).      { ast_push(p, &L, ast_elif(p, T, C, B)); }
else(E) ::= .                                         { E = (AstVec){0}; }
else(E) ::= ELSE block(B).                            { E = B; }

compound(S) ::= WHILE(T) named(C) block(B) else(E).   { S = ast_while(p, T, C, B, E); }
compound(S) ::= FOR(T) loop_target(V) IN testlist(I) block(B) else(E). { S = ast_for(p, T, V, I, B, E); }

compound(S) ::= TRY(T) block(B) handlers(H) else(E) finally(F). { S = ast_try(p, T, B, H, E, F); }
handlers(L) ::= .                                     { L = (AstVec){0}; }
handlers(L) ::= handlers(L) handler(H).               { ast_push(p, &L, H); }
handler(H) ::= EXCEPT(T) block(B).                    { H = ast_handler(p, T, NULL, NULL, B); }
handler(H) ::= EXCEPT(T) test(E) block(B).            { H = ast_handler(p, T, E, NULL, B); }
handler(H) ::= EXCEPT(T) test(E) AS NAME(N) block(B). { H = ast_handler(p, T, E, &N, B); }
finally(F) ::= .                                      { F = (AstVec){0}; }
finally(F) ::= FINALLY block(B).                      { F = B; }

compound(S) ::= WITH(T) with_items(I) block(B).       { S = ast_with(p, T, I, B); }
compound(S) ::= WITH(T) WITH_LPAR inner_items(I) RPAR block(B). { S = ast_with(p, T, I, B); }
with_items(L) ::= with_item(I).                       { L = ast_one(p, I); }
with_items(L) ::= with_items(L) COMMA with_item(I).   { ast_push(p, &L, I); }
with_item(I) ::= test(E).                             { I = ast_with_item(p, E, NULL); }
with_item(I) ::= test(E) AS star_target(T).           { I = ast_with_item(p, E, T); }
inner_items(L) ::= inner_list(L).
inner_items(L) ::= inner_list(L) COMMA.
inner_items(L) ::= yield(E).                          { L = ast_one(p, ast_with_item(p, E, NULL)); }
inner_list(L) ::= inner_item(I).                      { L = ast_one(p, I); }
inner_list(L) ::= inner_list(L) COMMA inner_item(I).  { ast_push(p, &L, I); }
inner_item(I) ::= named(E).                           { I = ast_with_item(p, E, NULL); }
inner_item(I) ::= test(E) AS star_target(T).          { I = ast_with_item(p, E, T); }

compound(S) ::= definition(S).
compound(S) ::= decorators(D) definition(N).          { S = ast_decorate(p, D, N); }
compound(S) ::= decorators(D).         [NEWLINE]      { S = parse_no_definition(p, D); }
decorators(L) ::= AT(T) named(E) NEWLINE.             { L = ast_one(p, ast_paren(p, T, E)); }
decorators(L) ::= decorators(L) AT(T) named(E) NEWLINE. { ast_push(p, &L, ast_paren(p, T, E)); }

definition(S) ::= DEF(T) NAME(N) type_params(Y) LPAR params(P) RPAR result(R) block(B).
                                                      { S = ast_def(p, T, N, Y, P, R, B); }
definition(S) ::= CLASS(T) NAME(N) bases(A) block(B). { S = ast_class(p, T, N, A, B); }
bases(L) ::= .                                        { L = (AstVec){0}; }
bases(L) ::= LPAR args(A) RPAR.                       { L = A; }
type_params(L) ::= .                                  { L = (AstVec){0}; }
type_params(L) ::= LSQB names(N) RSQB.                { L = N; }
type_params(L) ::= LSQB names(N) COMMA RSQB.          { L = N; }
result(R) ::= .                                       { R = NULL; }
result(R) ::= ARROW test(E).                          { R = E; }

params(L) ::= .                                       { L = (AstVec){0}; }
params(L) ::= param_list(A).                          { L = ast_params(p, A); }
params(L) ::= param_list(A) COMMA.                    { L = ast_params(p, A); }
param_list(L) ::= param(A).                           { L = ast_one(p, A); }
param_list(L) ::= param_list(L) COMMA param(A).       { ast_push(p, &L, A); }
param(A) ::= NAME(N) annotation(T) default(D).        { A = ast_param(p, N, N, T, D); }
param(A) ::= STAR(S) NAME(N) annotation(T).           { A = ast_param(p, S, N, T, NULL); }
param(A) ::= DOUBLE_STAR(S) NAME(N) annotation(T).    { A = ast_param(p, S, N, T, NULL); }
param(A) ::= STAR(S) NAME(N) COLON STAR(U) arith(E).  { A = ast_param(p, S, N, ast_starred(p, U, E), NULL); }
param(A) ::= STAR(S).                                 { A = ast_param(p, S, S, NULL, NULL); }
param(A) ::= SLASH(S).                                { A = ast_param(p, S, S, NULL, NULL); }
annotation(T) ::= .                                   { T = NULL; }
annotation(T) ::= COLON test(E).                      { T = E; }
default(D) ::= .                                      { D = NULL; }
default(D) ::= EQUAL test(E).                         { D = E; }

/* ==== Lists of expressions ==== */

value(E) ::= testlist(E).
value(E) ::= yield(E).
yield(E) ::= YIELD(T).                                { E = ast_yield(p, T, NULL, false); }
yield(E) ::= YIELD(T) testlist(V).                    { E = ast_yield(p, T, V, false); }
yield(E) ::= YIELD(T) FROM test(V).                   { E = ast_yield(p, T, V, true); }

testlist(E) ::= star_test(A).                         { E = ast_not_starred(p, A); }
testlist(E) ::= star_test(A) COMMA.                   { E = ast_tuple(p, ast_one(p, A)); }
testlist(E) ::= tests(L).                             { E = ast_tuple(p, L); }
testlist(E) ::= tests(L) COMMA.                       { E = ast_tuple(p, L); }
tests(L) ::= star_test(A) COMMA star_test(B).         { L = ast_two(p, A, B); }
tests(L) ::= tests(L) COMMA star_test(A).             { ast_push(p, &L, A); }
star_test(E) ::= test(E).
star_test(E) ::= STAR(T) arith(A).                    { E = ast_starred(p, T, A); }

target(E) ::= star_target(A).                         { E = ast_not_starred(p, A); }
target(E) ::= star_target(A) COMMA.                   { E = ast_tuple(p, ast_one(p, A)); }
target(E) ::= targets(L).                             { E = ast_tuple(p, L); }
target(E) ::= targets(L) COMMA.                       { E = ast_tuple(p, L); }
targets(L) ::= star_target(A) COMMA star_target(B).   { L = ast_two(p, A, B); }
targets(L) ::= targets(L) COMMA star_target(A).       { ast_push(p, &L, A); }
loop_target(E) ::= target(A).                         { E = ast_target(p, A); }
star_target(E) ::= arith(E).
star_target(E) ::= STAR(T) arith(A).                  { E = ast_starred(p, T, A); }

elements(L) ::= element_list(L).
elements(L) ::= element_list(L) COMMA.
element_list(L) ::= element(A).                       { L = ast_one(p, A); }
element_list(L) ::= element_list(L) COMMA element(A). { ast_push(p, &L, A); }
element(E) ::= named(E).
element(E) ::= STAR(T) arith(A).                      { E = ast_starred(p, T, A); }

/* ==== Expressions, loosest first ==== */

named(E) ::= test(E).
named(E) ::= NAME(N) WALRUS test(V).                  { E = ast_named(p, N, V); }

test(E) ::= logic(E).
test(E) ::= logic(A) IF logic(C) ELSE test(B).        { E = ast_if_exp(p, A, C, B); }
test(E) ::= LAMBDA(T) lambda_params(L) COLON test(B). { E = ast_lambda(p, T, L, B); }
lambda_params(L) ::= .                                { L = (AstVec){0}; }
lambda_params(L) ::= lambda_list(A).                  { L = ast_params(p, A); }
lambda_params(L) ::= lambda_list(A) COMMA.            { L = ast_params(p, A); }
lambda_list(L) ::= lambda_param(A).                   { L = ast_one(p, A); }
lambda_list(L) ::= lambda_list(L) COMMA lambda_param(A). { ast_push(p, &L, A); }
lambda_param(A) ::= NAME(N) default(D).               { A = ast_param(p, N, N, NULL, D); }
lambda_param(A) ::= STAR(S) NAME(N).                  { A = ast_param(p, S, N, NULL, NULL); }
lambda_param(A) ::= DOUBLE_STAR(S) NAME(N).           { A = ast_param(p, S, N, NULL, NULL); }
lambda_param(A) ::= STAR(S).                          { A = ast_param(p, S, S, NULL, NULL); }
lambda_param(A) ::= SLASH(S).                         { A = ast_param(p, S, S, NULL, NULL); }

logic(E) ::= logic(A) OR(O) logic(B).                 { E = ast_bool_op(p, A, O, B); }
logic(E) ::= logic(A) AND(O) logic(B).                { E = ast_bool_op(p, A, O, B); }
logic(E) ::= NOT(O) logic(A).                         { E = ast_unary(p, O, A); }
logic(E) ::= arith(E).
logic(E) ::= compare(C).                              { E = ast_compare_end(p, C); }
compare(E) ::= arith(A) compare_op(O) arith(B).       { E = ast_compare(p, A, O, B); }
compare(E) ::= compare(C) compare_op(O) arith(B).     { E = ast_compare_again(p, C, O, B); }
compare_op(O) ::= EQ|NE|LT|LE|GT|GE|IN(T).            { O = token_op(T); }
compare_op(O) ::= NOT IN.                             { O = AST_NOT_IN; }
compare_op(O) ::= IS.                                 { O = AST_IS; }
compare_op(O) ::= IS NOT.                             { O = AST_IS_NOT; }

arith(E) ::= arith(A) BAR(O) arith(B).                { E = ast_binary(p, A, O, B); }
arith(E) ::= arith(A) CARET(O) arith(B).              { E = ast_binary(p, A, O, B); }
arith(E) ::= arith(A) AMPER(O) arith(B).              { E = ast_binary(p, A, O, B); }
arith(E) ::= arith(A) SHL|SHR(O) arith(B).            { E = ast_binary(p, A, O, B); }
arith(E) ::= arith(A) PLUS|MINUS(O) arith(B).         { E = ast_binary(p, A, O, B); }
arith(E) ::= arith(A) STAR|SLASH|DOUBLE_SLASH|PERCENT|AT(O) arith(B). { E = ast_binary(p, A, O, B); }
arith(E) ::= PLUS|MINUS|TILDE(O) arith(A).  [TILDE]   { E = ast_unary(p, O, A); }
arith(E) ::= primary(A) DOUBLE_STAR(O) arith(B).      { E = ast_binary(p, A, O, B); }
arith(E) ::= primary(E).

primary(E) ::= atom(E).
primary(E) ::= primary(A) DOT NAME(N).                { E = ast_attribute(p, A, N); }
primary(E) ::= primary(A) LPAR args(L) RPAR.          { E = ast_call(p, A, L); }
primary(E) ::= primary(A) LSQB index(I) RSQB.         { E = ast_subscript(p, A, I); }

args(L) ::= .                                         { L = (AstVec){0}; }
args(L) ::= arg_list(A).                              { L = ast_args(p, A); }
args(L) ::= arg_list(A) COMMA.                        { L = ast_args(p, A); }
args(L) ::= named(E) clauses(C).                      { L = ast_one(p, ast_generator(p, E, C)); }
arg_list(L) ::= arg(A).                               { L = ast_one(p, A); }
arg_list(L) ::= arg_list(L) COMMA arg(A).             { ast_push(p, &L, A); }
arg(A) ::= named(A).
arg(A) ::= NAME(N) EQUAL test(V).                     { A = ast_keyword(p, N, &N, V); }
arg(A) ::= STAR(T) test(V).                           { A = ast_starred(p, T, V); }
arg(A) ::= DOUBLE_STAR(T) test(V).                    { A = ast_keyword(p, T, NULL, V); }

index(I) ::= subscript(A).                            { I = ast_index(p, A); }
index(I) ::= subscript(A) COMMA.                      { I = ast_tuple(p, ast_one(p, A)); }
index(I) ::= subscripts(L).                           { I = ast_tuple(p, L); }
index(I) ::= subscripts(L) COMMA.                     { I = ast_tuple(p, L); }
subscripts(L) ::= subscript(A) COMMA subscript(B).    { L = ast_two(p, A, B); }
subscripts(L) ::= subscripts(L) COMMA subscript(A).   { ast_push(p, &L, A); }
subscript(E) ::= element(E).
subscript(E) ::= bound(A) COLON(T) bound(B).          { E = ast_slice(p, T, A, B, NULL); }
subscript(E) ::= bound(A) COLON(T) bound(B) COLON bound(C). { E = ast_slice(p, T, A, B, C); }
bound(E) ::= .                                        { E = NULL; }
bound(E) ::= test(E).

/* ==== Atoms and displays ==== */

atom(E) ::= NAME(T).                                  { E = ast_name(p, T); }
atom(E) ::= INT(T).                                   { E = ast_int(p, T); }
atom(E) ::= FLOAT(T).                                 { E = ast_float(p, T); }
atom(E) ::= strings(L).                               { E = ast_strings(p, L); }
atom(E) ::= NONE|TRUE|FALSE|ELLIPSIS(T).              { E = ast_constant(p, T); }
strings(L) ::= STRING(T).                             { L = token_one(p, T); }
strings(L) ::= strings(L) STRING(T).                  { token_push(p, &L, T); }

atom(E) ::= LPAR(T) RPAR.                             { E = ast_paren_tuple(p, T, (AstVec){0}); }
atom(E) ::= LPAR(T) yield(A) RPAR.                    { E = ast_paren(p, T, A); }
atom(E) ::= LPAR(T) element(A) RPAR.                  { E = ast_paren(p, T, ast_not_starred(p, A)); }
atom(E) ::= LPAR(T) element(A) COMMA RPAR.            { E = ast_paren_tuple(p, T, ast_one(p, A)); }
atom(E) ::= LPAR(T) element(A) COMMA elements(L) RPAR. { E = ast_paren_tuple(p, T, ast_prepend(p, A, L)); }
atom(E) ::= LPAR(T) named(A) clauses(C) RPAR.         { E = ast_paren(p, T, ast_generator(p, A, C)); }

atom(E) ::= LSQB(T) RSQB.                             { E = ast_list(p, T, (AstVec){0}); }
atom(E) ::= LSQB(T) elements(L) RSQB.                 { E = ast_list(p, T, L); }
atom(E) ::= LSQB(T) named(A) clauses(C) RSQB.         { E = ast_comprehension(p, T, AST_LIST, A, NULL, C); }

atom(E) ::= LBRACE(T) elements(L) RBRACE.             { E = ast_set(p, T, L); }
atom(E) ::= LBRACE(T) named(A) clauses(C) RBRACE.     { E = ast_comprehension(p, T, AST_SET, A, NULL, C); }

atom(E) ::= LBRACE(T) RBRACE.                         { E = ast_dict_end(p, T, ast_dict(p)); }
atom(E) ::= LBRACE(T) pairs(D) RBRACE.                { E = ast_dict_end(p, T, D); }
atom(E) ::= LBRACE(T) pairs(D) COMMA RBRACE.          { E = ast_dict_end(p, T, D); }
atom(E) ::= LBRACE(T) test(K) COLON test(V) clauses(C) RBRACE. { E = ast_comprehension(p, T, AST_DICT, K, V, C); }
pairs(D) ::= test(K) COLON test(V).                   { D = ast_dict_push(p, ast_dict(p), K, V); }
pairs(D) ::= DOUBLE_STAR arith(V).                    { D = ast_dict_push(p, ast_dict(p), NULL, V); }
pairs(D) ::= pairs(E) COMMA test(K) COLON test(V).    { D = ast_dict_push(p, E, K, V); }
pairs(D) ::= pairs(E) COMMA DOUBLE_STAR arith(V).     { D = ast_dict_push(p, E, NULL, V); }

clauses(L) ::= clause(C).                             { L = ast_one(p, C); }
clauses(L) ::= clauses(L) clause(C).                  { ast_push(p, &L, C); }
clause(C) ::= FOR(T) loop_target(V) IN logic(I) conditions(L). { C = ast_comp_for(p, T, V, I, L); }
conditions(L) ::= .                                   { L = (AstVec){0}; }
conditions(L) ::= conditions(L) IF logic(C).          { ast_push(p, &L, C); }
