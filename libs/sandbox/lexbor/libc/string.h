/* The part of the C library that lexbor's parser uses; see ../heap.c. */
#ifndef STRING_H
#define STRING_H
#include <stddef.h>
void *memcpy(void *restrict to, const void *restrict from, size_t length);
void *memmove(void *to, const void *from, size_t length);
void *memset(void *block, int byte, size_t length);
int memcmp(const void *left, const void *right, size_t length);
void *memchr(const void *block, int byte, size_t length);
int strncmp(const char *left, const char *right, size_t length);
size_t strlen(const char *text);
#endif
