#include "flatten.h"

#include "lexbor/dom/interfaces/attr.h"
#include "lexbor/dom/interfaces/character_data.h"
#include "lexbor/dom/interfaces/document_fragment.h"
#include "lexbor/dom/interfaces/document_type.h"
#include "lexbor/html/interfaces/template_element.h"

#include "failure.h"
#include "index.h"
#include "names.h"

enum { KIND_ELEMENT = 1, KIND_TEXT = 3, KIND_COMMENT = 8, KIND_DOCUMENT = 9, KIND_DOCTYPE = 10, KIND_FRAGMENT = 11 };
#define KIND(kind) ((int32_t) ((uint32_t) (kind) << 24))
#define NAMELESS (-1)
#define NO_ROW (-1)
#define HEADER_WORDS 10u
/* Names share a word with the kind. */
#define MAX_NAMES 0xffffffu

struct page {
    struct list kind, parent, end, text_at, attribute_at, attribute_name, value_at;
    struct list template_rows;
    /* Contents of templates that are yet to be walked: addresses of nodes. */
    struct list contents;
    struct text text, values;
    struct index tags, classes, ids;
    struct names names;
    uint32_t elements, max_elements, max_depth;
};

static void page_start(struct page *page, uint32_t source_length)
{
    memset(page, 0, sizeof(*page));
    /* Enough for most pages, so that little is copied to grow. */
    uint32_t rows = source_length / 16 + 64, attributes = source_length / 24 + 64;
    struct list *by_row[] = { &page->kind, &page->parent, &page->end, &page->text_at, &page->attribute_at };
    for (unsigned each = 0; each < sizeof(by_row) / sizeof(*by_row); each++) list_reserve(by_row[each], rows);
    list_reserve(&page->attribute_name, attributes);
    list_reserve(&page->value_at, attributes);
    text_reserve(&page->text, source_length + 64);
    text_reserve(&page->values, source_length / 2 + 64);
    index_start(&page->classes);
    index_start(&page->ids);
    names_start(&page->names);
}

static void add_attribute(struct page *page, int32_t name, const unsigned char *value, size_t length)
{
    list_add(&page->attribute_name, name);
    list_add(&page->value_at, (int32_t) page->values.units);
    if (value != NULL) text_add(&page->values, value, length);
}

static bool is_space(unsigned char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r' || byte == '\f';
}

static void add_classes(struct page *page, const unsigned char *value, size_t length, int32_t row)
{
    for (size_t at = 0; at < length;) {
        while (at < length && is_space(value[at])) at++;
        size_t from = at;
        while (at < length && !is_space(value[at])) at++;
        if (at > from) index_row(&page->classes, index_key(&page->classes, value + from, at - from), row);
    }
}

static void add_element(struct page *page, lxb_dom_element_t *element, int32_t row)
{
    if (++page->elements > page->max_elements) fail(FAILURE_ELEMENTS);
    uint32_t name = names_of_tag(&page->names, element);
    list_add(&page->kind, KIND(KIND_ELEMENT) | (int32_t) name);
    for (lxb_dom_attr_t *attribute = element->first_attr; attribute != NULL; attribute = attribute->next) {
        const unsigned char *value = attribute->value == NULL ? NULL : attribute->value->data;
        size_t length = value == NULL ? 0 : attribute->value->length;
        add_attribute(page, (int32_t) names_of_attribute(&page->names, attribute), value, length);
        if (length == 0) continue;
        if (attribute->node.local_name == LXB_DOM_ATTR_CLASS) add_classes(page, value, length, row);
        else if (attribute->node.local_name == LXB_DOM_ATTR_ID) {
            index_row(&page->ids, index_key(&page->ids, value, length), row);
        }
    }
    if (element->node.local_name == LXB_TAG_TEMPLATE && element->node.ns == LXB_NS_HTML) {
        lxb_dom_document_fragment_t *content = ((lxb_html_template_element_t *) element)->content;
        if (content == NULL) return;
        list_add(&page->template_rows, row);
        list_add(&page->contents, (int32_t) (uintptr_t) content);
    }
}

