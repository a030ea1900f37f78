/*
 * text_file.c
 *	  Reading small files whole.
 */
#include "postgres.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pg/text_file.h"
#include "storage/fd.h"

char *
lance_read_text_file(const char *path, size_t max, size_t *size)
{
	/* Not blocking: a pipe of that name must not hang the server. */
	int fd = OpenTransientFile(path, O_RDONLY | O_NONBLOCK | PG_BINARY);
	struct stat info;
	char *text;
	ssize_t n = 0;

	if (fd < 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not open file \"%s\": %m", path)));
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
	{
		CloseTransientFile(fd);
		ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE), errmsg("\"%s\" is not a regular file", path)));
	}
	text = palloc(max + 1);
	*size = 0;
	while (*size <= max && (n = read(fd, text + *size, max + 1 - *size)) > 0)
		*size += (size_t)n;
	if (n < 0)
	{
		int saved = errno;

		lance_wipe_text(text, *size);
		CloseTransientFile(fd);
		errno = saved;
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not read file \"%s\": %m", path)));
	}
	CloseTransientFile(fd);
	if (*size > max)
	{
		lance_wipe_text(text, *size);
		ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("file \"%s\" is too large", path)));
	}
	text[*size] = '\0';
	return text;
}

void
lance_wipe_text(char *text, size_t size)
{
	if (text == NULL)
		return;
	explicit_bzero(text, size);
	pfree(text);
}
