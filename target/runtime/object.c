/* object.c -- counted objects and the values that hold them. */
#include "target/runtime/runtime_impl.h"
#include <stdlib.h>
#include <string.h>

static Object *head_of(void *object) { return (Object *)object - 1; }

static size_t round_up(size_t n) { return (n + 63) & ~(size_t)63; }

void *tvms__object_new(TvmsType type, size_t nbytes, size_t tail, void (*destroy)(void *self)) {
  size_t whole = sizeof(Object) + nbytes;
  if (tail) {
    whole = round_up(whole);
    if (tail > PTRDIFF_MAX - 128 - whole) return tvms__error_no_memory(tail), NULL;
    whole += round_up(tail);
  }
  Object *head = tail ? tvms__memory_new(whole) : malloc(whole);
  if (!head) return tvms__error_no_memory(whole), NULL;
  memset(head, 0, sizeof(Object) + nbytes);
  atomic_init(&head->count, 1);
  head->type = type;
  head->destroy = destroy;
  return head + 1;
}

void *tvms__object_tail(void *object, size_t nbytes) {
  return (char *)head_of(object) + round_up(sizeof(Object) + nbytes);
}

void *tvms_retain(void *object) {
  if (object) atomic_fetch_add_explicit(&head_of(object)->count, 1, memory_order_relaxed);
  return object;
}

void tvms_release(void *object) {
  if (!object) return;
  Object *head = head_of(object);
  if (atomic_fetch_sub_explicit(&head->count, 1, memory_order_acq_rel) != 1) return;
  if (head->destroy) head->destroy(object);
  free(head);
}

void tvms_value_release(int type, TvmsValue value) {
  if (type == TVMS_STR) free(value.p);
  else if (type >= TVMS_TENSOR && type <= TVMS_MODULE) tvms_release(value.p);
}

char *tvms_string_copy(const char *text) {
  size_t n = strlen(text) + 1;
  char *copy = malloc(n);
  if (!copy) return tvms__error_no_memory(n), NULL;
  return memcpy(copy, text, n);
}

static int own_borrowed_tensor(int *type, TvmsValue *value) {
  TvmsTensor *view = NULL, *copy = NULL;
  if (tvms_tensor_view(&view, value->p)) return -1;
  int status = tvms_tensor_copy(&copy, view);
  tvms_release(view);
  if (status) return -1;
  *type = TVMS_TENSOR;
  value->p = copy;
  return 0;
}

int tvms__value_own(int *type, TvmsValue *value) {
  switch (*type) {
  case TVMS_NONE: value->p = NULL; return 0;
  case TVMS_INT:
  case TVMS_FLOAT:
  case TVMS_BOOL:
  case TVMS_PTR:
  case TVMS_DTYPE: return 0;
  case TVMS_STR:
    if (!value->s) return tvms_set_error("a string value is NULL");
    value->s = tvms_string_copy(value->s);
    return value->s ? 0 : -1;
  case TVMS_DLTENSOR: return own_borrowed_tensor(type, value);
  case TVMS_TENSOR:
  case TVMS_SHAPE:
  case TVMS_TUPLE:
  case TVMS_FUNC:
  case TVMS_MODULE:
    if (!value->p) return tvms_set_error("a value that must be %s is NULL", tvms__type_text(*type));
    tvms_retain(value->p);
    return 0;
  }
  return tvms_set_error("there is no value type %d", *type);
}

const char *tvms__type_text(int type) {
  switch (type) {
  case TVMS_NONE: return "None";
  case TVMS_INT: return "an int";
  case TVMS_FLOAT: return "a float";
  case TVMS_BOOL: return "a bool";
  case TVMS_STR: return "a string";
  case TVMS_PTR: return "a pointer";
  case TVMS_DTYPE: return "a dtype";
  case TVMS_DLTENSOR:
  case TVMS_TENSOR: return "a tensor";
  case TVMS_SHAPE: return "a shape";
  case TVMS_TUPLE: return "a tuple";
  case TVMS_FUNC: return "a function";
  case TVMS_MODULE: return "a module";
  }
  return "a value of an unknown type";
}
