/* random.c -- numpy.random: tensors of random numbers, by the generator of random.h.
 *
 * The numbers are our own, the same on every machine for a seed, but not NumPy's. */
#include "lang/builtin/random.h"
#include "lang/builtin/tensor/tensor_impl.h"
#include <math.h>

typedef struct GeneratorObject {
  Random random;
} GeneratorObject;
static const ValueType type_generator;

/* Of default_rng(), or the one that the functions of the module share. */
static Random *generator(BuiltinCall *c) {
  static Random shared;
  static bool seeded;
  if (c->self.type) return &((GeneratorObject *)c->self.object)->random;
  if (!seeded) shared = random_seeded(0), seeded = true;
  return &shared;
}

static uint64_t seed_of(Value v, Span span) {
  return value_is_none(v) ? 0 : (uint64_t)value_as_int(v, "the seed", span);
}

static Value new_sized(Value size, DataType t, Span span) {
  Shape s = {0};
  if (!value_is_none(size)) s = shape_arg(size, span);
  return tensor_new(t, s.ndim, s.dims, span);
}

/* Without a size a plain number is the result. */
static Value finished(Value out, Value size) {
  View v = view_of(out);
  return value_is_none(size) ? load_value(v.dtype, v.data) : out;
}

static Value fill_units(BuiltinCall *c, Value size, double low, double width, bool normal) {
  Value out = new_sized(size, FLOAT64, c->span);
  View v = view_of(out);
  double *at = (double *)(void *)v.data;
  Random *r = generator(c);
  for (int64_t i = 0, n = view_size(&v); i < n; i++)
    at[i] = low + width * (normal ? random_normal(r) : random_unit(r));
  return finished(out, size);
}

static double real_arg(BuiltinCall *c, int i) {
  return value_as_float(c->args[i], "the argument", c->spans[i]);
}
/* rand(2, 3): the dims one by one. */
static Value dims_of(BuiltinCall *c) {
  return value_items(c->args[0])->len ? c->args[0] : value_none();
}

static Value random_rand(BuiltinCall *c) { return fill_units(c, dims_of(c), 0, 1, false); }
static Value random_randn(BuiltinCall *c) { return fill_units(c, dims_of(c), 0, 1, true); }
static Value random_sample(BuiltinCall *c) { return fill_units(c, c->args[0], 0, 1, false); }
static Value random_standard_normal(BuiltinCall *c) {
  return fill_units(c, c->args[0], 0, 1, true);
}
static Value random_uniform(BuiltinCall *c) {
  double low = real_arg(c, 0);
  return fill_units(c, c->args[2], low, real_arg(c, 1) - low, false);
}
static Value random_normal_tensor(BuiltinCall *c) {
  return fill_units(c, c->args[2], real_arg(c, 0), real_arg(c, 1), true);
}

static Value random_integers(BuiltinCall *c) {
  int64_t low = value_as_int(c->args[0], "low", c->spans[0]), high = low;
  if (value_is_none(c->args[1])) low = 0;
  else high = value_as_int(c->args[1], "high", c->spans[1]);
  if (low >= high || (uint64_t)high - (uint64_t)low > INT64_MAX)
    raise("ValueError", c->span, "low must be below high: %lld, %lld", (long long)low,
          (long long)high);
  Value out = new_sized(c->args[2], dtype_arg(c->args[3], c->spans[3]), c->span);
  View v = view_of(out);
  Random *r = generator(c);
  for (int64_t i = 0, n = view_size(&v); i < n; i++) {
    int64_t x = (int64_t)((uint64_t)low + random_below(r, (uint64_t)high - (uint64_t)low));
    store_ints(v.dtype, v.data + i * dtype_nbytes(v.dtype), 1, 1, &x);
  }
  return finished(out, c->args[2]);
}

/* ---- orders and choices ---- */

static Value shuffled_indices(Random *r, int64_t n, Span span) {
  Value out = tensor_new(INT64, 1, &n, span);
  int64_t *at = (int64_t *)(void *)view_of(out).data;
  for (int64_t i = 0; i < n; i++) at[i] = i;
  for (int64_t i = n - 1; i > 0; i--) {
    int64_t j = (int64_t)random_below(r, (uint64_t)i + 1), x = at[i];
    at[i] = at[j];
    at[j] = x;
  }
  return out;
}

static Value random_permutation(BuiltinCall *c) {
  if (c->args[0].type == &type_int) {
    if (c->args[0].integer < 0) raise("ValueError", c->spans[0], "n must not be negative");
    return shuffled_indices(generator(c), c->args[0].integer, c->span);
  }
  Value x = tensor_of(c->args[0], c->spans[0]);
  return tensor_get_item(x, shuffled_indices(generator(c), value_length(x, c->spans[0]), c->span),
                         c->span);
}

