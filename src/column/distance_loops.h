/*
 * distance_loops.h
 *	  The loops of distance_sums.c for registers of WIDTH bytes, under names that end in LEVEL. TARGET says for which processor.
 *
 * Included once for each; it has no guard for that. LANES sums are made beside each other whatever WIDTH is.
 */

#define PASTE_NAME(name, level) name##_##level
#define EXPAND_NAME(name, level) PASTE_NAME(name, level)
#define NAME(name) EXPAND_NAME(name, LEVEL)

typedef float NAME(Float32) __attribute__((vector_size(WIDTH), aligned(1), may_alias));
typedef double NAME(Float64) __attribute__((vector_size(WIDTH), aligned(1), may_alias));
typedef int32_t NAME(Int32) __attribute__((vector_size(WIDTH), aligned(1), may_alias));
typedef int64_t NAME(Int64) __attribute__((vector_size(WIDTH), aligned(1), may_alias));

#define PARTS(itype) (LANES * sizeof(itype) / WIDTH)

/* step for each part of LANES items at a and b. */
#define ADD_EACH(vtype, itype, a, b, step)                            \
	for (size_t part = 0; part < PARTS(itype); part++)                \
	{                                                                 \
		vtype x = *(const vtype *)((const char *)(a) + part * WIDTH); \
		vtype y = *(const vtype *)((const char *)(b) + part * WIDTH); \
                                                                      \
		step;                                                         \
	}

/* The items behind the last whole block are taken as if they were followed by zeros, which add nothing. */
#define ADD_ALL(vtype, itype, a, b, n, step)                                    \
	for (size_t block = 0; block < (n) / LANES; block++)                        \
		ADD_EACH(vtype, itype, (a) + block * LANES, (b) + block * LANES, step)  \
	if ((n) % LANES != 0)                                                       \
	{                                                                           \
		itype rest_a[LANES] = {0};                                              \
		itype rest_b[LANES] = {0};                                              \
                                                                                \
		memcpy(rest_a, (a) + (n) / LANES * LANES, (n) % LANES * sizeof(itype)); \
		memcpy(rest_b, (b) + (n) / LANES * LANES, (n) % LANES * sizeof(itype)); \
		ADD_EACH(vtype, itype, rest_a, rest_b, step)                            \
	}

#define DEFINE_SUMS(name, vtype, itype, ftype, step)                                                \
	TARGET static void NAME(name)(const void *a, size_t rows, const void *b, size_t n, double *out) \
	{                                                                                               \
		const ftype *one = a;                                                                       \
		const ftype *query = b;                                                                     \
                                                                                                    \
		for (size_t row = 0; row < rows; row++, one += n)                                           \
		{                                                                                           \
			vtype s[PARTS(itype)] = {{0}};                                                          \
                                                                                                    \
			ADD_ALL(vtype, itype, one, query, n, step)                                              \
			out[row] = fold_##itype(s);                                                             \
		}                                                                                           \
	}

#define DEFINE_ANGLES(name, vtype, itype, ftype)                                                                   \
	TARGET static void NAME(name)(const void *a, size_t rows, const void *b, size_t n, double *out, double *norms) \
	{                                                                                                              \
		const ftype *one = a;                                                                                      \
		const ftype *query = b;                                                                                    \
                                                                                                                   \
		for (size_t row = 0; row < rows; row++, one += n)                                                          \
		{                                                                                                          \
			vtype s[PARTS(itype)] = {{0}};                                                                         \
			vtype t[PARTS(itype)] = {{0}};                                                                         \
                                                                                                                   \
			ADD_ALL(vtype, itype, one, query, n, (s[part] += x * y, t[part] += x * x))                             \
			out[row] = fold_##itype(s);                                                                            \
			norms[row] = fold_##itype(t);                                                                          \
		}                                                                                                          \
	}

#define ABSOLUTE32(v) ((NAME(Float32))((NAME(Int32))(v)&INT32_MAX))
#define ABSOLUTE64(v) ((NAME(Float64))((NAME(Int64))(v)&INT64_MAX))

DEFINE_SUMS(squares_float32, NAME(Float32), float, Float32, s[part] += (x - y) * (x - y))
DEFINE_SUMS(squares_float64, NAME(Float64), double, Float64, s[part] += (x - y) * (x - y))
DEFINE_SUMS(products_float32, NAME(Float32), float, Float32, s[part] += x * y)
DEFINE_SUMS(products_float64, NAME(Float64), double, Float64, s[part] += x * y)
DEFINE_SUMS(differences_float32, NAME(Float32), float, Float32, s[part] += ABSOLUTE32(x - y))
DEFINE_SUMS(differences_float64, NAME(Float64), double, Float64, s[part] += ABSOLUTE64(x - y))
DEFINE_ANGLES(angles_float32, NAME(Float32), float, Float32)
DEFINE_ANGLES(angles_float64, NAME(Float64), double, Float64)

