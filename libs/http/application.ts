/** Makes the Nest application on Fastify with the house's rules at the door. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { finished } from 'node:stream/promises';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { CONFIG, type Config } from '#runtime/config';
import { createIds } from '#runtime/ids';
import { addressGroup, isWithin } from './client-address.js';
import { compressAnswers } from './compression.js';
import { limitConnections, maxConnectionsPerAddress } from './connection-limit.js';
import { errorAnswer } from './envelope.js';
import { clientFailure, toAppError, unknownExpectation, unsupportedMediaType } from './failures.js';
import { acceptedRequestId, FrontDoor, standingHeaders } from './front-door.js';
import { parseJsonBody } from './json-body.js';
import { parseYamlBody } from './yaml.js';
import { RouteTable } from './route-table.js';
import { declarationOf, type RouteDeclaration } from './route.js';

const bodyLimitBytes = 1_048_576;
/** What is too large is read to its end up to here, so that its answer arrives. */
const mostReadAwayBytes = 16 * bodyLimitBytes;
/** Of an operation that needs no key: what anybody may make this process hold. */
const publicBodyLimitBytes = 16_384;
/** The headers of a request must have arrived by then, so that half of one holds its connection no longer. */
const headersTimeoutMs = 15_000;
const checkConnectionsEveryMs = 5_000;
/** A request must have arrived by then; long answers are not meant. */
const requestTimeoutMs = 60_000;
/** Every id fits; anything longer is an unknown path, not an error of its own. */
const longestParameter = 8_192;

const formType = 'application/x-www-form-urlencoded';
/** Mail programs that unsubscribe may send their one click so; nothing in it is read. */
const clickType = 'multipart/form-data';

/**
 * What Node reads and no path takes: unknown to Fastify they would be requests that cannot be read, and are answered with 405.
 * QUERY is known to it, and refused without a Content-Type before anything else is said.
 */
const otherMethods = (
  'ACL BIND CHECKOUT COPY LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL MOVE NOTIFY PROPFIND PROPPATCH PURGE QUERY ' +
  'REBIND REPORT SEARCH SOURCE SUBSCRIBE UNBIND UNLINK UNLOCK UNSUBSCRIBE'
).split(' ');

const ids = createIds();

/** Bytes that are no HTTP request get the envelope too, as far as the socket still takes it. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable || socket.destroyed) return;
  const requestId = ids.next('req');
  const { status, body } = errorAnswer(clientFailure(error.code), requestId);
  const text = JSON.stringify(body);
  const headers = Object.entries({
    ...standingHeaders,
    'x-request-id': requestId,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(text)),
    connection: 'close',
  });
  socket.end(
    `HTTP/1.1 ${status} Bad Request\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${text}`,
  );
}

/** A path that no route can be found for: Fastify runs no hooks then, and it is paid for like any other all the same. */
async function answerUnroutable(
  code: string,
  door: FrontDoor | null,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  // What stands in the way of entering is what is answered: the budget is used up, the process stops.
  const refusal: unknown = await door?.enter(request, reply).then(
    () => null,
    (error: unknown) => error,
  );
  const error = refusal === null || refusal === undefined ? clientFailure(code) : toAppError(refusal);
  const { status, headers, body } = errorAnswer(error, request.id);
  const contentType = { 'content-type': 'application/json; charset=utf-8' };
  const all = { ...standingHeaders, 'x-request-id': request.id, ...reply.getHeaders(), ...headers, ...contentType };
  reply.hijack();
  for (const [name, value] of Object.entries(all)) if (value !== undefined) reply.raw.setHeader(name, value);
  reply.raw.writeHead(status).end(JSON.stringify(body));
}

/** The body as JSON, where the route takes its media type. */
function readBody(request: FastifyRequest, bytes: Buffer): unknown {
  const { 'content-type': contentType = '', 'content-encoding': encoding = 'identity' } = request.headers;
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  const charset = parameters.map((part) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/.exec(part)?.[1]).find(Boolean);
  if (encoding.toLowerCase() !== 'identity') throw unsupportedMediaType;
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') throw unsupportedMediaType;
  const isClick = mediaType.trim() === clickType;
  const isForm = mediaType.trim() === formType || isClick;
  if (isForm !== (declarationOf(request)?.form === true)) throw unsupportedMediaType;
  if (isClick) return {};
  if (isForm) return Object.fromEntries(new URLSearchParams(bytes.toString('utf8')));
  if (mediaType.trim() === 'application/merge-patch+json' && declarationOf(request)?.mergePatch !== true) {
    throw unsupportedMediaType;
  }
  if (mediaType.trim() === 'application/yaml') {
    if (declarationOf(request)?.yaml !== true) throw unsupportedMediaType;
    return parseYamlBody(bytes);
  }
  return parseJsonBody(bytes);
}