static Value random_shuffle(BuiltinCall *c) {
  Value mixed = random_permutation(c);
  if (c->args[0].type != &type_tensor) raise("TypeError", c->spans[0], "shuffle() takes a tensor");
  tensor_set_item(c->args[0], (Value){.type = &type_ellipsis}, mixed, c->span);
  return value_none();
}

static Value random_choice(BuiltinCall *c) {
  bool of_range = c->args[0].type == &type_int;
  Value x = of_range ? c->args[0] : tensor_of(c->args[0], c->spans[0]);
  int64_t n = of_range ? x.integer : value_length(x, c->spans[0]);
  Value out = new_sized(c->args[1], INT64, c->span);
  View v = view_of(out);
  int64_t size = view_size(&v), *at = (int64_t *)(void *)v.data;
  bool replace = value_truth(c->args[2], c->span);
  if (n <= 0 || (!replace && size > n))
    raise("ValueError", c->span, "cannot choose %lld of %lld", (long long)size, (long long)n);
  Value order = replace ? value_none() : shuffled_indices(generator(c), n, c->span);
  for (int64_t i = 0; i < size; i++)
    at[i] = replace ? (int64_t)random_below(generator(c), (uint64_t)n)
                    : ((int64_t *)(void *)view_of(order).data)[i];
  if (of_range) return finished(out, c->args[1]);
  return tensor_get_item(x, out, c->span);
}

static Value random_seed(BuiltinCall *c) {
  *generator(c) = random_seeded(seed_of(c->args[0], c->spans[0]));
  return value_none();
}

static const Builtin methods[] = {
    {"random", "size=None", random_sample, "uniform in [0, 1)"},
    {"standard_normal", "size=None", random_standard_normal, "normal, mean 0, deviation 1"},
    {"normal", "loc=0.0, scale=1.0, size=None", random_normal_tensor, "normally distributed"},
    {"uniform", "low=0.0, high=1.0, size=None", random_uniform, "uniform in [low, high)"},
    {"integers", "low, high=None, size=None, dtype='int64'", random_integers,
     "ints in [low, high)"},
    {"permutation", "x", random_permutation, "in random order"},
    {"shuffle", "x", random_shuffle, "puts in random order, in place"},
    {"choice", "a, size=None, replace=True", random_choice, "random elements"},
};
enum { METHODS = sizeof methods / sizeof *methods };
static Value get_attr(Value v, const char *name, Span span) {
  return (void)span, builtin_method(methods, METHODS, v, name);
}
static void attr_names(Value v, StrVec *out) {
  (void)v;
  builtin_names(methods, METHODS, out);
}
static const ValueType type_generator = {
    .name = "Generator", .get_attr = get_attr, .attr_names = attr_names};

static Value new_generator(BuiltinCall *c, const ValueType *type) {
  return value_of(type,
                  NEW(GeneratorObject, .random = random_seeded(seed_of(c->args[0], c->spans[0]))));
}
static Value random_default_rng(BuiltinCall *c) { return new_generator(c, &type_generator); }

/* ---- the older names: of the shared generator and of RandomState ---- */

static const Builtin legacy[] = {
    {"seed", "seed=None", random_seed, "starts the generator anew"},
    {"rand", "*dims", random_rand, "uniform in [0, 1)"},
    {"randn", "*dims", random_randn, "normal, mean 0, deviation 1"},
    {"random_sample", "size=None", random_sample, "uniform in [0, 1)"},
    {"randint", "low, high=None, size=None, dtype='int64'", random_integers, "ints in [low, high)"},
};
enum { LEGACY = sizeof legacy / sizeof *legacy };
static Value legacy_attr(Value v, const char *name, Span span) {
  Value x = builtin_method(legacy, LEGACY, v, name);
  return x.type ? x : get_attr(v, name, span);
}
static void legacy_names(Value v, StrVec *out) {
  builtin_names(legacy, LEGACY, out);
  attr_names(v, out);
}
static const ValueType type_random_state = {
    .name = "RandomState", .get_attr = legacy_attr, .attr_names = legacy_names};

static Value random_state(BuiltinCall *c) { return new_generator(c, &type_random_state); }
static const Builtin makers[] = {
    {"default_rng", "seed=None", random_default_rng, "a generator of its own"},
    {"RandomState", "seed=None", random_state, "one with the older methods, too"},
};

Value random_namespace(void) {
  Value ns = value_namespace("numpy.random");
  namespace_add_builtins(ns, methods, METHODS);
  namespace_add_builtins(ns, legacy, LEGACY);
  namespace_add_builtins(ns, makers, sizeof makers / sizeof *makers);
  return ns;
}
