#ifndef HEAP_H
#define HEAP_H
#include <stddef.h>

/* Once, before anything is allocated. */
void heap_start(void);
/* All memory in use lies below. */
size_t heap_top(void);

#endif
