/*
 * uuid.h
 *	  Random UUIDs as text.
 */
#ifndef LANCE_PG_UUID_H
#define LANCE_PG_UUID_H

/* 32 hexadecimal digits in five groups with hyphens between; palloc'd. */
extern char *lance_new_uuid(void);

/* The same without hyphens. */
extern char *lance_new_plain_uuid(void);

#endif
