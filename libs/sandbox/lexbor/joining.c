/*
 * Texts that a table moves out are joined to the text before the table, each behind what was made meanwhile. lexbor gives
 * such a text just the room that it needs, in a new place each time: 5,000 of forty characters would take the 128 MB. The
 * linker has lexbor call this instead (`--wrap`), which doubles the room whenever a text has to move.
 */
#include <stddef.h>

#include "lexbor/core/mraw.h"

/* Most texts are never joined to: a short one is not given room for that. */
#define SHORT 128u

void *__real_lexbor_mraw_realloc(lexbor_mraw_t *arena, void *text, size_t size);
void *__wrap_lexbor_mraw_realloc(lexbor_mraw_t *arena, void *text, size_t size);

/* The last one of its chunk grows where it is. */
static int is_last(const lexbor_mraw_t *arena, const void *text, size_t size)
{
    const lexbor_mem_chunk_t *chunk = arena->mem->chunk;
    return chunk->length >= size && &chunk->data[chunk->length - size] == text;
}

void *__wrap_lexbor_mraw_realloc(lexbor_mraw_t *arena, void *text, size_t size)
{
    size_t old = lexbor_mraw_data_size(text);
    int is_moving = size > old && !is_last(arena, text, old);
    if (is_moving && old >= SHORT && size < 2 * old) size = 2 * old;
    return __real_lexbor_mraw_realloc(arena, text, size);
}
