/* device.h -- what the passes on code for devices share. */
#ifndef LOWER_DEVICE_DEVICE_H
#define LOWER_DEVICE_DEVICE_H

#include "lower/lower_impl.h"

/* A launch: AttrStmts "thread_extent" that begin a grid of blocks of threads. */
static inline bool is_launch(Node *n) {
  return IS(AttrStmt, n) && str_same(AS(AttrStmt, n)->key, "thread_extent") &&
         IS(IterVar, AS(AttrStmt, n)->subject);
}
static inline const char *launch_tag(Node *n) {
  return AS(IterVar, AS(AttrStmt, n)->subject)->thread_tag;
}
bool has_launch(Node *n);
/* One thread_extent around a body. */
Node *launch_new(const char *tag, Node *var, Node *extent, Node *body);

/* The axis of a tag: 0 to 2 for blockIdx.x to .z, 3 to 5 for threadIdx.x to .z; -1: none of them.
 */
int launch_axis(const char *tag);
enum { LAUNCH_AXES = 6 };

/* May threads of a block have other values here? So it is if the value comes from one of these
 * variables, from memory that each thread has for itself, or from a call with effects. */
bool may_differ(Map *differs, Node *n);

#endif
