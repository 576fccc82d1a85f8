/*
 * HTML to flat tables. The host copies UTF-8 to where `input` says, calls `parse`, reads what the answer points to, and
 * puts the memory back to its image. There is nothing else: no import but the memory, no state from page to page.
 */
#include "lexbor/html/html.h"
#include "lexbor/html/parser.h"
#include "lexbor/html/tree.h"
#include "lexbor/html/tree/insertion_mode.h"
#include "lexbor/tag/tag.h"

#include "export.h"
#include "failure.h"
#include "flatten.h"
#include "heap.h"

/* lexbor looks for duplicates by comparing each attribute of a tag with all before it. */
#define MAX_ATTRIBUTES 1024u
/* Each `option` looks at all others of its `select`, and each `selectedcontent` is filled anew: for so many at most. */
#define MAX_SELECTED_STEPS 1000u

static uint32_t depth_limit;
static uint32_t root_attributes, selected_steps;
static lxb_html_tree_t *tree;
static lxb_html_tokenizer_token_f next_token;
static struct output output;

EXPORT("start") void start(void) { heap_start(); }
EXPORT("heap_top") size_t exported_heap_top(void) { return heap_top(); }
EXPORT("input") unsigned char *input(uint32_t length) { return malloc(length); }

/* Whether steps that follow an insertion are left out: looking for them takes a tenth of the time. */
static void set_silent(bool is_silent)
{
    lxb_dom_document_t *document = lxb_dom_interface_document(tree->document);
    if (is_silent) document->options |= LXB_DOM_DOCUMENT_OPT_WO_EVENTS;
    else document->options &= ~LXB_DOM_DOCUMENT_OPT_WO_EVENTS;
}

/*
 * `<?x y?>` as browsers show it: a comment of all that stands between the brackets. Nodes of a kind of their own are a
 * change of the standard that they have yet to make.
 */
static void make_comment(lxb_html_token_t *token)
{
    size_t length = (size_t) (token->end - token->begin);
    /* Each NUL becomes three bytes. */
    unsigned char *text = malloc(3 * length), *to = text;
    for (const unsigned char *from = token->begin; from < token->end; from++) {
        if (*from == '\0') {
            memcpy(to, "\xef\xbf\xbd", 3);
            to += 3;
        } else if (*from != '\r') {
            *to++ = *from;
        } else if (from + 1 == token->end || from[1] != '\n') {
            *to++ = '\n';
        }
    }
    token->tag_id = LXB_TAG__EM_COMMENT;
    token->text_start = text;
    token->text_end = to;
}

/*
 * lexbor reads what is in a `textarea` as it reads the body, so that formatting which is still open would be opened in
 * it once more. Whether the token is used up: a line feed at the beginning counts for nothing.
 */
static bool begin_textarea(lxb_html_token_t *token)
{
    tree->mode = lxb_html_tree_insertion_mode_text;
    if (token->tag_id != LXB_TAG__TEXT) return false;
    lxb_html_token_data_skip_one_newline_begin(token);
    return token->text_start == token->text_end;
}

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
    if (token->tag_id == LXB_TAG__PROCESSINGINSTRUCTION) make_comment(token);
    /* The one element of which lexbor has to be told that it was inserted: it shows what is selected. */
    if (token->tag_id == LXB_TAG_SELECTEDCONTENT || (selected_steps > 0 && token->tag_id == LXB_TAG_OPTION)) {
        set_silent(++selected_steps > MAX_SELECTED_STEPS);
    }
    if (tree->mode == lxb_html_tree_insertion_mode_in_body_skip_new_line_textarea && begin_textarea(token)) return token;
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
    set_silent(true);
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
