/* parser.c -- unit tests of parser/: each construct, through the dump of its tree.
 *
 * The trees are written in one line: children in parentheses, a Name as its bare name. They agree
 * with those of Python's own parser, where it knows the construct. */
#include "parser/parser.h"
#include "ir/support/diag.h"
#include "tests/unit/unit.h"
#include <stdio.h>

/* ---- help for these tests ---- */

/* One line of a dump, without its indentation; a Name becomes its bare name. */
static void add_line(Str *out, const char *line, const char *end) {
  static const char word[] = "Name name=\"";
  const char *name = strstr(line, word);
  if (!name || name > end) {
    str_add_n(out, line, (size_t)(end - line));
    return;
  }
  str_add_n(out, line, (size_t)(name - line));
  name += sizeof word - 1;
  str_add_n(out, name, (size_t)(end - 1 - name));
}

/* The dump in one line, from the children of its first line on. */
static const char *flat(const char *dump) {
  Str out = {0};
  int depth = 0;
  for (const char *line = strchr(dump, '\n') + 1; *line;) {
    const char *end = strchr(line, '\n'), *text = line;
    while (*text == ' ') text++;
    int indent = (int)(text - line) / 2;
    for (; depth > indent; depth--) str_add_char(&out, ')');
    if (out.len) str_add(&out, indent > depth && depth ? "(" : ", ");
    depth = indent;
    add_line(&out, text, end);
    line = end + 1;
  }
  for (; depth > 1; depth--) str_add_char(&out, ')');
  return str_text(&out);
}

static AstModule *parse(const char *text, size_t len) {
  return parse_module(source_add("test", text, len));
}

/* Does the text parse without faults to this tree? */
static bool tree_is(const char *text, const char *tree) {
  AstModule *m = parse(text, strlen(text));
  const char *got = flat(ast_dump(&m->ast));
  bool good = !diag_error_count() && str_same(got, tree);
  if (!good) printf("text:     %s\nexpected: %s\nfound:    %s\n", text, tree, got);
  diag_flush(stdout, DIAG_PLAIN);
  return good;
}

#define reads(text, tree) CHECK(tree_is(text, tree))

/* ---- constructs ---- */

TEST(the_parser_reads_literals) {
  reads("0\n", "body: ExprStmt(value: Int value=0)");
  reads("0xFF_ff + 0o17 + 0b1_01 + 1_000\n",
        "body: ExprStmt(value: Binary op=+(left: Binary op=+(left: Binary op=+(left: Int "
        "value=65535, right: Int value=15), right: Int value=5), right: Int value=1000))");
  reads("18446744073709551615, 18446744073709551616\n",
        "body: ExprStmt(value: Tuple(items: Int value=18446744073709551615, items: Int "
        "value=18446744073709551615 too_large))");
  reads("1. + .5 + 1e3 + 1_0.5e-1_0\n",
        "body: ExprStmt(value: Binary op=+(left: Binary op=+(left: Binary op=+(left: Float "
        "value=1.0, right: Float value=0.5), right: Float value=1000.0), right: Float "
        "value=1.05e-09))");
  reads("None, True, False, ...\n",
        "body: ExprStmt(value: Tuple(items: None, items: Bool value, items: Bool, items: "
        "Ellipsis))");
  reads("x_é\n", "body: ExprStmt(value: x_é)");
}

TEST(the_parser_reads_strings) {
  reads("'a' \"b\" '''c''' \"\"\"d\"\"\"\n", "body: ExprStmt(value: Str \"abcd\")");
  reads("'\\a\\b\\f\\n\\r\\t\\v\\\\\\'\\\"\\101\\x41\\u00e9\\U0001F600\\d'\n",
        "body: ExprStmt(value: Str \"\\x07\\x08\\x0c\\n\\r\\t\\x0b\\\\'\\\"AAé😀\\\\d\")");
  reads("r'\\n' R'\\x' u'a' U'b'\n", "body: ExprStmt(value: Str \"\\\\n\\\\xab\")");
  reads("rb'\\n' b'\\x41\\101\\u' Rb'' bR'' BR''\n",
        "body: ExprStmt(value: Str b\"\\\\nAA\\\\u\")");
  reads("f'a' rf'\\d' fR'{a}\\n' F''\n",
        "body: ExprStmt(value: FString(parts: Str \"a\\\\d\", parts: FormatField(value: a), "
        "parts: Str \"\\\\n\"))");
  reads("b'\\x41' bR'\\n' Br'q'\n", "body: ExprStmt(value: Str b\"A\\\\nq\")");
  reads("'a\\\nb'\n", "body: ExprStmt(value: Str \"ab\")");
  reads("'''a\n'b''c\n'''\n", "body: ExprStmt(value: Str \"a\\n'b''c\\n\")");
  reads("x = ('a'\n  'b')\n", "body: Assign(targets: x, value: Str \"ab\")");
  reads("'a\\0b'\n", "body: ExprStmt(value: Str \"a\\x00b\")");
}

