/*
 * The heap and the few functions of the C library that the parser needs. The heap is one pointer that only rises: a page
 * is parsed, read and forgotten as a whole, when the host puts the memory back to its image.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "failure.h"
#include "heap.h"

#define WASM_PAGE 65536u
#define ALIGNMENT 16u
/* Memory is asked for in steps, so that not every block grows it. */
#define GROWTH (1u << 20)
#define LARGEST_BLOCK (1u << 30)
/* A block that was moved because it grew will grow again: up to this size it is not given room for that. */
#define SMALL_BLOCK 1024u

extern unsigned char __heap_base;
static size_t top, end;
/* No block was ever above: there is nothing but the zeros that the host puts there. */
static size_t touched;

static void rise(size_t by)
{
    top += by;
    if (top > touched) touched = top;
}

static size_t memory_size(void) { return (size_t) __builtin_wasm_memory_size(0) * WASM_PAGE; }
static size_t aligned(size_t size) { return (size + ALIGNMENT - 1) & ~(size_t) (ALIGNMENT - 1); }
static size_t *size_of(void *block) { return (size_t *) ((unsigned char *) block - ALIGNMENT); }

void heap_start(void)
{
    top = touched = aligned((size_t) &__heap_base);
    end = memory_size();
}

size_t heap_top(void) { return touched; }

/* Never returns without the room: what lexbor does where memory is short need not be trusted. */
static void make_room(size_t size)
{
    if (size > LARGEST_BLOCK) fail(FAILURE_MEMORY);
    if (top + size <= end) return;
    /* After the host has put back the image, `end` says less than there is: memory never shrinks. */
    end = memory_size();
    if (top + size <= end) return;
    size_t missing = top + size - end;
    size_t step = missing < GROWTH ? GROWTH : missing;
    if (__builtin_wasm_memory_grow(0, (step + WASM_PAGE - 1) / WASM_PAGE) == (size_t) -1
        && __builtin_wasm_memory_grow(0, (missing + WASM_PAGE - 1) / WASM_PAGE) == (size_t) -1) {
        fail(FAILURE_MEMORY);
    }
    end = memory_size();
}

/* Each block has its size before it. */
void *malloc(size_t size)
{
    if (size > LARGEST_BLOCK) fail(FAILURE_MEMORY);
    size_t room = aligned(size);
    make_room(room + ALIGNMENT);
    void *block = (void *) (top + ALIGNMENT);
    *size_of(block) = room;
    rise(room + ALIGNMENT);
    return block;
}

/* Only the last block is taken back. */
void free(void *block)
{
    if (block == NULL) return;
    if ((size_t) block + *size_of(block) == top) top = (size_t) block - ALIGNMENT;
}

void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) fail(FAILURE_MEMORY);
    size_t clean = touched;
    unsigned char *block = malloc(bytes);
    if ((size_t) block < clean) memset(block, 0, bytes);
    return block;
}

void *realloc(void *block, size_t size)
{
    if (block == NULL) return malloc(size);
    size_t old = *size_of(block);
    if (size <= old) return block;
    if (size > LARGEST_BLOCK) fail(FAILURE_MEMORY);
    if ((size_t) block + old == top) {
        size_t room = aligned(size);
        make_room(room - old);
        rise(room - old);
        *size_of(block) = room;
        return block;
    }
    /* Old places are never used again, so growing by a little each time would cost the square of the size. */
    void *moved = malloc(old < SMALL_BLOCK ? size : size + old);
    memcpy(moved, block, old);
    return moved;
}

int memcmp(const void *left, const void *right, size_t length)
{
    const unsigned char *a = left, *b = right;
    for (; length >= 8; length -= 8, a += 8, b += 8) {
        uint64_t x, y;
        memcpy(&x, a, 8);
        memcpy(&y, b, 8);
        if (x != y) break;
    }
    for (; length > 0; length--, a++, b++) {
        if (*a != *b) return *a - *b;
    }
    return 0;
}

int strncmp(const char *left, const char *right, size_t length)
{
    for (; length > 0; length--, left++, right++) {
        if (*left != *right) return (unsigned char) *left - (unsigned char) *right;
        if (*left == '\0') return 0;
    }
    return 0;
}

void *memchr(const void *block, int byte, size_t length)
{
    for (const unsigned char *at = block; length > 0; length--, at++) {
        if (*at == (unsigned char) byte) return (void *) at;
    }
    return NULL;
}

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length] != '\0') length++;
    return length;
}