static void add_doctype(struct page *page, lxb_dom_document_type_t *doctype)
{
    size_t length = 0;
    const unsigned char *name = lxb_dom_document_type_name(doctype, &length);
    list_add(&page->kind, KIND(KIND_DOCTYPE));
    add_attribute(page, NAMELESS, name, length);
    add_attribute(page, NAMELESS, doctype->public_id.data, doctype->public_id.length);
    add_attribute(page, NAMELESS, doctype->system_id.data, doctype->system_id.length);
}

/* `type` is the node's own, but for the element that holds a fragment's nodes. */
static void add_row(struct page *page, lxb_dom_node_t *node, lxb_dom_node_type_t type, int32_t parent)
{
    int32_t row = (int32_t) page->kind.length;
    list_add(&page->parent, parent);
    list_add(&page->end, 0);
    list_add(&page->text_at, (int32_t) page->text.units);
    list_add(&page->attribute_at, (int32_t) page->attribute_name.length);
    const lexbor_str_t *data = &((lxb_dom_character_data_t *) node)->data;
    switch (type) {
    case LXB_DOM_NODE_TYPE_ELEMENT:
        add_element(page, (lxb_dom_element_t *) node, row);
        break;
    case LXB_DOM_NODE_TYPE_TEXT:
        list_add(&page->kind, KIND(KIND_TEXT));
        text_add(&page->text, data->data, data->length);
        break;
    case LXB_DOM_NODE_TYPE_COMMENT:
        list_add(&page->kind, KIND(KIND_COMMENT));
        add_attribute(page, NAMELESS, data->data, data->length);
        break;
    case LXB_DOM_NODE_TYPE_DOCUMENT_TYPE:
        add_doctype(page, (lxb_dom_document_type_t *) node);
        break;
    case LXB_DOM_NODE_TYPE_DOCUMENT:
        list_add(&page->kind, KIND(KIND_DOCUMENT));
        break;
    case LXB_DOM_NODE_TYPE_DOCUMENT_FRAGMENT:
        list_add(&page->kind, KIND(KIND_FRAGMENT));
        break;
    default:
        fail(FAILURE_PARSER);
    }
}

/* In document order, without recursion: pages decide how deep they are. */
static void walk(struct page *page, lxb_dom_node_t *root, lxb_dom_node_type_t root_type)
{
    lxb_dom_node_t *node = root;
    int32_t up = NO_ROW;
    uint32_t depth = 0;
    for (;;) {
        int32_t row = (int32_t) page->kind.length;
        add_row(page, node, node == root ? root_type : node->type, up);
        lxb_dom_node_t *child = node->first_child;
        if (child != NULL) {
            if (++depth > page->max_depth) fail(FAILURE_DEPTH);
            up = row;
            node = child;
            continue;
        }
        page->end.at[row] = (int32_t) page->kind.length;
        while (node != root && node->next == NULL) {
            node = node->parent;
            page->end.at[up] = (int32_t) page->kind.length;
            up = page->parent.at[up];
            depth--;
        }
        if (node == root) return;
        node = node->next;
    }
}

static int32_t *write_list(const struct list *list, int32_t *to)
{
    if (list->length > 0) memcpy(to, list->at, list->length * sizeof(int32_t));
    return to + list->length;
}

