/* The part of the C library that lexbor's conversion of numbers uses. */
#ifndef MATH_H
#define MATH_H
#define INFINITY __builtin_inff()
#define signbit(number) __builtin_signbit(number)
#define ceil(number) __builtin_ceil(number)
#endif