TEST(the_parser_reads_f_strings) {
  reads("f'a{b}c'\n",
        "body: ExprStmt(value: FString(parts: Str \"a\", parts: FormatField(value: b), parts: "
        "Str \"c\"))");
  reads("f'{{x}} {a!r} {b!s:>10} {c:{w}.{p}f}' 'tail'\n",
        "body: ExprStmt(value: FString(parts: Str \"{x} \", parts: FormatField conversion=114("
        "value: a), parts: Str \" \", parts: FormatField conversion=115(value: b, spec: "
        "FString(parts: Str \">10\")), parts: Str \" \", parts: FormatField(value: c, spec: "
        "FString(parts: FormatField(value: w), parts: Str \".\", parts: FormatField(value: p), "
        "parts: Str \"f\")), parts: Str \"tail\"))");
  reads("f'{a[\"k\"]}{ {1: 2}[1] }{(lambda x: x)(1)}'\n",
        "body: ExprStmt(value: FString(parts: FormatField(value: Subscript(value: a, index: "
        "Str \"k\")), parts: FormatField(value: Subscript(value: Dict(keys: Int value=1, "
        "values: Int value=2), index: Int value=1)), parts: FormatField(value: Call(func: "
        "Lambda(params: Param name=\"x\" kind=plain, body: x), args: Int value=1))))");
  reads("f'''{a\n + b}'''\n",
        "body: ExprStmt(value: FString(parts: FormatField(value: Binary op=+(left: a, right: "
        "b))))");
  reads("rf'\\n{a}' f'{a != b}{a == b}{c:=^5}'\n",
        "body: ExprStmt(value: FString(parts: Str \"\\\\n\", parts: FormatField(value: a), "
        "parts: FormatField(value: Compare ops=!=(left: a, rights: b)), parts: FormatField("
        "value: Compare ops===(left: a, rights: b)), parts: FormatField(value: c, spec: "
        "FString(parts: Str \"=^5\"))))");
  reads("f'{x, y}{*a, b}{yield_}'\n",
        "body: ExprStmt(value: FString(parts: FormatField(value: Tuple(items: x, items: y)), "
        "parts: FormatField(value: Tuple(items: Starred(value: a), items: b)), parts: "
        "FormatField(value: yield_)))");
  reads("f'{f\"{a}\"}'\n",
        "body: ExprStmt(value: FString(parts: FormatField(value: FString(parts: FormatField("
        "value: a)))))");
}

TEST(the_parser_reads_primaries) {
  reads("a.b.c\n",
        "body: ExprStmt(value: Attribute name=\"c\"(value: Attribute name=\"b\"(value: a)))");
  reads("f()(1)[2].g\n",
        "body: ExprStmt(value: Attribute name=\"g\"(value: Subscript(value: Call(func: Call("
        "func: f), args: Int value=1), index: Int value=2)))");
  reads("f(a, *b, c=1, *d, **e, g=2)\n",
        "body: ExprStmt(value: Call(func: f, args: a, args: Starred(value: b), args: Keyword "
        "name=\"c\"(value: Int value=1), args: Starred(value: d), args: Keyword(value: e), "
        "args: Keyword name=\"g\"(value: Int value=2)))");
  reads("f(a for a in b)\n",
        "body: ExprStmt(value: Call(func: f, args: Comprehension display=generator(element: a, "
        "clauses: CompFor(target: a, iter: b))))");
  reads("f(x := 1, y)\n",
        "body: ExprStmt(value: Call(func: f, args: NamedExpr(target: x, value: Int value=1), "
        "args: y))");
  reads("f(a,)\n", "body: ExprStmt(value: Call(func: f, args: a))");
}

TEST(the_parser_reads_subscripts) {
  reads("a[1], a[1:2], a[:], a[::], a[1:2:3], a[:, 1], a[::2, ...], a[1,]\n",
        "body: ExprStmt(value: Tuple(items: Subscript(value: a, index: Int value=1), items: "
        "Subscript(value: a, index: Slice(lo: Int value=1, hi: Int value=2)), items: Subscript("
        "value: a, index: Slice), items: Subscript(value: a, index: Slice), items: Subscript("
        "value: a, index: Slice(lo: Int value=1, hi: Int value=2, step: Int value=3)), items: "
        "Subscript(value: a, index: Tuple(items: Slice, items: Int value=1)), items: Subscript("
        "value: a, index: Tuple(items: Slice(step: Int value=2), items: Ellipsis)), items: "
        "Subscript(value: a, index: Tuple(items: Int value=1))))");
  reads("a[*b], a[*b, 1], a[(1, 2)]\n",
        "body: ExprStmt(value: Tuple(items: Subscript(value: a, index: Tuple(items: Starred("
        "value: b))), items: Subscript(value: a, index: Tuple(items: Starred(value: b), items: "
        "Int value=1)), items: Subscript(value: a, index: Tuple parenthesized(items: Int "
        "value=1, items: Int value=2))))");
  reads("A[i0 * 4 : i0 * 4 + 4, j]\n",
        "body: ExprStmt(value: Subscript(value: A, index: Tuple(items: Slice(lo: Binary op=*("
        "left: i0, right: Int value=4), hi: Binary op=+(left: Binary op=*(left: i0, right: Int "
        "value=4), right: Int value=4)), items: j)))");
}

