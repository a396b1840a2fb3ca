/* trace_value.h -- traces of schedules as values of the language, and as JSON. */
#ifndef LANG_DIALECT_TRACE_VALUE_H
#define LANG_DIALECT_TRACE_VALUE_H

#include "lang/dialect/dialect_impl.h"
#include "passes/schedule/schedule.h"

extern const ValueType type_schedule; /* schedule_value.c */
extern const ValueType type_trace;    /* trace_value.c */

/* A step in the form of upstream's JSON (trace_form.c). */
typedef struct StepForm {
  const char *kind; /* "ComputeAt" */
  NodeVec inputs, attrs;
} StepForm;
StepForm step_to_form(const Instruction *in);
/* Its primitive and arguments; gives what was expected in place of what is there, or NULL. */
const char *step_from_form(const StepForm *f, Instruction *out, Span span);
const char *step_kind(const Primitive *p);

/* trace_json.c. Raises ValueError for values that are no trace. */
Value trace_to_json(const Trace *t, Span span);
Trace *trace_from_json(Value v, Span span);

#endif
