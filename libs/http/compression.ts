/** Answers of some size are compressed for clients that take it: a page of tasks is a tenth of itself on a phone's network. */
import { constants } from 'node:zlib';
import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

/** Below this a compressed answer saves no packet worth the work. */
const thresholdBytes = 4_096;
/**
 * Up to this in one go, half a millisecond: a stream through the threads of the engine takes several turns of the event loop, which
 * are long while it is busy. What is larger goes that way.
 */
const atOnceBytes = 65_536;
/** A window no larger than what is compressed at once: to make one ready for megabytes takes longer than the compression. */
const brotliParams = { [constants.BROTLI_PARAM_QUALITY]: 4, [constants.BROTLI_PARAM_LGWIN]: 16 };
/** Whole answers of text. Not streams of lines or events, which a compressor would hold back. */
const compressedTypes = /^(?:application\/(?:json|yaml)|text\/(?:css|html|javascript|plain)|image\/svg\+xml)\b/;

/** What browsers say of requests that no other site caused, also none of the same domain, with which the session's cookie goes. */
const ownSites: ReadonlySet<unknown> = new Set([undefined, 'same-origin', 'none']);

/**
 * To be awaited before the routes are declared. Nothing is compressed that another site asked for: from the lengths of answers
 * that hold a word of its choice it could learn what else they hold.
 */
export async function compressAnswers(server: FastifyInstance): Promise<void> {
  server.addHook('onRequest', ({ headers }, _reply, done) => {
    // The plugin's own way to leave a request out.
    if (!ownSites.has(headers['sec-fetch-site'])) headers['x-no-compression'] = '1';
    done();
  });
  await server.register(compress, {
    globalDecompression: false,
    threshold: thresholdBytes,
    syncThreshold: atOnceBytes,
    encodings: ['br', 'gzip'],
    customTypes: compressedTypes,
    brotliOptions: { params: brotliParams },
    zlibOptions: { level: 4 },
  });
}
