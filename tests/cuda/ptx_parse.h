/* ptx_parse.h -- PTX as the emulator runs it. */
#ifndef TESTS_CUDA_PTX_PARSE_H
#define TESTS_CUDA_PTX_PARSE_H

#include "ptx_emulator.h"

enum { MOST_OPERANDS = 144, MOST_WORDS = 12 };

typedef enum {
  OPERAND_REG,
  OPERAND_IMM,     /* value: the bits */
  OPERAND_SYMBOL,  /* value: its address; kind of memory by `space` */
  OPERAND_SPECIAL, /* value: a Special */
  OPERAND_LABEL    /* value: a place in the code, once all is read */
} OperandKind;
typedef enum {
  TID_X,
  TID_Y,
  TID_Z,
  CTAID_X,
  CTAID_Y,
  CTAID_Z,
  NTID_X,
  NTID_Y,
  NTID_Z,
  LANEID
} Special;
typedef enum { SPACE_NONE, SPACE_PARAM, SPACE_SHARED, SPACE_LOCAL, SPACE_DATA } Space;

typedef struct Operand {
  OperandKind kind;
  Space space;
  bool is_memory; /* [ ... + offset] */
  int64_t value, offset;
} Operand;

typedef struct Instr Instr;
typedef struct Machine Machine;
typedef bool Execute(Machine *m, const Instr *i); /* for all threads that stand there */

struct Instr {
  char words[MOST_WORDS][12]; /* "ld", "global", "f32" */
  int n_words;
  int guard; /* register of the predicate, or -1 */
  bool guard_not;
  Operand operands[MOST_OPERANDS];
  int n, group[MOST_OPERANDS]; /* which of the written operands each belongs to: {a, b} is one */
  Execute *execute;
  const char *line;
};

typedef struct PtxCode {
  Instr *at;
  int len, cap;
  int registers;
  size_t local_bytes, shared_bytes; /* of a thread, of a block; dynamic memory lies behind */
} PtxCode;

Execute *ptx_instruction(const Instr *i); /* NULL: it is not known */
bool instr_has(const Instr *i, const char *word);

#endif
