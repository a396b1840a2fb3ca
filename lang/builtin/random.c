/* random.c -- the generator, and the module random over it. */
#include "lang/builtin/random.h"
#include "lang/builtin/builtin.h"
#include <math.h>

static uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

Random random_seeded(uint64_t seed) {
  Random r;
  for (int i = 0; i < 4; i++) {
    uint64_t z = seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    r.state[i] = z ^ z >> 31;
  }
  return r;
}

uint64_t random_bits(Random *r) {
  uint64_t *s = r->state, result = rotate(s[1] * 5, 7) * 9, t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return result;
}

double random_unit(Random *r) { return (double)(random_bits(r) >> 11) * 0x1p-53; }

double random_normal(Random *r) {
  double u, v, s;
  do {
    u = 2 * random_unit(r) - 1;
    v = 2 * random_unit(r) - 1;
    s = u * u + v * v;
  } while (s >= 1 || s == 0);
  return u * sqrt(-2 * log(s) / s);
}

uint64_t random_below(Random *r, uint64_t bound) {
  uint64_t least = (0 - bound) % bound, x;
  do x = random_bits(r);
  while (x < least);
  return x % bound;
}

/* ---- the module ---- */

static const ValueType type_random;

/* The generator of a Random object, or that of the module. */
static Random *generator(BuiltinCall *c) {
  static Random r;
  static bool seeded;
  if (c->self.type == &type_random) return c->self.object;
  if (!seeded) r = random_seeded(0), seeded = true;
  return &r;
}

static Value seed(BuiltinCall *c) {
  *generator(c) =
      random_seeded(value_is_none(c->args[0]) ? 0 : value_hash(c->args[0], c->spans[0]));
  return value_none();
}
static Value unit(BuiltinCall *c) { return value_float(random_unit(generator(c))); }
static Value uniform(BuiltinCall *c) {
  double a = value_as_float(c->args[0], "a", c->spans[0]);
  double b = value_as_float(c->args[1], "b", c->spans[1]);
  return value_float(a + (b - a) * random_unit(generator(c)));
}
static Value gauss(BuiltinCall *c) {
  double mu = value_as_float(c->args[0], "mu", c->spans[0]);
  return value_float(mu + value_as_float(c->args[1], "sigma", c->spans[1]) *
                              random_normal(generator(c)));
}

static int64_t between(BuiltinCall *c, int64_t low, int64_t count) {
  return (int64_t)((uint64_t)low + random_below(generator(c), (uint64_t)count));
}
static Value randint(BuiltinCall *c) {
  int64_t a = value_as_int(c->args[0], "a", c->spans[0]),
          b = value_as_int(c->args[1], "b", c->spans[1]);
  if (a > b || (uint64_t)b - (uint64_t)a >= INT64_MAX)
    raise("ValueError", c->span, "empty or too large range for randint(%lld, %lld)", (long long)a,
          (long long)b);
  return value_int(between(c, a, b - a + 1));
}
static Value randrange(BuiltinCall *c) {
  int64_t start = value_as_int(c->args[0], "start", c->spans[0]), stop = start;
  if (c->args[1].type) stop = value_as_int(c->args[1], "stop", c->spans[1]);
  else start = 0;
  RangeObject *r =
      value_range(start, stop, value_as_int(c->args[2], "step", c->spans[2]), c->span).object;
  if (!r->length) raise("ValueError", c->span, "empty range for randrange()");
  return value_int(r->start + between(c, 0, r->length) * r->step);
}

static Value choice(BuiltinCall *c) {
  int64_t n = value_length(c->args[0], c->spans[0]);
  if (!n) raise("IndexError", c->spans[0], "cannot choose from an empty sequence");
  return value_get_item(c->args[0], value_int(between(c, 0, n)), c->spans[0]);
}
/* The place whose part of the running sums a random number falls into. */
static Value weighted_choice(BuiltinCall *c, const ValueVec *weights, double total) {
  double at = random_unit(generator(c)) * total;
  int i = 0;
  while (i + 1 < weights->len && (at -= value_as_float(weights->at[i], "a weight", c->span)) >= 0)
    i++;
  return value_get_item(c->args[0], value_int(i), c->span);
}
static Value choices(BuiltinCall *c) {
  int64_t k = value_as_int(c->args[2], "k", c->spans[2]);
  ValueVec out = {0}, weights = {0};
  double total = 0;
  bool even = value_is_none(c->args[1]);
  if (!even) weights = value_to_vec(c->args[1], c->spans[1]);
  for each (Value, w, &weights) total += value_as_float(*w, "a weight", c->spans[1]);
  if (!even && (weights.len != value_length(c->args[0], c->spans[0]) || !(total > 0)))
    raise("ValueError", c->spans[1], "choices() needs a weight for each item, and a positive sum");
  for (int64_t i = 0; i < k; i++) {
    Value x = even ? choice(c) : weighted_choice(c, &weights, total);
    vec_push(&out, x);
  }
  return value_list(out);
}