TEST(the_parser_reads_operators) {
  reads("a + b - c * d / e // f % g @ h\n",
        "body: ExprStmt(value: Binary op=-(left: Binary op=+(left: a, right: b), right: Binary "
        "op=@(left: Binary op=%(left: Binary op=//(left: Binary op=/(left: Binary op=*(left: c,"
        " right: d), right: e), right: f), right: g), right: h)))");
  reads("a | b ^ c & d << e >> f\n",
        "body: ExprStmt(value: Binary op=|(left: a, right: Binary op=^(left: b, right: Binary "
        "op=&(left: c, right: Binary op=>>(left: Binary op=<<(left: d, right: e), right: f)))))");
  reads("-a ** -b ** ~c\n",
        "body: ExprStmt(value: Unary op=-(operand: Binary op=**(left: a, right: Unary op=-("
        "operand: Binary op=**(left: b, right: Unary op=~(operand: c))))))");
  reads("not a or b and not c\n",
        "body: ExprStmt(value: BoolOp op=or(left: Unary op=not(operand: a), right: BoolOp "
        "op=and(left: b, right: Unary op=not(operand: c))))");
  reads("a < b <= c > d >= e == f != g\n",
        "body: ExprStmt(value: Compare ops=< ops=<= ops=> ops=>= ops=== ops=!=(left: a, "
        "rights: b, rights: c, rights: d, rights: e, rights: f, rights: g))");
  reads("a in b, a not in b, a is b, a is not b\n",
        "body: ExprStmt(value: Tuple(items: Compare ops=in(left: a, rights: b), items: Compare "
        "ops=not in(left: a, rights: b), items: Compare ops=is(left: a, rights: b), items: "
        "Compare ops=is not(left: a, rights: b)))");
  reads("(a < b) < c\n",
        "body: ExprStmt(value: Compare ops=<(left: Compare ops=<(left: a, rights: b), rights: c))");
  reads("a if b else c if d else e\n",
        "body: ExprStmt(value: IfExp(then: a, cond: b, orelse: IfExp(then: c, cond: d, orelse: "
        "e)))");
  reads("+a - -b\n",
        "body: ExprStmt(value: Binary op=-(left: Unary op=+(operand: a), right: Unary op=-("
        "operand: b)))");
  reads("not a == b\n",
        "body: ExprStmt(value: Unary op=not(operand: Compare ops===(left: a, rights: b)))");
  reads("a or b and c or d\n",
        "body: ExprStmt(value: BoolOp op=or(left: BoolOp op=or(left: a, right: BoolOp op=and("
        "left: b, right: c)), right: d))");
}

TEST(the_parser_reads_lambdas) {
  reads("lambda: 1\n", "body: ExprStmt(value: Lambda(body: Int value=1))");
  reads("lambda a, b=1, /, c=2, *d, e, f=3, **g: a + b\n",
        "body: ExprStmt(value: Lambda(params: Param name=\"a\" kind=plain, params: Param "
        "name=\"b\" kind=plain(value: Int value=1), params: Param kind=/, params: Param "
        "name=\"c\" kind=plain(value: Int value=2), params: Param name=\"d\" kind=*, params: "
        "Param name=\"e\" kind=keyword-only, params: Param name=\"f\" kind=keyword-only(value: "
        "Int value=3), params: Param name=\"g\" kind=**, body: Binary op=+(left: a, right: b)))");
  reads("lambda *, a: a\n",
        "body: ExprStmt(value: Lambda(params: Param kind=*, params: Param name=\"a\" "
        "kind=keyword-only, body: a))");
  reads("lambda *a, b: lambda: a\n",
        "body: ExprStmt(value: Lambda(params: Param name=\"a\" kind=*, params: Param "
        "name=\"b\" kind=keyword-only, body: Lambda(body: a)))");
}

