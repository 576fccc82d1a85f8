#include "names.h"

#define FIRST_KNOWN 512u
#define NOT_KNOWN UINT32_MAX
/* Tags have lexbor's number of their namespace; attributes are another space. 0 is an empty place. */
#define ATTRIBUTE_SPACE 0x100u

void names_start(struct names *names)
{
    index_start(&names->written);
    names->known = calloc(FIRST_KNOWN, sizeof(struct known));
    names->known_mask = FIRST_KNOWN - 1;
    names->known_count = 0;
}

static uint32_t place_of(const struct names *names, uint32_t id, uint32_t space)
{
    uint32_t hash = (id ^ space << 20) * 0x9e3779b9u;
    uint32_t at = (hash ^ hash >> 15) & names->known_mask;
    while (names->known[at].space != 0 && (names->known[at].id != id || names->known[at].space != space)) {
        at = (at + 1) & names->known_mask;
    }
    return at;
}

static void remember(struct names *names, uint32_t id, uint32_t space, uint32_t number)
{
    names->known[place_of(names, id, space)] = (struct known) { id, space, number };
    if (++names->known_count * 2 <= names->known_mask) return;
    struct known *old = names->known;
    uint32_t count = names->known_mask + 1;
    names->known = calloc(count * 2, sizeof(struct known));
    names->known_mask = count * 2 - 1;
    for (uint32_t at = 0; at < count; at++) {
        if (old[at].space != 0) names->known[place_of(names, old[at].id, old[at].space)] = old[at];
    }
}

static uint32_t find(const struct names *names, uint32_t id, uint32_t space)
{
    const struct known *known = &names->known[place_of(names, id, space)];
    return known->space == 0 ? NOT_KNOWN : known->number;
}

static uint32_t written_tag(struct names *names, lxb_dom_element_t *element)
{
    size_t length = 0;
    const unsigned char *name = lxb_dom_element_qualified_name(element, &length);
    const char *prefix = element->node.ns == LXB_NS_SVG ? "svg " : element->node.ns == LXB_NS_MATH ? "math " : NULL;
    if (prefix == NULL) return index_key(&names->written, name, length);
    size_t before = strlen(prefix);
    unsigned char *whole = malloc(before + length);
    memcpy(whole, prefix, before);
    memcpy(whole + before, name, length);
    return index_key(&names->written, whole, before + length);
}

uint32_t names_of_tag(struct names *names, lxb_dom_element_t *element)
{
    uint32_t id = (uint32_t) (element->qualified_name != 0 ? element->qualified_name : element->node.local_name);
    uint32_t space = (uint32_t) element->node.ns + 1;
    uint32_t number = find(names, id, space);
    if (number != NOT_KNOWN) return number;
    number = written_tag(names, element);
    remember(names, id, space, number);
    return number;
}

uint32_t names_of_attribute(struct names *names, lxb_dom_attr_t *attribute)
{
    uint32_t id = (uint32_t) (attribute->qualified_name != 0 ? attribute->qualified_name : attribute->node.local_name);
    uint32_t number = find(names, id, ATTRIBUTE_SPACE);
    if (number != NOT_KNOWN) return number;
    size_t length = 0;
    const unsigned char *name = lxb_dom_attr_qualified_name(attribute, &length);
    number = index_key(&names->written, name, length);
    remember(names, id, ATTRIBUTE_SPACE, number);
    return number;
}
