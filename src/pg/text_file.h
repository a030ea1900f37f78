/*
 * text_file.h
 *	  Small files that settings name: keys and certificates.
 */
#ifndef LANCE_PG_TEXT_FILE_H
#define LANCE_PG_TEXT_FILE_H

/*
 * The bytes of a file of at most max bytes, palloc'd, with a NUL behind them; *size is without it. A relative path starts in
 * the data directory. Throws when the file can't be read or is larger. Who reads a secret wipes it by lance_wipe_text.
 */
extern char *lance_read_text_file(const char *path, size_t max, size_t *size);

/* Overwrite and free what lance_read_text_file returned. Takes NULL. */
extern void lance_wipe_text(char *text, size_t size);

#endif
