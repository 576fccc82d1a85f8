/* lexbor's tree as flat tables; their form is described in ../flat-page.ts. */
#ifndef FLATTEN_H
#define FLATTEN_H

#include "lexbor/html/html.h"

#include "growing.h"

enum { PART_TEXT, PART_VALUES, PART_NAMES, PART_CLASSES, PART_IDS, PART_SOURCE, PART_COUNT };

/* One block of memory: the tables, then the parts one after the other, each at a multiple of four. */
struct output {
    const unsigned char *at;
    uint32_t length;
    uint32_t table_words;
    struct {
        uint32_t offset, length, is_wide;
    } parts[PART_COUNT];
};

/* Rows begin with the root: a document, or the element whose children are the fragment's. `source` is handed on as it is. */
void flatten(lxb_dom_node_t *root, bool is_fragment, bool is_quirks, uint32_t max_elements, uint32_t max_depth,
             const struct text *source, struct output *output);

#endif
