#include "index.h"

#define FIRST_SLOTS 256u

static void make_slots(struct index *index, uint32_t count)
{
    index->slots = calloc(count, sizeof(uint32_t));
    index->slot_mask = count - 1;
}

void index_start(struct index *index)
{
    memset(index, 0, sizeof(*index));
    make_slots(index, FIRST_SLOTS);
}

static uint32_t hash_of(const unsigned char *bytes, uint32_t length)
{
    uint32_t hash = 0x811c9dc5u ^ length, at = 0, word;
    for (; at + 4 <= length; at += 4) {
        memcpy(&word, bytes + at, 4);
        hash = ((hash << 5 | hash >> 27) ^ word) * 0x9e3779b9u;
    }
    for (; at < length; at++) hash = ((hash << 5 | hash >> 27) ^ bytes[at]) * 0x9e3779b9u;
    return hash ^ hash >> 15;
}

static void place(struct index *index, uint32_t key)
{
    uint32_t slot = index->keys[key].hash & index->slot_mask;
    while (index->slots[slot] != 0) slot = (slot + 1) & index->slot_mask;
    index->slots[slot] = key + 1;
}

static void grow(struct index *index)
{
    make_slots(index, (index->slot_mask + 1) * 2);
    for (uint32_t key = 0; key < index->count; key++) place(index, key);
}

uint32_t index_key(struct index *index, const unsigned char *bytes, size_t size)
{
    uint32_t length = (uint32_t) size, hash = hash_of(bytes, length);
    for (uint32_t slot = hash & index->slot_mask; index->slots[slot] != 0; slot = (slot + 1) & index->slot_mask) {
        const struct key *key = &index->keys[index->slots[slot] - 1];
        if (key->hash == hash && key->length == length && memcmp(key->bytes, bytes, length) == 0) {
            return index->slots[slot] - 1;
        }
    }
    if (index->count == index->capacity) {
        index->capacity = index->capacity == 0 ? 128 : index->capacity * 2;
        index->keys = realloc(index->keys, index->capacity * sizeof(struct key));
    }
    uint32_t number = index->count++;
    index->keys[number] = (struct key) { bytes, length, hash, -1 };
    if (index->count * 2 > index->slot_mask) grow(index);
    else place(index, number);
    return number;
}

void index_row(struct index *index, uint32_t key, int32_t row)
{
    if (index->keys[key].last_row == row) return;
    index->keys[key].last_row = row;
    list_add(&index->pair_keys, (int32_t) key);
    list_add(&index->pair_rows, row);
}

int32_t *index_write(const struct index *index, int32_t *starts)
{
    uint32_t pairs = index->pair_rows.length;
    int32_t *rows = starts + index->count + 1;
    memset(starts, 0, (index->count + 1) * sizeof(int32_t));
    /* Counted one place further on, summed up, then moved back by handing the rows out. */
    for (uint32_t pair = 0; pair < pairs; pair++) starts[index->pair_keys.at[pair] + 1]++;
    for (uint32_t key = 1; key <= index->count; key++) starts[key] += starts[key - 1];
    for (uint32_t pair = 0; pair < pairs; pair++) rows[starts[index->pair_keys.at[pair]]++] = index->pair_rows.at[pair];
    for (uint32_t key = index->count; key > 0; key--) starts[key] = starts[key - 1];
    starts[0] = 0;
    return rows + pairs;
}

void index_names(const struct index *index, struct text *names)
{
    for (uint32_t key = 0; key < index->count; key++) {
        if (key > 0) text_add(names, (const unsigned char *) "", 1);
        text_add(names, index->keys[key].bytes, index->keys[key].length);
    }
}
