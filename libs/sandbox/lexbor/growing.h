/* What grows while a page is read: lists of numbers, and text that knows its length in UTF-16 units. */
#ifndef GROWING_H
#define GROWING_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct list {
    int32_t *at;
    uint32_t length, capacity;
};

static inline void list_reserve(struct list *list, uint32_t capacity)
{
    list->at = realloc(list->at, (size_t) capacity * sizeof(int32_t));
    list->capacity = capacity;
}

static inline void list_add(struct list *list, int32_t value)
{
    if (list->length == list->capacity) list_reserve(list, list->capacity == 0 ? 256 : list->capacity * 2);
    list->at[list->length++] = value;
}

/* UTF-8 as it was read. `is_wide`: holds a character above U+00FF, so that the engine needs two bytes for each unit. */
struct text {
    unsigned char *bytes;
    uint32_t length, capacity, units;
    bool is_wide;
};

/* Counts the units of bytes that came from elsewhere. */
void text_measure(struct text *text);
void text_reserve(struct text *text, uint32_t capacity);
void text_add(struct text *text, const unsigned char *bytes, size_t length);
/* As the engine keeps strings: Latin-1, or UTF-16 where the text is wide. Returns where it ended. */
unsigned char *text_write(const struct text *text, unsigned char *to);

#endif
