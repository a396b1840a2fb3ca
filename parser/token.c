/* token.c -- what token.def says, looked up by kind or by spelling. */
#include "parser/parser_impl.h"

static const struct {
  const char *text;
  int op; /* an AstOp, or -1 */
} tokens[] = {
#define AST_NONE                     (-1)
#define TOKEN(NAME, text, class, op) [T_##NAME] = {text, AST_##op},
#include "parser/token.def"
};

const uint8_t token_classes[TOKEN_COUNT + 1] = {
    [0] = TOKEN_KIND,
#define TOKEN(NAME, text, class, op) [T_##NAME] = TOKEN_##class,
#include "parser/token.def"
};

const char *token_text(int kind) { return kind ? tokens[kind].text : "end of input"; }

bool token_is_header(int kind) {
  return kind == T_IF || kind == T_ELIF || kind == T_ELSE || kind == T_WHILE || kind == T_FOR ||
         kind == T_TRY || kind == T_EXCEPT || kind == T_FINALLY || kind == T_WITH ||
         kind == T_DEF || kind == T_CLASS;
}

AstOp token_op(Token t) {
  REQUIRE(tokens[t.kind].op >= 0, "token %s", token_text(t.kind));
  return (AstOp)tokens[t.kind].op;
}

/* ---- keywords: a small open-addressing table, filled once before main ---- */

enum { SLOTS = 128 };

static uint8_t slots[SLOTS];   /* token kind, 0 if free */
static uint8_t lengths[SLOTS]; /* of its spelling */
static const char *words[SLOTS];
static int word_count;

static unsigned hash_word(const char *text, size_t n) {
  return ((unsigned char)text[0] * 5u + (unsigned char)text[n - 1] * 11u + (unsigned)n) % SLOTS;
}

__attribute__((constructor)) static void fill_keywords(void) {
  for (int kind = 1; kind < (int)(sizeof tokens / sizeof *tokens); kind++) {
    if (token_class(kind) != TOKEN_WORD && token_class(kind) != TOKEN_LEAD) continue;
    unsigned i = hash_word(tokens[kind].text, strlen(tokens[kind].text));
    while (slots[i]) i = (i + 1) % SLOTS;
    slots[i] = (uint8_t)kind;
    lengths[i] = (uint8_t)strlen(tokens[kind].text);
    words[word_count++] = tokens[kind].text;
  }
}

int token_keyword(const char *text, size_t n) {
  for (unsigned i = hash_word(text, n); slots[i]; i = (i + 1) % SLOTS)
    if (lengths[i] == n && memcmp(tokens[slots[i]].text, text, n) == 0) return slots[i];
  return T_NAME;
}

const char *const *token_keywords(int *n) {
  *n = word_count;
  return words;
}
