/*
 * bytes.h
 *	  Checked arithmetic and little-endian reads over untrusted bytes.
 */
#ifndef LNC_BASE_BYTES_H
#define LNC_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A borrowed run of bytes. */
typedef struct LncSlice
{
	const uint8_t *data;
	size_t size;
} LncSlice;

/* Each returns true when the result does not fit; *out is then unspecified. */
#define lnc_add_overflow(a, b, out) __builtin_add_overflow((a), (b), (out))
#define lnc_sub_overflow(a, b, out) __builtin_sub_overflow((a), (b), (out))
#define lnc_mul_overflow(a, b, out) __builtin_mul_overflow((a), (b), (out))

/* True when [offset, offset + length) lies inside size bytes. */
static inline bool
lnc_range_ok(uint64_t offset, uint64_t length, uint64_t size)
{
	return offset <= size && length <= size - offset;
}

/* Unaligned little-endian loads; the caller has checked the bounds. */
static inline uint16_t
lnc_le16(const void *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint32_t
lnc_le32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static inline uint64_t
lnc_le64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/*
 * Copy length bytes, of which most are few: where both sides have LNC_COPY_ROOM bytes (roomy), short copies are made whole,
 * which is faster than a call.
 */
#define LNC_COPY_ROOM 16

static inline void
lnc_copy_short(uint8_t *to, const uint8_t *from, size_t length, bool roomy)
{
	if (roomy && length <= LNC_COPY_ROOM)
		memcpy(to, from, LNC_COPY_ROOM);
	else if (length > 0)
		memcpy(to, from, length);
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the reader assumes a little-endian machine"
#endif

/* Bit i of an LSB-first bitmap. */
static inline bool
lnc_bit(const uint8_t *bits, uint64_t i)
{
	return (bits[i >> 3] >> (i & 7)) & 1;
}

static inline void
lnc_bit_set(uint8_t *bits, uint64_t i)
{
	bits[i >> 3] = (uint8_t)(bits[i >> 3] | (1u << (i & 7)));
}

static inline void
lnc_bit_clear(uint8_t *bits, uint64_t i)
{
	bits[i >> 3] = (uint8_t)(bits[i >> 3] & ~(1u << (i & 7)));
}

/* The value of a hexadecimal digit, -1 for any other byte (NUL included). */
static inline int
lnc_hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Bytes that an LSB-first bitmap of n bits takes. */
static inline uint64_t
lnc_bitmap_size(uint64_t n)
{
	return n / 8 + (n % 8 != 0);
}

#endif
