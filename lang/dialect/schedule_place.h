/* schedule_place.h -- places in a schedule as values (sref_value.c). */
#ifndef LANG_DIALECT_SCHEDULE_PLACE_H
#define LANG_DIALECT_SCHEDULE_PLACE_H

#include "lang/dialect/dialect_impl.h"
#include "passes/schedule/schedule.h"

extern const ValueType type_sref;
/* The place of a Block or For; raises IndexError if it is not in the schedule's module. */
Value value_sref(const Schedule *s, Node *stmt, Span span);
Node *sref_stmt(Value sref);

#endif
