/*
 * distance_sums.c
 *	  The loops behind distances.
 *
 * Sums are made in so many lanes on every processor, and no multiplication is fused with an addition, so that results are
 * the same to the last bit.
 */
#include "column/distance_sums.h"

#include <string.h>

#include "column/distance.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("O3", "fp-contract=off")
#endif

#define LANES 16

/* Buffers may be borrowed from a page, at any alignment. */
typedef float Float32 __attribute__((aligned(1), may_alias));
typedef double Float64 __attribute__((aligned(1), may_alias));
typedef int8_t Int8 __attribute__((may_alias));
typedef uint8_t Uint8 __attribute__((may_alias));
typedef int16_t Int16 __attribute__((aligned(1), may_alias));
typedef uint16_t Uint16 __attribute__((aligned(1), may_alias));
typedef uint64_t Uint64 __attribute__((aligned(1), may_alias));

/* The sum of LANES sums: halves are added to each other, until there is one. */
#define DEFINE_FOLD(itype, vtype)                                                      \
	typedef itype vtype __attribute__((vector_size(16), aligned(1), may_alias));       \
	static inline __attribute__((always_inline)) double fold_##itype(const void *sums) \
	{                                                                                  \
		vtype s[LANES * sizeof(itype) / 16];                                           \
		itype rest[16 / sizeof(itype)];                                                \
                                                                                       \
		memcpy(s, sums, sizeof(s));                                                    \
		for (size_t half = LANES * sizeof(itype) / 32; half > 0; half /= 2)            \
		{                                                                              \
			for (size_t part = 0; part < half; part++)                                 \
				s[part] += s[part + half];                                             \
		}                                                                              \
		memcpy(rest, s, sizeof(rest));                                                 \
		for (size_t half = 8 / sizeof(itype); half > 0; half /= 2)                     \
		{                                                                              \
			for (size_t lane = 0; lane < half; lane++)                                 \
				rest[lane] += rest[lane + half];                                       \
		}                                                                              \
		return (double)rest[0];                                                        \
	}

DEFINE_FOLD(float, FourFloat32)
DEFINE_FOLD(double, TwoFloat64)

#define LEVEL any
#define TARGET
#define WIDTH 16
#include "column/distance_loops.h"

#ifdef __x86_64__
#define LEVEL avx2
#define TARGET __attribute__((target("avx2,popcnt")))
#define WIDTH 32
#include "column/distance_loops.h"

#define LEVEL avx512
#define TARGET __attribute__((target("avx512f,avx2,popcnt")))
#define WIDTH 64
#include "column/distance_loops.h"
#endif

const LncDistanceLoops *
lnc_distance_loops_of(int level)
{
	if (level == 0)
		return &loops_any;
#ifdef __x86_64__
	if (level == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("popcnt"))
		return &loops_avx2;
	if (level == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx2") &&
		__builtin_cpu_supports("popcnt"))
		return &loops_avx512;
#endif
	return NULL;
}

const LncDistanceLoops *
lnc_distance_loops(void)
{
	const LncDistanceLoops *loops = NULL;

	for (int level = LNC_DISTANCE_LEVELS - 1; loops == NULL; level--)
		loops = lnc_distance_loops_of(level);
	return loops;
}