/** Node keeps the first and drops the others, where a proxy may have read another. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

function declarationIn(config: object | undefined): RouteDeclaration | undefined {
  return config !== undefined && 'declaration' in config ? (config.declaration as RouteDeclaration) : undefined;
}

/** Of a client that has a key, and not without end; others are refused before anything is read. */
function isReadAway(request: FastifyRequest, announcedBytes: number): boolean {
  const access = declarationOf(request)?.access;
  const isOpen = access === undefined || access === 'public' || access === 'probe';
  return !isOpen && announcedBytes <= mostReadAwayBytes;
}

function createServer(found: { door: FrontDoor | null; declarations: RouteDeclaration[] }): FastifyInstance {
  const server = fastify({
    bodyLimit: bodyLimitBytes,
    requestTimeout: requestTimeoutMs,
    // Our own handling of Expect, hosts and proxies is in the front door; nothing of it is left to defaults.
    trustProxy: false,
    // Node's own refusal would come without our headers and envelope; the first hook refuses it.
    http: {
      requireHostHeader: false,
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: checkConnectionsEveryMs,
    },
    genReqId: (request) => acceptedRequestId(request.headers['x-request-id']) ?? ids.next('req'),
    clientErrorHandler: answerBrokenRequest,
    routerOptions: { maxParamLength: longestParameter },
    frameworkErrors: ({ code }, request, reply) => void answerUnroutable(code, found.door, request, reply),
  });
  for (const method of otherMethods) server.addHttpMethod(method, { overrideExisting: true });
  // Node's own 417 would come without our headers and envelope, too.
  const unmet = new WeakSet<IncomingMessage>();
  server.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    unmet.add(request);
    server.server.emit('request', request, response);
  });
  server.decorateRequest('principal', null);
  server.decorateRequest('call', null);
  server.removeAllContentTypeParsers();
  server.addContentTypeParser(
    ['application/json', 'application/merge-patch+json', 'application/yaml', formType, clickType],
    { parseAs: 'buffer' },
    (request, bytes: Buffer, done) => {
      try {
        done(null, readBody(request, bytes));
      } catch (error) {
        done(error instanceof Error ? error : new Error(String(error)));
      }
    },
  );
  server.addHook('onRoute', (route) => {
    const declaration = declarationIn(route.config);
    if (declaration === undefined) return;
    if (declaration.access === 'public' || declaration.access === 'probe') route.bodyLimit = publicBodyLimitBytes;
    // Fastify adds a HEAD route beside each GET, with the same declaration.
    if (declaration.method === route.method) found.declarations.push(declaration);
  });
  server.addHook('onRequest', (request, reply, done) => {
    reply.headers(standingHeaders);
    reply.header('x-request-id', request.id);
    const hosts = countHosts(request.raw);
    const isHostWrong = hosts > 1 || (hosts === 0 && request.raw.httpVersion === '1.1');
    if (!isHostWrong && !unmet.has(request.raw)) return done();
    // Whether a body follows is not known.
    reply.header('connection', 'close');
    done(isHostWrong ? clientFailure(undefined) : unknownExpectation);
  });
  server.addHook('onRequest', async (request, reply) => found.door?.enter(request, reply));
  server.addHook('preParsing', async (request, _reply, body) => {
    const announcedBytes = Number(request.headers['content-length'] ?? 0);
    if (announcedBytes <= request.routeOptions.bodyLimit || !isReadAway(request, announcedBytes)) return body;
    // A client that sends first and reads afterwards would find the connection broken, and no answer.
    body.resume();
    await finished(body).catch(() => undefined);
    throw clientFailure('FST_ERR_CTP_BODY_TOO_LARGE');
  });
  server.addHook('onResponse', (request, reply, done) => {
    found.door?.leave(request, reply);
    // What is kept alive for the client's next request would hold up a server that has closed; until then it gets its answer.
    if (!server.server.listening) setImmediate(() => server.server.closeIdleConnections());
    done();
  });
  return server;
}

export type HttpApplication = NestFastifyApplication;

/** The application, with its routes known but not listening yet. `HttpModule` must be among the module's imports. */
export async function createHttpApplication(module: object): Promise<HttpApplication> {
  const found: { door: FrontDoor | null; declarations: RouteDeclaration[] } = { door: null, declarations: [] };
  const server = createServer(found);
  await compressAnswers(server);
  const application = await NestFactory.create<NestFastifyApplication>(module, new FastifyAdapter(server), {
    logger: false,
    bodyParser: false,
    abortOnError: false,
  });
  found.door = application.get(FrontDoor, { strict: false });
  const table = application.get(RouteTable, { strict: false });
  const { trustedProxies } = application.get<Config>(CONFIG, { strict: false });
  limitConnections(server.server, {
    maxPerAddress: maxConnectionsPerAddress,
    groupOf: addressGroup,
    // Where a proxy stands on the same machine, all connections are its own.
    isExempt: (address) => isWithin(address, ['127.0.0.0/8', '::1', ...trustedProxies]),
  });
  await application.init();
  for (const declaration of found.declarations) table.add(declaration);
  return application;
}
