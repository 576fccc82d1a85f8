/* Names of tags and attributes by number, as they are written: foreign tags as `svg a`, their attributes as `xlink:href`. */
#ifndef NAMES_H
#define NAMES_H

#include "lexbor/dom/interfaces/attr.h"
#include "lexbor/dom/interfaces/element.h"

#include "index.h"

struct names {
    /* A tag and an attribute that are written alike have one number. */
    struct index written;
    /* What lexbor calls them, so that most need not be looked up as text. */
    struct known {
        uint32_t id, space, number;
    } *known;
    uint32_t known_mask, known_count;
};

void names_start(struct names *names);
uint32_t names_of_tag(struct names *names, lxb_dom_element_t *element);
uint32_t names_of_attribute(struct names *names, lxb_dom_attr_t *attribute);

#endif
