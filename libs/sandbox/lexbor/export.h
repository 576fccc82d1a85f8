/* What the host may call, by the name that it knows. */
#ifndef EXPORT_H
#define EXPORT_H

#define EXPORT(name) __attribute__((export_name(name)))

#endif
