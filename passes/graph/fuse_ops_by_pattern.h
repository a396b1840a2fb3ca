/* fuse_ops_by_pattern.h -- what FuseOpsByPattern asks for: rows of (name, pattern, check). */
#ifndef PASSES_GRAPH_FUSE_OPS_BY_PATTERN_H
#define PASSES_GRAPH_FUSE_OPS_BY_PATTERN_H

#include "passes/graph/pattern.h"

typedef struct FusionPattern {
  const char *name; /* "dnnl.conv2d_relu": the part before the dot names who compiles it */
  Pattern *pattern;
  void *rule; /* of who registered it */
} FusionPattern;
typedef VEC(FusionPattern) FusionPatternVec;

/* Set by lang: the patterns registered under these names, "dnnl;openblas.matmul", a name standing
 * for all that begin with it; raises if there are none. And does a match pass the row's check?
 * `bindings` are those that would be fused. */
extern FusionPatternVec (*fusion_patterns_hook)(const char *names, Span span);
extern bool (*fusion_check_hook)(const FusionPattern *p, Node *expr, const PatternMatch *m,
                                 NodeVec bindings, Node *func);

#endif
