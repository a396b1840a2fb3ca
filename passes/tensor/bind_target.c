/* bind_target.c -- tensor programs say what they are for: the attribute "target". */
#include "ir/target.h"
#include "passes/tensor/tensor.h"

Node *pass_bind_target(Node *n, const PassContext *context) {
  const char *text = pass_option_str(context, "target");
  if (func_attr(n, "target")) return n;
  const Target *t = *text ? target_parse(text, n->span) : context->target;
  if (!t)
    error_raisef("PipelineError", n->span,
                 "BindTarget has no target: give one, as in BindTarget(target=\"llvm\")");
  return func_with_attr(n, "target", MAKE(TargetAttr, n->span, VOID_TYPE, .text = target_text(t)));
}
