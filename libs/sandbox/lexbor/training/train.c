/*
 * Reads pages as `parser.c` has them read, on the machine that builds, so that the compiler learns which ways through
 * lexbor are taken. `train FILE...`: what stands before the first dot of a name is the tag that the file is read inside
 * of, or `document`. Nothing is freed: the sandbox frees nothing either, and what it does not do should not seem busy.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lexbor/html/html.h"
#include "lexbor/html/parser.h"
#include "lexbor/tag/tag.h"

static void fail(const char *path)
{
    perror(path);
    exit(EXIT_FAILURE);
}

static unsigned char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) fail(path);
    *length = (size_t) ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*length);
    if (bytes == NULL || fread(bytes, 1, *length, file) != *length) fail(path);
    fclose(file);
    return bytes;
}

static bool parse_document(lxb_html_parser_t *parser, const unsigned char *bytes, size_t length)
{
    lxb_html_document_t *document = lxb_html_parse_chunk_begin(parser);
    if (document == NULL) return false;
    lxb_dom_interface_document(document)->options |= LXB_DOM_DOCUMENT_OPT_WO_EVENTS;
    return lxb_html_parse_chunk_process(parser, bytes, length) == LXB_STATUS_OK
           && lxb_html_parse_chunk_end(parser) == LXB_STATUS_OK;
}

static bool parse_fragment(lxb_html_parser_t *parser, lxb_tag_id_t tag, const unsigned char *bytes, size_t length)
{
    parser->dom_opt |= LXB_DOM_DOCUMENT_OPT_WO_EVENTS;
    return lxb_html_parse_fragment_by_tag_id(parser, NULL, tag, LXB_NS_HTML, bytes, length) != NULL;
}

static bool parse(const char *context, size_t context_length, const unsigned char *bytes, size_t length)
{
    lxb_html_parser_t *parser = lxb_html_parser_create();
    if (parser == NULL || lxb_html_parser_init(parser) != LXB_STATUS_OK) return false;
    lxb_html_parser_scripting_set(parser, true);
    if (strncmp(context, "document", context_length) == 0) return parse_document(parser, bytes, length);
    lexbor_hash_t *no_others = lexbor_hash_create();
    if (lexbor_hash_init(no_others, 16, sizeof(lxb_tag_data_t)) != LXB_STATUS_OK) return false;
    lxb_tag_id_t tag = lxb_tag_id_by_name(no_others, (const lxb_char_t *) context, context_length);
    return tag != LXB_TAG__UNDEF && parse_fragment(parser, tag, bytes, length);
}

int main(int count, char **paths)
{
    for (int at = 1; at < count; at++) {
        size_t length = 0;
        unsigned char *bytes = read_file(paths[at], &length);
        if (parse(paths[at], strcspn(paths[at], "."), bytes, length)) continue;
        fprintf(stderr, "%s could not be parsed\n", paths[at]);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
