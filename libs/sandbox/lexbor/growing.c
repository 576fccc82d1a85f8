#include "growing.h"

#include <wasm_simd128.h>

void text_reserve(struct text *text, uint32_t capacity)
{
    text->bytes = realloc(text->bytes, capacity);
    text->capacity = capacity;
}

/* In UTF-8 each byte but those that continue a character is one unit, and one that begins four bytes is two. */
static void count_units(struct text *text, const unsigned char *bytes, uint32_t length)
{
    uint32_t at = 0, units = 0;
    /* Anything from U+0100 begins with a byte of at least 0xc4. */
    bool is_wide = false;
    for (; at + 16 <= length; at += 16) {
        v128_t chunk = wasm_v128_load(bytes + at);
        if (wasm_i8x16_bitmask(chunk) == 0) {
            units += 16;
            continue;
        }
        units += __builtin_popcount(wasm_i8x16_bitmask(wasm_i8x16_ge(chunk, wasm_i8x16_splat(-64))));
        units += __builtin_popcount(wasm_i8x16_bitmask(wasm_u8x16_ge(chunk, wasm_u8x16_splat(0xf0))));
        is_wide = is_wide || wasm_v128_any_true(wasm_u8x16_ge(chunk, wasm_u8x16_splat(0xc4)));
    }
    for (; at < length; at++) {
        units += ((signed char) bytes[at] >= -64) + (bytes[at] >= 0xf0);
        is_wide = is_wide || bytes[at] >= 0xc4;
    }
    text->units += units;
    text->is_wide = text->is_wide || is_wide;
}

void text_measure(struct text *text) { count_units(text, text->bytes, text->length); }

void text_add(struct text *text, const unsigned char *bytes, size_t length)
{
    if (length == 0) return;
    if (text->length + length > text->capacity) {
        text_reserve(text, text->length + length + (text->capacity < 4096 ? 4096 : text->capacity));
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    count_units(text, bytes, length);
}

static unsigned char *write_narrow(const struct text *text, unsigned char *to)
{
    const unsigned char *from = text->bytes, *end = from + text->length;
    if (text->units == text->length) {
        if (text->length > 0) memcpy(to, from, text->length);
        return to + text->length;
    }
    while (from < end) {
        if (*from < 0x80) {
            *to++ = *from++;
        } else {
            *to++ = (unsigned char) (from[0] << 6 | (from[1] & 0x3f));
            from += 2;
        }
    }
    return to;
}

static uint16_t *write_character(const unsigned char **source, uint16_t *to)
{
    const unsigned char *from = *source;
    if (*from < 0x80) {
        *to++ = *from;
        *source = from + 1;
    } else if (*from < 0xe0) {
        *to++ = (uint16_t) ((from[0] & 0x1f) << 6 | (from[1] & 0x3f));
        *source = from + 2;
    } else if (*from < 0xf0) {
        *to++ = (uint16_t) ((from[0] & 0x0f) << 12 | (from[1] & 0x3f) << 6 | (from[2] & 0x3f));
        *source = from + 3;
    } else {
        uint32_t code = (uint32_t) (from[0] & 0x07) << 18 | (from[1] & 0x3f) << 12 | (from[2] & 0x3f) << 6 | (from[3] & 0x3f);
        code -= 0x10000;
        *to++ = (uint16_t) (0xd800 | code >> 10);
        *to++ = (uint16_t) (0xdc00 | (code & 0x3ff));
        *source = from + 4;
    }
    return to;
}

static unsigned char *write_wide(const struct text *text, unsigned char *place)
{
    const unsigned char *from = text->bytes, *end = from + text->length;
    uint16_t *to = (uint16_t *) place;
    while (from < end) {
        for (; end - from >= 16; from += 16, to += 16) {
            v128_t chunk = wasm_v128_load(from);
            if (wasm_i8x16_bitmask(chunk) != 0) break;
            wasm_v128_store(to, wasm_u16x8_extend_low_u8x16(chunk));
            wasm_v128_store(to + 8, wasm_u16x8_extend_high_u8x16(chunk));
        }
        /* A few by hand: what is not ASCII seldom stands alone. */
        for (int count = 0; count < 16 && from < end; count++) to = write_character(&from, to);
    }
    return (unsigned char *) to;
}

unsigned char *text_write(const struct text *text, unsigned char *to)
{
    return text->is_wide ? write_wide(text, to) : write_narrow(text, to);
}
