/*
 * release.h
 *	  Letting go of the served database when an administrator needs it for himself.
 *
 * DROP DATABASE, ALTER DATABASE ... RENAME or SET TABLESPACE, and CREATE DATABASE ... TEMPLATE fail while anybody is
 * connected. The workers are always connected to the served database, so a hook on utility statements ends them
 * first; the postmaster starts them again after a few seconds, when they meet the database as it then is.
 */
#ifndef LANCE_REST_RELEASE_H
#define LANCE_REST_RELEASE_H

/* Install the hook; call while preloading, with the number of workers. */
extern void lance_release_init(int workers);

/* Shared memory: how much, and its set-up (under AddinShmemInitLock). */
extern Size lance_release_shmem_size(void);
extern void lance_release_shmem_init(void);

/* A worker is connected from here to its end. */
extern void lance_release_register(int worker);

#endif
