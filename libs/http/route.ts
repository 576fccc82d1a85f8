/**
 * Routes as declarations: one value per operation says method, path, who may, what comes in and what goes out. Nest's
 * router, the guard, validation and the OpenAPI document all read the same value.
 */
import { applyDecorators, createParamDecorator, HttpCode, RequestMapping, RequestMethod } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { Scope } from '#contracts/account';
import type { RequestContext } from '#bus/bus';
import { notFound, reject, type AppError } from '#runtime/errors';
import { isId, type IdPrefix } from '#runtime/ids';
import type { Principal } from './api-key.js';
import type { Answer } from './envelope.js';
import { singleParameters } from './parameters.js';
import { refuse, validated } from './validation.js';

/**
 * `session`: who is signed in, whatever their role, and no key. `public`: anybody, counted per address. `probe`: anybody, not
 * counted (load balancers and Prometheus call often).
 */
export type Access = Scope | 'session' | 'public' | 'probe';

export type RouteMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** What goes out: around which schema which envelope stands. */
export interface RouteAnswer {
  readonly status: number;
  readonly description: string;
  readonly envelope: 'data' | 'list' | 'none';
  readonly schema?: z.ZodType;
  /** A page-numbered list that also answers with a cursor where `after` is given. */
  readonly cursor?: boolean;
  /** Of an answer without envelope. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly example?: unknown;
}

/** A path parameter that is an id; one that is malformed is answered like one that does not exist. */
export interface IdParameter {
  readonly prefix: IdPrefix;
  /** What it is the id of, for the 404: `notification`. */
  readonly of: string;
}

/** A path parameter of another kind; one that does not fit is answered like one that does not exist. */
export interface TextParameter {
  /** Of all of it. */
  readonly pattern: string;
  readonly of: string;
  readonly description: string;
  readonly example: string;
}

export interface RouteDeclaration {
  readonly method: RouteMethod;
  /** As OpenAPI writes it: `/api/notifications/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly access: Access;
  readonly ids?: Readonly<Record<string, IdParameter | TextParameter>>;
  readonly query?: z.ZodType;
  readonly body?: z.ZodType;
  /** What an absent body stands for; without it a body is required. */
  readonly emptyBody?: unknown;
  readonly bodyExample?: unknown;
  /** Members of the body that are passed over: read-only fields of what GET gave. */
  readonly ignoredFields?: readonly string[];
  /** Also takes `application/merge-patch+json`. */
  readonly mergePatch?: boolean;
  /** Also takes `application/yaml`. */
  readonly yaml?: boolean;
  /** Takes `application/x-www-form-urlencoded`, as browsers send forms, and nothing else. */
  readonly form?: boolean;
  /** What is answered in place of the error envelope, where people look. */
  readonly errorPage?: (error: AppError, url: string) => Answer;
  /** The page is for those who ask for HTML; others get the envelope. */
  readonly errorPageForBrowsers?: boolean;
  /** Takes `If-Match`. */
  readonly conditional?: boolean;
  readonly answers: readonly RouteAnswer[];
  /** Statuses of errors that do not follow from the rest. */
  readonly errors?: readonly number[];
  /** Names of views that few operations read and this one does, given the query as it was sent: it waits while they are built. */
  readonly reads?: (query: Readonly<Record<string, unknown>>) => readonly string[];
  /** Operators are let in though the budget that pays for them is used up: by this it is made larger. */
  readonly raisesBudget?: true;
  /** Each time counts: an Idempotency-Key replays nothing. */
  readonly isDoneAnew?: true;
  /** Holds a secret that no other answer shows: an Idempotency-Key replays it to who was answered, and to nobody else. */
  readonly answersSecret?: true;
  /** Left out of the OpenAPI document: pages and probes. */
  readonly hidden?: boolean;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;
type IdsOf<Declaration> = Declaration extends { readonly ids: infer Ids }
  ? { readonly [Name in keyof Ids]: string }
  : Readonly<Record<never, never>>;

/** Set by the interceptor where the request carries an Idempotency-Key: what derived ids are made from. */
export interface IdempotentAttempt {
  readonly key: string;
  /** When the first request with this key came: a repeat after a crash derives the same ids. */
  readonly startedAtMs: number;
}

/** A request as a handler sees it: parsed, checked, allowed. */
export interface RouteCall<Declaration extends RouteDeclaration> {
  readonly ids: IdsOf<Declaration>;
  readonly query: Declaration extends { readonly query: infer Query } ? Parsed<Query> : undefined;
  readonly body: Declaration extends { readonly body: infer Body } ? Parsed<Body> : undefined;
  readonly context: RequestContext;
  /** What the caller's key or session may do: for what a body asks beyond the route's own access. */
  readonly scopes: readonly Scope[];
  readonly ifMatch: string | undefined;
  readonly accept: string;
  readonly attempt: IdempotentAttempt | null;
  /** What a reader of server-sent events has seen last. */
  readonly lastEventId: string | undefined;
  /** Whether the key or session would still be let in: for answers that go on for long. */
  readonly isStillAllowed: () => Promise<boolean>;
  /** Takes further requests from the caller's budget, for one that counts as several: all of them, or throws what is answered. */
  readonly takeMore: (requests: number) => Promise<void>;
  /** A signal that is aborted when the client has gone or the process is stopping; made when it is asked for. */
  readonly ending: () => AbortSignal;
}

/** Keeps the types of a declaration's schemas. */
export function route<const Declaration extends RouteDeclaration>(declaration: Declaration): Declaration {
  return declaration;
}

/** Marks a method as the handler of a declared route. A route without one is refused by the guard. */
export function Handles(declaration: RouteDeclaration): MethodDecorator {
  return applyDecorators(
    RequestMapping({
      path: declaration.path.replace(/\{(\w+)\}/g, ':$1'),
      method: RequestMethod[declaration.method],
    }),
    HttpCode(declaration.answers[0]?.status ?? 200),
    RouteConfig({ declaration }),
  );
}

/** The parsed request, as a handler's parameter. */
export const Call = createParamDecorator((_, host) => host.switchToHttp().getRequest<FastifyRequest>().call);

declare module 'fastify' {
  interface FastifyRequest {
    principal: Principal | null;
    call: object | null;
  }
  interface FastifyContextConfig {
    declaration?: RouteDeclaration;
  }
}

export function declarationOf(request: FastifyRequest): RouteDeclaration | undefined {
  return request.routeOptions.config.declaration;
}

const fits = (parameter: IdParameter | TextParameter, value: string): boolean =>
  'prefix' in parameter ? isId(value, parameter.prefix) : new RegExp(parameter.pattern).test(value);

function checkedIds(declaration: RouteDeclaration, request: FastifyRequest): Readonly<Record<string, string>> {
  const given: unknown = request.params;
  const ids: Record<string, string> = {};
  for (const [name, parameter] of Object.entries(declaration.ids ?? {})) {
    const value: unknown = typeof given === 'object' && given !== null ? Reflect.get(given, name) : undefined;
    if (typeof value !== 'string' || !fits(parameter, value)) throw notFound(parameter.of);
    ids[name] = value;
  }
  return ids;
}

function checkedQuery(declaration: RouteDeclaration, request: FastifyRequest): unknown {
  // Links to pages gather parameters on their way; only the API refuses what it does not know.
  if (declaration.tag === 'Pages') return undefined;
  const given = singleParameters(request.query as Record<string, unknown>);
  if (declaration.query !== undefined) return validated(declaration.query, given, 'query');
  const [unknown] = Object.keys(given);
  if (unknown !== undefined) throw refuse([unknown], 'unknown', 'is not a parameter', 'unknown_parameter');
  return undefined;
}

function checkedBody(declaration: RouteDeclaration, request: FastifyRequest): unknown {
  const given: unknown = request.body ?? undefined;
  if (declaration.body === undefined) {
    if (declaration.form === true) return undefined;
    // Some clients send `{}` with every request; anything more was meant to do something here.
    if (given === undefined || JSON.stringify(given) === '{}') return undefined;
    throw refuse([], 'unknown', 'must be empty', 'body_not_allowed');
  }
  if (given === undefined) {
    if (declaration.emptyBody === undefined) throw refuse([], 'required', 'is required', 'body_required');
    return validated(declaration.body, declaration.emptyBody, 'body');
  }
  return validated(declaration.body, withoutIgnored(declaration.ignoredFields, given), 'body');
}

function withoutIgnored(ignored: readonly string[] | undefined, given: unknown): unknown {
  if (ignored === undefined || typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([name]) => !ignored.includes(name)));
}

/** Who sends `If-Match` believes that nothing is written over: what does not look at it says so. Nothing is written by GET. */
function checkIfMatch({ method, conditional }: RouteDeclaration, ifMatch: string | undefined): void {
  if (ifMatch === undefined || ifMatch.trim() === '*' || conditional === true || method === 'GET') return;
  throw reject('if_match_unused', 'This operation does not look at If-Match: leave it out.', [
    { field: 'If-Match', rule: 'unused', message: 'is not looked at by this operation: leave it out' },
  ]);
}

/** Parses a request by its declaration. Throws what is to be answered. */
export function parseCall(
  declaration: RouteDeclaration,
  request: FastifyRequest,
  ending: () => AbortSignal,
  { isStillAllowed, takeMore }: Pick<RouteCall<RouteDeclaration>, 'isStillAllowed' | 'takeMore'>,
): RouteCall<RouteDeclaration> {
  const { accept, 'if-match': ifMatch, 'last-event-id': lastEventId } = request.headers;
  checkIfMatch(declaration, ifMatch);
  return {
    ids: checkedIds(declaration, request),
    query: checkedQuery(declaration, request) as undefined,
    body: checkedBody(declaration, request) as undefined,
    context: {
      organizationId: request.principal?.organizationId ?? '',
      actor: request.principal?.actor ?? 'anonymous',
      requestId: request.id,
    },
    scopes: request.principal?.scopes ?? [],
    ifMatch,
    accept: accept ?? '*/*',
    attempt: null,
    lastEventId: typeof lastEventId === 'string' ? lastEventId : undefined,
    isStillAllowed,
    takeMore,
    ending,
  };
}

/** Aborts once the connection is gone before the answer was written. */
export function signalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort();
  });
  return controller.signal;
}