static void shuffle_first(BuiltinCall *c, ValueVec *v, int k) {
  for (int i = 0; i < k; i++) {
    int j = (int)between(c, i, v->len - i);
    Value x = v->at[i];
    v->at[i] = v->at[j];
    v->at[j] = x;
  }
}
static Value shuffle(BuiltinCall *c) {
  if (c->args[0].type != &type_list) raise("TypeError", c->spans[0], "shuffle() takes a list");
  shuffle_first(c, value_items(c->args[0]), value_items(c->args[0])->len);
  return value_none();
}
static Value sample(BuiltinCall *c) {
  ValueVec v = value_to_vec(c->args[0], c->spans[0]);
  int64_t k = value_as_int(c->args[1], "k", c->spans[1]);
  if (k < 0 || k > v.len) raise("ValueError", c->span, "sample larger than population or negative");
  shuffle_first(c, &v, (int)k);
  v.len = (int)k;
  return value_list(v);
}

static Value getrandbits(BuiltinCall *c) {
  int64_t k = value_as_int(c->args[0], "k", c->spans[0]);
  if (k < 0 || k > 1 << 20) raise("ValueError", c->spans[0], "the number of bits is 0 to 2**20");
  Value r = value_int(0);
  for (; k > 0; k -= 32) {
    int64_t bits = (int64_t)(random_bits(generator(c)) >> (k < 32 ? 64 - k : 32));
    r = value_binary(AST_SHL, r, value_int(k < 32 ? k : 32), c->span);
    r = value_binary(AST_BITOR, r, value_int(bits), c->span);
  }
  return r;
}
static Value expovariate(BuiltinCall *c) {
  return value_float(-log(1 - random_unit(generator(c))) /
                     value_as_float(c->args[0], "lambd", c->spans[0]));
}
/* By inverting the distribution, whose parts on both sides of the mode are alike but for their
 * size. */
static Value triangular(BuiltinCall *c) {
  double low = value_as_float(c->args[0], "low", c->spans[0]), u = random_unit(generator(c));
  double high = value_as_float(c->args[1], "high", c->spans[1]), part = 0.5;
  if (high == low) return value_float(low);
  if (!value_is_none(c->args[2]))
    part = (value_as_float(c->args[2], "the mode", c->spans[2]) - low) / (high - low);
  if (u <= part) return value_float(low + (high - low) * sqrt(u * part));
  return value_float(high - (high - low) * sqrt((1 - u) * (1 - part)));
}

enum { STATE = sizeof(Random) / sizeof(uint64_t) };

static Value getstate(BuiltinCall *c) {
  ValueVec state = {0};
  for (int i = 0; i < STATE; i++) vec_push(&state, value_int((int64_t)generator(c)->state[i]));
  return value_tuple(state);
}

static Value setstate(BuiltinCall *c) {
  ValueVec state = value_to_vec(c->args[0], c->spans[0]);
  if (state.len != STATE) raise("ValueError", c->spans[0], "the state is what getstate() gave");
  Random r;
  for (int i = 0; i < STATE; i++)
    r.state[i] = (uint64_t)value_as_int(state.at[i], "a part of the state", c->spans[0]);
  *generator(c) = r;
  return value_none();
}

static const Builtin rows[] = {
    {"seed", "a=None, /", seed, "starts the generator anew"},
    {"random", "", unit, "a float in [0, 1)"},
    {"uniform", "a, b", uniform, "a float between a and b"},
    {"gauss", "mu=0.0, sigma=1.0", gauss, "a normally distributed float"},
    {"normalvariate", "mu=0.0, sigma=1.0", gauss, "a normally distributed float"},
    {"randint", "a, b", randint, "an int from a to b, both included"},
    {"randrange", "start, stop?, step=1", randrange, "an int of range(start, stop, step)"},
    {"choice", "seq, /", choice, "one item"},
    {"getrandbits", "k, /", getrandbits, "an int of k random bits"},
    {"expovariate", "lambd=1.0", expovariate, "an exponentially distributed float"},
    {"triangular", "low=0.0, high=1.0, mode=None", triangular,
     "a float, most likely at the mode, the middle by default"},
    {"getstate", "", getstate, "the state of the generator"},
    {"setstate", "state, /", setstate, "goes on from a state that getstate gave"},
    {"choices", "population, weights=None, *, k=1", choices, "k items, with repetition"},
    {"shuffle", "x, /", shuffle, "a list in random order, in place"},
    {"sample", "population, k", sample, "k different items"},
};

enum { ROWS = sizeof rows / sizeof *rows };

static const ValueType type_random = {.name = "Random", .methods = rows, .method_count = ROWS};

static Value new_random(BuiltinCall *c) {
  Random r = random_seeded(value_is_none(c->args[0]) ? 0 : value_hash(c->args[0], c->spans[0]));
  return value_of(&type_random, gc_copy(&r, sizeof r));
}

Value random_load(void) {
  static const Builtin constructor = {"Random", "x=None", new_random, "a generator of its own"};
  Value ns = value_namespace("random");
  namespace_add_builtins(ns, rows, ROWS);
  namespace_add_builtins(ns, &constructor, 1);
  return ns;
}