TEST(the_parser_reads_displays) {
  reads("(), (a,), (a), (a, b), (a, b,)\n",
        "body: ExprStmt(value: Tuple(items: Tuple parenthesized, items: Tuple parenthesized("
        "items: a), items: a, items: Tuple parenthesized(items: a, items: b), items: Tuple "
        "parenthesized(items: a, items: b)))");
  reads("[], [a], [a, *b], [a,]\n",
        "body: ExprStmt(value: Tuple(items: List, items: List(items: a), items: List(items: a, "
        "items: Starred(value: b)), items: List(items: a)))");
  reads("{}, {a: b}, {a: b, **c, d: e,}\n",
        "body: ExprStmt(value: Tuple(items: Dict, items: Dict(keys: a, values: b), items: Dict("
        "keys: a, keys: -, keys: d, values: b, values: c, values: e)))");
  reads("{a}, {a, *b,}\n",
        "body: ExprStmt(value: Tuple(items: Set(items: a), items: Set(items: a, items: Starred("
        "value: b))))");
  reads("(a, *b), (yield_)\n",
        "body: ExprStmt(value: Tuple(items: Tuple parenthesized(items: a, items: Starred("
        "value: b)), items: yield_))");
  reads("[a := 1, b]\n",
        "body: ExprStmt(value: List(items: NamedExpr(target: a, value: Int value=1), items: b))");
}

TEST(the_parser_reads_comprehensions) {
  reads("[a for a in b]\n",
        "body: ExprStmt(value: Comprehension display=list(element: a, clauses: CompFor(target: "
        "a, iter: b)))");
  reads("[a for a, b in c if d if e for f in g]\n",
        "body: ExprStmt(value: Comprehension display=list(element: a, clauses: CompFor(target: "
        "Tuple(items: a, items: b), iter: c, conds: d, conds: e), clauses: CompFor(target: f, "
        "iter: g)))");
  reads("{a for a in b}, {a: b for a, b in c}, (a for a in b)\n",
        "body: ExprStmt(value: Tuple(items: Comprehension display=set(element: a, clauses: "
        "CompFor(target: a, iter: b)), items: Comprehension display=dict(element: a, value: b, "
        "clauses: CompFor(target: Tuple(items: a, items: b), iter: c)), items: Comprehension "
        "display=generator(element: a, clauses: CompFor(target: a, iter: b))))");
  reads("[a for *a, b in c]\n",
        "body: ExprStmt(value: Comprehension display=list(element: a, clauses: CompFor(target: "
        "Tuple(items: Starred(value: a), items: b), iter: c)))");
  reads("[x for x in (1 if a else b)]\n",
        "body: ExprStmt(value: Comprehension display=list(element: x, clauses: CompFor(target: "
        "x, iter: IfExp(then: Int value=1, cond: a, orelse: b))))");
  reads("[x if y else z for x in w if y or z]\n",
        "body: ExprStmt(value: Comprehension display=list(element: IfExp(then: x, cond: y, "
        "orelse: z), clauses: CompFor(target: x, iter: w, conds: BoolOp op=or(left: y, right: "
        "z))))");
  reads("{a: (b := c) for a in b}\n",
        "body: ExprStmt(value: Comprehension display=dict(element: a, value: NamedExpr(target: "
        "b, value: c), clauses: CompFor(target: a, iter: b)))");
}

TEST(the_parser_reads_assignments) {
  reads("a = b\n", "body: Assign(targets: a, value: b)");
  reads("a = b = c = d\n", "body: Assign(targets: a, targets: b, targets: c, value: d)");
  reads("a, b = b, a\n",
        "body: Assign(targets: Tuple(items: a, items: b), value: Tuple(items: b, items: a))");
  reads("a, = b\n", "body: Assign(targets: Tuple(items: a), value: b)");
  reads("[a, *b], c = d\n",
        "body: Assign(targets: Tuple(items: List(items: a, items: Starred(value: b)), items: "
        "c), value: d)");
  reads("*a, b = c\n",
        "body: Assign(targets: Tuple(items: Starred(value: a), items: b), value: c)");
  reads("a.b = c[d] = e\n",
        "body: Assign(targets: Attribute name=\"b\"(value: a), targets: Subscript(value: c, "
        "index: d), value: e)");
  reads("(a), (b, c) = d\n",
        "body: Assign(targets: Tuple(items: a, items: Tuple parenthesized(items: b, items: c)),"
        " value: d)");
  reads("x: int\n", "body: AnnAssign(target: x, annotation: int)");
  reads("x: int = 1\n", "body: AnnAssign(target: x, annotation: int, value: Int value=1)");
  reads("a.b: T.Buffer((1,), \"f\") = c, d\n",
        "body: AnnAssign(target: Attribute name=\"b\"(value: a), annotation: Call(func: "
        "Attribute name=\"Buffer\"(value: T), args: Tuple parenthesized(items: Int value=1), "
        "args: Str \"f\"), value: Tuple(items: c, items: d))");
  reads("x = *a, b\n",
        "body: Assign(targets: x, value: Tuple(items: Starred(value: a), items: b))");
}

