/* random.h -- the one generator of random numbers: xoshiro256**, seeded through SplitMix64.
 *
 * A seed gives the same numbers on every machine. Without a seed the seed is 0. */
#ifndef LANG_BUILTIN_RANDOM_H
#define LANG_BUILTIN_RANDOM_H

#include <stdint.h>

typedef struct Random {
  uint64_t state[4];
} Random;

Random random_seeded(uint64_t seed);
uint64_t random_bits(Random *r);
double random_unit(Random *r);   /* [0, 1), 53 bits */
double random_normal(Random *r); /* mean 0, deviation 1 (Marsaglia's polar method) */
uint64_t random_below(Random *r, uint64_t bound); /* without bias; bound > 0 */

#endif