static int32_t *write_tables(struct page *page, const struct list *fragments, bool is_quirks, int32_t *to)
{
    uint32_t rows = page->kind.length, names = page->names.written.count, tag_rows = page->tags.pair_rows.length;
    const uint32_t header[HEADER_WORDS] = {
        rows,
        page->attribute_name.length,
        names,
        page->classes.count,
        page->ids.count,
        tag_rows,
        page->classes.pair_rows.length,
        page->ids.pair_rows.length,
        page->template_rows.length,
        is_quirks,
    };
    memcpy(to, header, sizeof(header));
    to = write_list(&page->kind, to + HEADER_WORDS);
    to = write_list(&page->parent, to);
    to = write_list(&page->end, to);
    to = write_list(&page->text_at, to);
    *to++ = (int32_t) page->text.units;
    to = write_list(&page->attribute_at, to);
    *to++ = (int32_t) page->attribute_name.length;
    to = write_list(&page->attribute_name, to);
    to = write_list(&page->value_at, to);
    *to++ = (int32_t) page->values.units;
    to = index_write(&page->tags, to);
    to = index_write(&page->classes, to);
    to = index_write(&page->ids, to);
    for (uint32_t each = 0; each < page->template_rows.length; each++) {
        *to++ = page->template_rows.at[each];
        *to++ = fragments->at[each];
    }
    return to;
}

static size_t room_for(const struct page *page, const struct text *const parts[PART_COUNT])
{
    size_t words = HEADER_WORDS + 5 * (page->kind.length + 1) + 2 * (page->attribute_name.length + 1)
        + 2 * page->template_rows.length;
    const struct index *indexes[] = { &page->tags, &page->classes, &page->ids };
    for (unsigned each = 0; each < 3; each++) words += indexes[each]->count + 1 + indexes[each]->pair_rows.length;
    size_t room = words * sizeof(int32_t);
    for (unsigned each = 0; each < PART_COUNT; each++) room += 2 * (size_t) parts[each]->units + sizeof(int32_t);
    return room;
}

/* Tags are known by their name's number, so the rows of an index are all it takes. */
static void index_tags(struct page *page)
{
    struct index *tags = &page->tags;
    tags->count = page->names.written.count;
    list_reserve(&tags->pair_keys, page->elements + 1);
    list_reserve(&tags->pair_rows, page->elements + 1);
    for (uint32_t row = 0; row < page->kind.length; row++) {
        if (page->kind.at[row] >> 24 != KIND_ELEMENT) continue;
        list_add(&tags->pair_keys, page->kind.at[row] & (int32_t) MAX_NAMES);
        list_add(&tags->pair_rows, (int32_t) row);
    }
}

void flatten(lxb_dom_node_t *root, bool is_fragment, bool is_quirks, uint32_t max_elements, uint32_t max_depth,
             const struct text *source, struct output *output)
{
    struct page page;
    struct list fragments = { 0 };
    page_start(&page, source->length);
    page.max_elements = max_elements;
    page.max_depth = max_depth;
    walk(&page, root, is_fragment ? LXB_DOM_NODE_TYPE_DOCUMENT_FRAGMENT : root->type);
    for (uint32_t each = 0; each < page.contents.length; each++) {
        list_add(&fragments, (int32_t) page.kind.length);
        walk(&page, (lxb_dom_node_t *) (uintptr_t) page.contents.at[each], LXB_DOM_NODE_TYPE_DOCUMENT_FRAGMENT);
    }
    if (page.names.written.count > MAX_NAMES) fail(FAILURE_ATTRIBUTES);
    index_tags(&page);

    struct text names = { 0 }, classes = { 0 }, ids = { 0 };
    index_names(&page.names.written, &names);
    index_names(&page.classes, &classes);
    index_names(&page.ids, &ids);
    const struct text *const parts[PART_COUNT] = { &page.text, &page.values, &names, &classes, &ids, source };

    unsigned char *start = malloc(room_for(&page, parts));
    unsigned char *at = (unsigned char *) write_tables(&page, &fragments, is_quirks, (int32_t *) start);
    output->at = start;
    output->table_words = (uint32_t) (at - start) / sizeof(int32_t);
    for (unsigned each = 0; each < PART_COUNT; each++) {
        unsigned char *end = text_write(parts[each], at);
        output->parts[each].offset = (uint32_t) (at - start);
        output->parts[each].length = (uint32_t) (end - at);
        output->parts[each].is_wide = parts[each]->is_wide;
        at = start + (((size_t) (end - start) + 3) & ~(size_t) 3);
    }
    output->length = (uint32_t) (at - start);
}