TEST(the_parser_reads_augmented_assignments) {
  reads("a += 1\n", "body: AugAssign op=+(target: a, value: Int value=1)");
  reads("a.b -= 1\na[i] *= 2\n",
        "body: AugAssign op=-(target: Attribute name=\"b\"(value: a), value: Int value=1), "
        "body: AugAssign op=*(target: Subscript(value: a, index: i), value: Int value=2)");
  reads("a /= b; a //= b; a %= b; a **= b; a @= b\n",
        "body: AugAssign op=/(target: a, value: b), body: AugAssign op=//(target: a, value: b),"
        " body: AugAssign op=%(target: a, value: b), body: AugAssign op=**(target: a, value: "
        "b), body: AugAssign op=@(target: a, value: b)");
  reads("a <<= b; a >>= b; a &= b; a |= b; a ^= b\n",
        "body: AugAssign op=<<(target: a, value: b), body: AugAssign op=>>(target: a, value: "
        "b), body: AugAssign op=&(target: a, value: b), body: AugAssign op=|(target: a, value: "
        "b), body: AugAssign op=^(target: a, value: b)");
}

TEST(the_parser_reads_simple_statements) {
  reads("pass; break; continue\n", "body: Pass, body: Break, body: Continue");
  reads("return\n", "body: Return");
  reads("return a, *b\n", "body: Return(value: Tuple(items: a, items: Starred(value: b)))");
  reads("raise\nraise a\nraise a from b\n",
        "body: Raise, body: Raise(value: a), body: Raise(value: a, cause: b)");
  reads("assert a\nassert a, \"m\"\n",
        "body: Assert(cond: a), body: Assert(cond: a, message: Str \"m\")");
  reads("del a\ndel a, b[1], (c, d)\n",
        "body: Delete(targets: a), body: Delete(targets: a, targets: Subscript(value: b, "
        "index: Int value=1), targets: Tuple parenthesized(items: c, items: d))");
  reads("del (a)\n", "body: Delete(targets: a)");
  reads("global a\nglobal b, c\nnonlocal d\n",
        "body: Global(names: a), body: Global(names: b, names: c), body: Nonlocal(names: d)");
  reads("x; y;\n", "body: ExprStmt(value: x), body: ExprStmt(value: y)");
}

TEST(the_parser_reads_imports) {
  reads("import a\n", "body: Import(names: Alias name=\"a\")");
  reads("import a.b.c as d, e\n",
        "body: Import(names: Alias name=\"a.b.c\" as=\"d\", names: Alias name=\"e\")");
  reads("from a import b\n", "body: ImportFrom module=\"a\"(names: Alias name=\"b\")");
  reads("from .a.b import (c as d, e,)\n",
        "body: ImportFrom level=1 module=\"a.b\"(names: Alias name=\"c\" as=\"d\", names: "
        "Alias name=\"e\")");
  reads("from . import a\nfrom ... import b\nfrom ....c import d\n",
        "body: ImportFrom level=1(names: Alias name=\"a\"), body: ImportFrom level=3(names: "
        "Alias name=\"b\"), body: ImportFrom level=4 module=\"c\"(names: Alias name=\"d\")");
  reads("from a import *\n", "body: ImportFrom module=\"a\"(names: Alias name=\"*\")");
  reads("import a . b\n", "body: Import(names: Alias name=\"a.b\")");
}

TEST(the_parser_reads_branches) {
  reads("if a: pass\n", "body: If(cond: a, body: Pass)");
  reads("if a:\n  b\nelif c:\n  d\nelif e: f\nelse:\n  g\n",
        "body: If(cond: a, body: ExprStmt(value: b), orelse: If(cond: c, body: ExprStmt(value: "
        "d), orelse: If(cond: e, body: ExprStmt(value: f), orelse: ExprStmt(value: g))))");
  reads("while a: b\nelse: c\n",
        "body: While(cond: a, body: ExprStmt(value: b), orelse: ExprStmt(value: c))");
  reads("if (a := b): pass\n", "body: If(cond: NamedExpr(target: a, value: b), body: Pass)");
  reads("if a: b; c\n", "body: If(cond: a, body: ExprStmt(value: b), body: ExprStmt(value: c))");
}

TEST(the_parser_reads_loops) {
  reads("for a in b: pass\n", "body: For(target: a, iter: b, body: Pass)");
  reads("for a, *b in c, d:\n  e\nelse:\n  f\n",
        "body: For(target: Tuple(items: a, items: Starred(value: b)), iter: Tuple(items: c, "
        "items: d), body: ExprStmt(value: e), orelse: ExprStmt(value: f))");
  reads("for (a, b) in c: pass\n",
        "body: For(target: Tuple parenthesized(items: a, items: b), iter: c, body: Pass)");
  reads("for i, in a: pass\n", "body: For(target: Tuple(items: i), iter: a, body: Pass)");
  reads("for a.b in c: pass\nfor a[i] in c: pass\n",
        "body: For(target: Attribute name=\"b\"(value: a), iter: c, body: Pass), body: For("
        "target: Subscript(value: a, index: i), iter: c, body: Pass)");
  reads("for x in *a, b: pass\n",
        "body: For(target: x, iter: Tuple(items: Starred(value: a), items: b), body: Pass)");
}

