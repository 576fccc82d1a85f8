#include <stdint.h>

#include "export.h"
#include "failure.h"

static enum failure why;

EXPORT("failure") uint32_t failure(void) { return why; }

_Noreturn void fail(enum failure reason)
{
    why = reason;
    __builtin_trap();
}