/* ---- integers are exact in any order: the compiler finds its own */

#define DEFINE_INTEGER_SUMS(name, stype, step)                                                      \
	TARGET static void NAME(name)(const void *a, size_t rows, const void *b, size_t n, double *out) \
	{                                                                                               \
		const Int16 *one = a;                                                                       \
		const Int16 *query = b;                                                                     \
                                                                                                    \
		for (size_t row = 0; row < rows; row++, one += n)                                           \
		{                                                                                           \
			stype s = 0;                                                                            \
                                                                                                    \
			for (size_t i = 0; i < n; i++)                                                          \
			{                                                                                       \
				int32_t x = one[i];                                                                 \
				int32_t y = query[i];                                                               \
                                                                                                    \
				s += step;                                                                          \
			}                                                                                       \
			out[row] = (double)s;                                                                   \
		}                                                                                           \
	}

/* A difference has 17 bits with its sign, its square 32 without. */
DEFINE_INTEGER_SUMS(squares_int16, uint64_t, (uint32_t)(x - y) * (uint32_t)(x - y))
DEFINE_INTEGER_SUMS(products_int16, int64_t, x *y)
DEFINE_INTEGER_SUMS(differences_int16, uint64_t, (uint32_t)(x > y ? x - y : y - x))
DEFINE_INTEGER_SUMS(squares_small, int32_t, (int16_t)(x - y) * (int16_t)(x - y))
DEFINE_INTEGER_SUMS(products_small, int32_t, x *y)
DEFINE_INTEGER_SUMS(differences_small, int32_t, x > y ? x - y : y - x)

TARGET static void
NAME(bits)(const void *a, size_t rows, const void *b, size_t n, double *out)
{
	const uint8_t *one = a;
	const uint8_t *query = b;

	for (size_t row = 0; row < rows; row++, one += n)
	{
		uint64_t bits = 0;
		size_t i;

		for (i = 0; i + 8 <= n; i += 8)
			bits += (uint64_t)__builtin_popcountll(*(const Uint64 *)(one + i) ^ *(const Uint64 *)(query + i));
		for (; i < n; i++)
			bits += (uint64_t)__builtin_popcount((unsigned)(one[i] ^ query[i]));
		out[row] = (double)bits;
	}
}

/* ---- wider items */

#define DEFINE_WIDEN(name, itype, otype, expr)                                      \
	TARGET static void NAME(name)(const void *items, size_t count, void *out_items) \
	{                                                                               \
		const itype *restrict in = items;                                           \
		otype *restrict out = out_items;                                            \
                                                                                    \
		for (size_t i = 0; i < count; i++)                                          \
			out[i] = expr(in[i]);                                                   \
	}

DEFINE_WIDEN(widen_float16, Uint16, float, lnc_float16_value)
DEFINE_WIDEN(widen_bfloat16, Uint16, float, lnc_bfloat16_value)
DEFINE_WIDEN(widen_float32, Float32, double, (double))
DEFINE_WIDEN(widen_int8, Int8, int16_t, )
DEFINE_WIDEN(widen_uint8, Uint8, int16_t, )
DEFINE_WIDEN(widen_int16, Int16, float, (float))

static const LncDistanceLoops NAME(loops) = {
	.squares = {NAME(squares_float32), NAME(squares_float64), NAME(squares_int16)},
	.products = {NAME(products_float32), NAME(products_float64), NAME(products_int16)},
	.differences = {NAME(differences_float32), NAME(differences_float64), NAME(differences_int16)},
	.small_squares = NAME(squares_small),
	.small_products = NAME(products_small),
	.small_differences = NAME(differences_small),
	.angles = {NAME(angles_float32), NAME(angles_float64)},
	.bits = NAME(bits),
	.widen_float16 = NAME(widen_float16),
	.widen_bfloat16 = NAME(widen_bfloat16),
	.widen_float32 = NAME(widen_float32),
	.widen_int8 = NAME(widen_int8),
	.widen_uint8 = NAME(widen_uint8),
	.widen_int16 = NAME(widen_int16),
};

#undef PASTE_NAME
#undef EXPAND_NAME
#undef NAME
#undef PARTS
#undef ADD_EACH
#undef ADD_ALL
#undef DEFINE_SUMS
#undef DEFINE_ANGLES
#undef ABSOLUTE32
#undef ABSOLUTE64
#undef DEFINE_INTEGER_SUMS
#undef DEFINE_WIDEN
#undef LEVEL
#undef TARGET
#undef WIDTH
