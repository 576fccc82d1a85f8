/* lexbor includes it everywhere and uses it where it writes files, which is not compiled here. */
#ifndef STDIO_H
#define STDIO_H
#include <stddef.h>
typedef struct file FILE;
#endif
