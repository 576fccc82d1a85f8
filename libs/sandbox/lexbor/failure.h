/* A page that goes beyond a limit ends the instance by a trap; `failure()` then says why. */
#ifndef FAILURE_H
#define FAILURE_H

/* The host knows these by number (`lexbor-page-parser.ts`). */
enum failure {
    FAILURE_NONE = 0,
    FAILURE_ELEMENTS = 1,
    FAILURE_DEPTH = 2,
    FAILURE_ATTRIBUTES = 3,
    FAILURE_MEMORY = 4,
    FAILURE_PARSER = 5,
};

_Noreturn void fail(enum failure why);

#endif