TEST(the_parser_reads_try_statements) {
  reads("try: a\nfinally: b\n", "body: Try(body: ExprStmt(value: a), finally: ExprStmt(value: b))");
  reads("try:\n  a\nexcept: b\n",
        "body: Try(body: ExprStmt(value: a), handlers: Handler(body: ExprStmt(value: b)))");
  reads("try:\n  a\nexcept b:\n  c\nexcept (d, e) as f:\n  g\nexcept:\n  h\nelse:\n  "
        "i\nfinally:\n  j\n",
        "body: Try(body: ExprStmt(value: a), handlers: Handler(type: b, body: ExprStmt(value: "
        "c)), handlers: Handler name=\"f\"(type: Tuple parenthesized(items: d, items: e), "
        "body: ExprStmt(value: g)), handlers: Handler(body: ExprStmt(value: h)), orelse: "
        "ExprStmt(value: i), finally: ExprStmt(value: j))");
}

TEST(the_parser_reads_with_statements) {
  reads("with a: pass\n", "body: With(items: WithItem(context: a), body: Pass)");
  reads("with a as b, c as (d, e): pass\n",
        "body: With(items: WithItem(context: a, target: b), items: WithItem(context: c, "
        "target: Tuple parenthesized(items: d, items: e)), body: Pass)");
  reads("with (a): pass\n", "body: With(items: WithItem(context: a), body: Pass)");
  reads("with (a, b): pass\n",
        "body: With(items: WithItem(context: a), items: WithItem(context: b), body: Pass)");
  reads("with (a, b) as c: pass\n",
        "body: With(items: WithItem(context: Tuple parenthesized(items: a, items: b), target: "
        "c), body: Pass)");
  reads("with (a as b, c,): pass\n",
        "body: With(items: WithItem(context: a, target: b), items: WithItem(context: c), body: "
        "Pass)");
  reads("with (a as b): pass\n", "body: With(items: WithItem(context: a, target: b), body: Pass)");
  reads("with (a).b as c: pass\n",
        "body: With(items: WithItem(context: Attribute name=\"b\"(value: a), target: c), body: "
        "Pass)");
  reads("with (a), b: pass\n",
        "body: With(items: WithItem(context: a), items: WithItem(context: b), body: Pass)");
  reads("with (\n  a as b,\n  c(d) as e\n):\n  pass\n",
        "body: With(items: WithItem(context: a, target: b), items: WithItem(context: Call("
        "func: c, args: d), target: e), body: Pass)");
  reads("with (yield_): pass\n", "body: With(items: WithItem(context: yield_), body: Pass)");
  reads("with (a := b): pass\n",
        "body: With(items: WithItem(context: NamedExpr(target: a, value: b)), body: Pass)");
}

TEST(the_parser_reads_functions) {
  reads("def f(): pass\n", "body: Def name=\"f\"(body: Pass)");
  reads("def f(a, b: int, c=1, d: int = 2) -> R.Tensor: pass\n",
        "body: Def name=\"f\"(params: Param name=\"a\" kind=plain, params: Param name=\"b\" "
        "kind=plain(annotation: int), params: Param name=\"c\" kind=plain(value: Int value=1), "
        "params: Param name=\"d\" kind=plain(annotation: int, value: Int value=2), result: "
        "Attribute name=\"Tensor\"(value: R), body: Pass)");
  reads("def f(a, /, b, *, c, d=1, **e): pass\n",
        "body: Def name=\"f\"(params: Param name=\"a\" kind=plain, params: Param kind=/, "
        "params: Param name=\"b\" kind=plain, params: Param kind=*, params: Param name=\"c\" "
        "kind=keyword-only, params: Param name=\"d\" kind=keyword-only(value: Int value=1), "
        "params: Param name=\"e\" kind=**, body: Pass)");
  reads("def f(*args: int, **kw: str): pass\n",
        "body: Def name=\"f\"(params: Param name=\"args\" kind=*(annotation: int), params: "
        "Param name=\"kw\" kind=**(annotation: str), body: Pass)");
  reads("def f(*args: *Ts): pass\n",
        "body: Def name=\"f\"(params: Param name=\"args\" kind=*(annotation: Starred(value: "
        "Ts)), body: Pass)");
  reads("def f(a, b=1, /): pass\n",
        "body: Def name=\"f\"(params: Param name=\"a\" kind=plain, params: Param name=\"b\" "
        "kind=plain(value: Int value=1), params: Param kind=/, body: Pass)");
  reads("@a\n@b.c(d=1)\ndef f():\n  return 1\n",
        "body: Def name=\"f\"(decorators: a, decorators: Call(func: Attribute name=\"c\"("
        "value: b), args: Keyword name=\"d\"(value: Int value=1)), body: Return(value: Int "
        "value=1))");
  reads("def f(\n  a,\n  b,\n): pass\n",
        "body: Def name=\"f\"(params: Param name=\"a\" kind=plain, params: Param name=\"b\" "
        "kind=plain, body: Pass)");
  reads("def f():\n  yield\n  x = yield a\n  yield from b\n  y = yield a, b\n",
        "body: Def name=\"f\" generator(body: ExprStmt(value: Yield), body: Assign(targets: x, "
        "value: Yield(value: a)), body: ExprStmt(value: Yield from(value: b)), body: Assign("
        "targets: y, value: Yield(value: Tuple(items: a, items: b))))");
  reads("def f():\n  def g():\n    yield\n",
        "body: Def name=\"f\"(body: Def name=\"g\" generator(body: ExprStmt(value: Yield)))");
  reads("def f(): (yield)\n", "body: Def name=\"f\" generator(body: ExprStmt(value: Yield))");
  reads("def f(): lambda: (yield)\n",
        "body: Def name=\"f\"(body: ExprStmt(value: Lambda(body: Yield)))");
}

