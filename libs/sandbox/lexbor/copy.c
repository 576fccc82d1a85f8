/*
 * Copying and filling. Most of what a parser copies is a few bytes long, and WebAssembly's own instructions for it are calls
 * out of the code in the engines of today, which take longer than that. They are for what is long.
 */
#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

#define SHORT 128u

typedef uint64_t __attribute__((aligned(1), may_alias)) loose64;
typedef uint32_t __attribute__((aligned(1), may_alias)) loose32;

void *memcpy(void *restrict to, const void *restrict from, size_t length)
{
    unsigned char *target = to;
    const unsigned char *source = from;
    if (length > SHORT) return __builtin_memcpy(to, from, length);
    if (length >= 16) {
        v128_t last = wasm_v128_load(source + length - 16);
        for (size_t at = 0; at + 16 < length; at += 16) wasm_v128_store(target + at, wasm_v128_load(source + at));
        wasm_v128_store(target + length - 16, last);
        return to;
    }
    if (length >= 8) {
        uint64_t first = *(const loose64 *) source, last = *(const loose64 *) (source + length - 8);
        *(loose64 *) target = first;
        *(loose64 *) (target + length - 8) = last;
        return to;
    }
    if (length >= 4) {
        uint32_t first = *(const loose32 *) source, last = *(const loose32 *) (source + length - 4);
        *(loose32 *) target = first;
        *(loose32 *) (target + length - 4) = last;
        return to;
    }
    for (size_t at = 0; at < length; at++) target[at] = source[at];
    return to;
}

void *memmove(void *to, const void *from, size_t length) { return __builtin_memmove(to, from, length); }

void *memset(void *block, int byte, size_t length)
{
    unsigned char *target = block;
    if (length > SHORT) return __builtin_memset(block, byte, length);
    if (length >= 16) {
        v128_t filled = wasm_i8x16_splat((int8_t) byte);
        for (size_t at = 0; at + 16 < length; at += 16) wasm_v128_store(target + at, filled);
        wasm_v128_store(target + length - 16, filled);
        return block;
    }
    for (size_t at = 0; at < length; at++) target[at] = (unsigned char) byte;
    return block;
}
