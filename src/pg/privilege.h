/*
 * privilege.h
 *	  Who may call an operation: who has EXECUTE on its SQL function.
 */
#ifndef LANCE_PG_PRIVILEGE_H
#define LANCE_PG_PRIVILEGE_H

typedef enum LanceExecute
{
	LANCE_EXECUTE_ALLOWED,
	LANCE_EXECUTE_DENIED,
	LANCE_EXECUTE_NO_FUNCTION /* the installed extension has none of that name */
} LanceExecute;

/* Functions are overloaded; any form that the role may call lets it call the operation. */
extern LanceExecute lance_may_execute(const char *function, Oid role);

#endif
