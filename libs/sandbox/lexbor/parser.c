/*
 * HTML to flat tables. The host copies UTF-8 to where `input` says, calls `parse`, reads what the answer points to, and
 * puts the memory back to its image. There is nothing else: no import but the memory, no state from page to page.
 */
#include "lexbor/html/html.h"
#include "lexbor/html/parser.h"
#include "lexbor/html/tree.h"
#include "lexbor/tag/tag.h"

#include "failure.h"
#include "flatten.h"
#include "heap.h"

#define EXPORT(name) __attribute__((export_name(name)))

/* lexbor looks for duplicates by comparing each attribute of a tag with all before it. */
#define MAX_ATTRIBUTES 1024u

static enum failure why;
static uint32_t depth_limit;
static uint32_t root_attributes;
static lxb_html_tree_t *tree;
static lxb_html_tokenizer_token_f next_token;
static struct output output;

EXPORT("failure") uint32_t failure(void) { return why; }

_Noreturn void fail(enum failure reason)
{
    why = reason;
    __builtin_trap();
}

EXPORT("start") void start(void) { heap_start(); }
EXPORT("heap_top") size_t exported_heap_top(void) { return heap_top(); }
EXPORT("input") unsigned char *input(uint32_t length) { return malloc(length); }

/* Sees each token before the tree does: what costs too much is stopped before it is built. */
static lxb_html_token_t *guard(lxb_html_tokenizer_t *tokenizer, lxb_html_token_t *token, void *context)
{
    if (tree->open_elements->length > depth_limit) fail(FAILURE_DEPTH);
    uint32_t attributes = 0;
    for (const lxb_html_token_attr_t *each = token->attr_first; each != NULL; each = each->next) attributes++;
    if (attributes > MAX_ATTRIBUTES) fail(FAILURE_ATTRIBUTES);
    /* Attributes of further `html` and `body` tags go to the first. */
    if (attributes > 0 && (token->tag_id == LXB_TAG_HTML || token->tag_id == LXB_TAG_BODY)) {
        root_attributes += attributes;
        if (root_attributes > MAX_ATTRIBUTES) fail(FAILURE_ATTRIBUTES);
    }
    return next_token(tokenizer, token, context);
}

static lxb_html_parser_t *create_parser(bool is_scripting)
{
    lxb_html_parser_t *parser = lxb_html_parser_create();
    if (parser == NULL || lxb_html_parser_init(parser) != LXB_STATUS_OK) fail(FAILURE_PARSER);
    lxb_html_parser_scripting_set(parser, is_scripting);
    lxb_html_tokenizer_t *tokenizer = lxb_html_parser_tokenizer(parser);
    tree = lxb_html_parser_tree(parser);
    next_token = tokenizer->callback_token_done;
    tokenizer->callback_token_done = guard;
    return parser;
}

static struct text text_of(const unsigned char *bytes, uint32_t length)
{
    struct text text = { .bytes = (unsigned char *) bytes, .length = length, .capacity = length };
    text_measure(&text);
    return text;
}

/* The text must be UTF-8: lexbor does not check it. */
EXPORT("parse_document")
const struct output *parse_document(const unsigned char *bytes, uint32_t length, uint32_t is_scripting,
                                    uint32_t max_elements, uint32_t max_depth)
{
    depth_limit = max_depth;
    struct text source = text_of(bytes, length);
    lxb_html_parser_t *parser = create_parser(is_scripting != 0);
    lxb_html_document_t *document = lxb_html_parse_chunk_begin(parser);
    if (document == NULL) fail(FAILURE_PARSER);
    lxb_dom_document_t *dom = lxb_dom_interface_document(document);
    /* Nobody listens to what is inserted. */
    dom->options |= LXB_DOM_DOCUMENT_OPT_WO_EVENTS;
    if (lxb_html_parse_chunk_process(parser, source.bytes, source.length) != LXB_STATUS_OK) fail(FAILURE_PARSER);
    if (lxb_html_parse_chunk_end(parser) != LXB_STATUS_OK) fail(FAILURE_PARSER);
    bool is_quirks = dom->compat_mode == LXB_DOM_DOCUMENT_CMODE_QUIRKS;
    flatten(lxb_dom_interface_node(document), false, is_quirks, max_elements, max_depth, &source, &output);
    return &output;
}

static lxb_tag_id_t known_tag(const unsigned char *name, uint32_t length)
{
    lexbor_hash_t *no_others = lexbor_hash_create();
    if (lexbor_hash_init(no_others, 16, sizeof(lxb_tag_data_t)) != LXB_STATUS_OK) fail(FAILURE_PARSER);
    return lxb_tag_id_by_name(no_others, name, length);
}

/* As in a context element: `context` is its name in lower case, `context_namespace` one of lexbor's numbers. */
EXPORT("parse_fragment")
const struct output *parse_fragment(const unsigned char *bytes, uint32_t length, const unsigned char *context,
                                    uint32_t context_length, uint32_t context_namespace, uint32_t is_scripting,
                                    uint32_t max_elements, uint32_t max_depth)
{
    depth_limit = max_depth;
    struct text source = text_of(bytes, length);
    lxb_html_parser_t *parser = create_parser(is_scripting != 0);
    parser->dom_opt |= LXB_DOM_DOCUMENT_OPT_WO_EVENTS;
    lxb_tag_id_t tag = known_tag(context, context_length);
    /* One without rules of its own stands for all others. */
    if (tag == LXB_TAG__UNDEF) tag = context_namespace == LXB_NS_HTML ? LXB_TAG_SPAN : LXB_TAG_SVG;
    lxb_dom_node_t *root =
        lxb_html_parse_fragment_by_tag_id(parser, NULL, tag, context_namespace, source.bytes, source.length);
    if (root == NULL) fail(FAILURE_PARSER);
    const struct text nothing = { 0 };
    flatten(root, true, false, max_elements, max_depth, &nothing, &output);
    return &output;
}
