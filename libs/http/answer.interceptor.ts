/** Around every handler: parses the request by its declaration, runs it once per idempotency key, sends the answer. */
import { Readable } from 'node:stream';
import { Inject, Injectable, type CallHandler, type ExecutionContext, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import type { Principal } from './api-key.js';
import { Budgets } from './budgets.js';
import { encodeJson } from './encode-json.js';
import { errorAnswer, type Answer } from './envelope.js';
import { toAppError } from './failures.js';
import { FrontDoor } from './front-door.js';
import { idempotencyKey, type IdempotencyRecords, type StoredAnswer } from './idempotency.js';
import { declarationOf, parseCall, signalOf, type RouteCall, type RouteDeclaration } from './route.js';

export const IDEMPOTENCY_RECORDS = Symbol('IdempotencyRecords');

const jsonType = 'application/json; charset=utf-8';

@Injectable()
export class AnswerInterceptor implements NestInterceptor {
  constructor(
    @Inject(IDEMPOTENCY_RECORDS) private readonly records: IdempotencyRecords,
    @Inject(FrontDoor) private readonly frontDoor: FrontDoor,
    @Inject(Budgets) private readonly budgets: Budgets,
  ) {}

  intercept(host: ExecutionContext, next: CallHandler<Answer>): Observable<string | Readable> {
    const http = host.switchToHttp();
    return from(this.#answer(http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>(), next));
  }

  async #answer(request: FastifyRequest, reply: FastifyReply, next: CallHandler<Answer>): Promise<string | Readable> {
    const declaration = declarationOf(request);
    if (declaration === undefined) throw new Error('a route without a declaration');
    const sent = request.method === 'POST' ? idempotencyKey(request.headers['idempotency-key']) : null;
    const key = declaration.isDoneAnew === true ? null : sent;
    const ending = (): AbortSignal => AbortSignal.any([signalOf(reply), this.frontDoor.stopSignal]);
    const call = parseCall(declaration, request, ending, {
      isStillAllowed: () => this.frontDoor.stillAllows(request),
      takeMore: (requests) => this.budgets.takeMore(request, reply, requests),
    });
    const answer =
      key === null || request.principal === null
        ? await run(request, call, next)
        : await this.#once(request, reply, { call, key, declaration }, next);
    reply.code(answer.status).headers(answer.headers);
    return answer.body;
  }

  async #once(
    request: FastifyRequest,
    reply: FastifyReply,
    {
      call,
      key,
      declaration,
    }: { readonly call: RouteCall<RouteDeclaration>; readonly key: string; readonly declaration: RouteDeclaration },
    next: CallHandler<Answer>,
  ): Promise<StoredAnswer> {
    const { organizationId, actor } = call.context;
    const content = JSON.stringify([
      request.method,
      request.url,
      request.body ?? null,
      ...askersOwn(declaration, actor, request.principal),
    ]);
    const { answer, replayed } = await this.records.once({ organizationId, key, content }, async (attempt) => {
      try {
        return kept(await run(request, { ...call, attempt }, next));
      } catch (thrown) {
        const error = toAppError(thrown);
        // An outage is no answer: the repeat is meant to try again.
        if (error.code === 'SERVER_ERROR') throw thrown;
        const { status, headers, body } = errorAnswer(error, request.id);
        return { status, headers: { 'content-type': jsonType, ...headers }, body: JSON.stringify(body) };
      }
    });
    if (replayed) reply.header('idempotent-replayed', 'true');
    return answer;
  }
}

/**
 * What an administrator was answered (a key, a link of invitation), or who had a secret made, is for nobody else who knows what was
 * asked; what a person was answered about themselves (a cookie, recovery codes) is for their session alone.
 */
function askersOwn(
  { access, answersSecret }: Pick<RouteDeclaration, 'access' | 'answersSecret'>,
  actor: string,
  principal: Principal | null,
): readonly string[] {
  if (access === 'session') return [actor, principal?.sessionId ?? ''];
  return answersSecret === true || ['admin', 'operator'].includes(access) ? [actor] : [];
}

type Encoded = Omit<Answer, 'body'> & { readonly body: string | Readable };

async function run(
  request: FastifyRequest,
  call: RouteCall<RouteDeclaration>,
  next: CallHandler<Answer>,
): Promise<Encoded> {
  request.call = call;
  const { headers, body, ...rest } = await lastValueFrom(next.handle());
  if (typeof body === 'string' || body instanceof Readable) return { ...rest, headers, body };
  return { ...rest, headers: { 'content-type': jsonType, ...headers }, body: await encodeJson(body) };
}

/** An answer that goes on has no end that could be kept. */
function kept({ body, ...answer }: Encoded): StoredAnswer & Pick<Answer, 'taskId'> {
  if (body instanceof Readable) throw new Error('a stream cannot be repeated under an idempotency key');
  return { ...answer, body };
}
