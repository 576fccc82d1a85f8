/* Strings by number, and the rows in which each occurs. */
#ifndef INDEX_H
#define INDEX_H

#include <stdint.h>

#include "growing.h"

struct key {
    const unsigned char *bytes;
    uint32_t length, hash;
    int32_t last_row;
};

struct index {
    /* Number + 1 of the key that hashes there, 0 where none does. */
    uint32_t *slots;
    uint32_t slot_mask;
    struct key *keys;
    uint32_t count, capacity;
    /* Pairs of key and row, in the order of rows. */
    struct list pair_keys, pair_rows;
};

void index_start(struct index *index);
/* The number of a string; a new one keeps pointing to its bytes. */
uint32_t index_key(struct index *index, const unsigned char *bytes, size_t length);
/* Notes that the row has the key; once per row. */
void index_row(struct index *index, uint32_t key, int32_t row);
/* Where each key's rows start (one word more than keys), then the rows. Returns where it ended. */
int32_t *index_write(const struct index *index, int32_t *to);
/* All keys, divided by NUL. */
void index_names(const struct index *index, struct text *names);

#endif