TEST(the_parser_reads_classes) {
  reads("class A: pass\n", "body: Class name=\"A\"(body: Pass)");
  reads("class A(): pass\n", "body: Class name=\"A\"(body: Pass)");
  reads("class A(B, C, metaclass=D, **e):\n  x = 1\n",
        "body: Class name=\"A\"(bases: B, bases: C, bases: Keyword name=\"metaclass\"(value: "
        "D), bases: Keyword(value: e), body: Assign(targets: x, value: Int value=1))");
  reads("@a\nclass A:\n  def f(self): pass\n",
        "body: Class name=\"A\"(decorators: a, body: Def name=\"f\"(params: Param "
        "name=\"self\" kind=plain, body: Pass))");
}

TEST(the_parser_reads_words_that_are_names) {
  reads("match = 1\nmatch(x)\ntype = match\nprint(case)\n_ = exec\nmatch[1]\nmatch.x\n",
        "body: Assign(targets: match, value: Int value=1), body: ExprStmt(value: Call(func: "
        "match, args: x)), body: Assign(targets: type, value: match), body: ExprStmt(value: "
        "Call(func: print, args: case)), body: Assign(targets: _, value: exec), body: ExprStmt("
        "value: Subscript(value: match, index: Int value=1)), body: ExprStmt(value: Attribute "
        "name=\"x\"(value: match))");
}

TEST(the_parser_reads_layout) {
  reads("if a:\n    b\n\n  # comment\n    c\nd\n",
        "body: If(cond: a, body: ExprStmt(value: b), body: ExprStmt(value: c)), body: ExprStmt("
        "value: d)");
  reads("if a:\n\tb\n\tif c:\n\t\td\n",
        "body: If(cond: a, body: ExprStmt(value: b), body: If(cond: c, body: ExprStmt(value: d)))");
  reads("f(a,\n  b)\n", "body: ExprStmt(value: Call(func: f, args: a, args: b))");
  reads("a = b + \\\n  c\n", "body: Assign(targets: a, value: Binary op=+(left: b, right: c))");
  reads("if a:\n  b", "body: If(cond: a, body: ExprStmt(value: b))");
  reads("\n\n  \n\nx\n", "body: ExprStmt(value: x)");
  reads("if a:\n  if b:\n    c\nd\n",
        "body: If(cond: a, body: If(cond: b, body: ExprStmt(value: c))), body: ExprStmt(value: d)");
  reads("x = [\n  1,  # one\n\n  2\n]\n",
        "body: Assign(targets: x, value: List(items: Int value=1, items: Int value=2))");
  reads("\014x\n", "body: ExprStmt(value: x)");
}

/* What Python 3.11 does not read, or shows in another form. */

TEST(the_parser_reads_type_parameters) {
  reads("def f[n](x): pass\n",
        "body: Def name=\"f\"(type_params: n, params: Param name=\"x\" kind=plain, body: Pass)");
  reads("def f[n, m,](): pass\n",
        "body: Def name=\"f\"(type_params: n, type_params: m, body: Pass)");
}

TEST(the_parser_keeps_the_text_of_debug_fields) {
  reads("f'{a = }{b=!r}'\n",
        "body: ExprStmt(value: FString(parts: FormatField debug=\"a = \"("
        "value: a), parts: FormatField conversion=114 debug=\"b=\"(value: b)))");
}

TEST(the_parser_accepts_every_end_of_line) {
  const char *tree = "body: If(cond: a, body: ExprStmt(value: Str \"b\\nc\"), body: Pass)";
  reads("if a:\n  '''b\nc'''\n  pass\n", tree);
  reads("if a:\r\n  '''b\r\nc'''\r\n  pass\r\n", tree);
  reads("if a:\r  '''b\rc'''\r  pass\r", tree);
  reads("\xef\xbb\xbfif a:\n  '''b\nc'''\n  pass", tree);
  reads("x = 1 \\\r\n + 2", "body: Assign(targets: x, value: Binary op=+(left: Int value=1, right: "
                            "Int value=2))");
}

