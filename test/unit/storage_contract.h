/*
 * storage_contract.h
 *	  What every kind of store must do, as one test that is run against each of them.
 */
#ifndef TEST_STORAGE_CONTRACT_H
#define TEST_STORAGE_CONTRACT_H

#include "storage/storage.h"

/* Run the contract against an empty store; it is empty again afterwards. Fails through cmocka. */
extern void lnc_check_store_contract(LncContext *ctx, LncArena *arena, LncStore *store);

/* A listing callback that counts into *(int *)arg. */
extern LncCode lnc_count_objects(LncContext *ctx, void *arg, const LncObject *object, bool *stop);

#endif