TEST(the_parser_reads_empty_texts) {
  reads("", "");
  reads("\n\n  \n", "");
  reads("\xef\xbb\xbf", "");
  reads("# only a comment", "");
}

TEST(comments_lie_beside_the_tree) {
  const char *text = "# a\nx = [  # b\n  # c\n]\n";
  AstModule *m = parse(text, strlen(text));
  uint32_t base = m->ast.span.lo;
  CHECK(m->comments.len == 3);
  CHECK(m->comments.at[0].own_line && !m->comments.at[1].own_line && m->comments.at[2].own_line);
  CHECK(m->comments.at[1].span.lo == base + 11 && m->comments.at[1].span.hi == base + 14);
}

/* ---- places ---- */

typedef struct Places {
  const char *text;
  uint32_t base;
  Str out;
} Places;

static void add_place(void *context, Ast *node) {
  Places *p = context;
  str_printf(&p->out, "%s<%.*s> ", ast_kind_name(node->kind), (int)(node->span.hi - node->span.lo),
             p->text + (node->span.lo - p->base));
  ast_each_child(node, add_place, p);
}

static bool places_are(const char *text, const char *places) {
  AstModule *m = parse(text, strlen(text));
  Places p = {text, m->ast.span.lo, {0}};
  ast_each_child(&m->ast, add_place, &p);
  const char *got = str_text(&p.out);
  bool good = strcmp(got, places) == 0;
  if (!good) printf("expected: %s\nfound:    %s\n", places, got);
  return good;
}

TEST(a_node_spans_its_first_to_its_last_token) {
  CHECK(places_are("x = (a) + b.c[1](d) ;\n",
                   "Assign<x = (a) + b.c[1](d)> Name<x> Binary<(a) + b.c[1](d)> Name<(a)> "
                   "Call<b.c[1](d)> Subscript<b.c[1]> Attribute<b.c> Name<b> Int<1> Name<d> "));
  CHECK(places_are("a, b, \n", "ExprStmt<a, b,> Tuple<a, b,> Name<a> Name<b> "));
  CHECK(places_are("if a:\n  b\n# c\n", "If<if a:\n  b> Name<a> ExprStmt<b> Name<b> "));
  CHECK(places_are("@d\ndef f(a=1): pass\n",
                   "Def<@d\ndef f(a=1): pass> Name<@d> Param<a=1> Int<1> Pass<pass> "));
  CHECK(places_are("'a' f'{ b }'", "ExprStmt<'a' f'{ b }'> FString<'a' f'{ b }'> Str<'a'> "
                                   "FormatField<{ b }> Name<b> "));
}

TEST(an_attribute_and_an_operator_have_places_of_their_own) {
  const char *text = "a.b + c";
  AstModule *m = parse(text, strlen(text));
  uint32_t base = m->ast.span.lo;
  const AstBinary *sum = AST_AS(Binary, AST_AS(ExprStmt, m->body.at[0])->value);
  CHECK(sum->op_span.lo == base + 4 && sum->op_span.hi == base + 5);
  CHECK(AST_AS(Attribute, sum->left)->name_span.lo == base + 2);
}

/* ---- single expressions, the REPL's question ---- */

static Ast *expression(const char *text) {
  return parse_expression(source_add("test", text, strlen(text)));
}

TEST(parse_expression_reads_one_expression) {
  CHECK(str_same(flat(ast_dump(expression(" A,\n B(x=1) "))),
                 "items: A, items: Call(func: B, args: Keyword name=\"x\"(value: Int value=1))"));
  CHECK(expression("n")->kind == AST_KIND_Name);
  CHECK(!expression("a b") && !expression("") && !expression("x = 1") && !expression("(a"));
  CHECK(diag_error_count() == 4);
}

static bool more(const char *text) { return parse_wants_more(text, strlen(text)); }

TEST(an_open_construct_wants_another_line) {
  CHECK(more("f(") && more("f(\n1,\n") && more("x = '''a\n") && more("x = 1 + \\\n"));
  CHECK(more("x = 1 + \\") && more("'a\\\n"));
  CHECK(more("if a:") && more("if a:\n") && more("if a:\n  b\n") && more("if a: b\n"));
  CHECK(more("@d\n") && more("@d\ndef f():\n  pass\n") && more("if a:\n  b\nelse:\n"));
  CHECK(more("x = 1\nfor a in b:\n"));
}

TEST(a_whole_text_wants_no_other_line) {
  CHECK(!more("") && !more("x") && !more("x = 1\n") && !more("f(1)\n") && !more("# if a:\n"));
  CHECK(!more("if a:\n  b\n\n") && !more("if a: b\n\n") && !more("@d\ndef f():\n  pass\n\n"));
  CHECK(!more("'a\n") && !more("f)\n") && !more("f(]\n") && !more("x = 1\n\n"));
  CHECK(!more("f(1\ndef g():\n  pass\n\n"));
}
