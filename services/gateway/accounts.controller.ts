/** HTTP for API keys and sessions. */
import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { BUS, type Bus } from '#bus/bus';
import { apiKey, createdKey, keysView, openedSession } from '#contracts/account';
import { requests } from '#contracts/catalogue';
import { addressGroup } from '#http/client-address';
import { data, list, type Answer } from '#http/envelope';
import { FrontDoor } from '#http/front-door';
import { LAST_USES, type LastUses } from '#http/last-use';
import { offsetOf } from '#http/parameters';
import { Call, Handles, type RouteCall } from '#http/route';
import { checkScope } from '#http/route-guard';
import { tokenOfCookie } from '#http/session-cookie';
import { SessionTokens } from '#http/session-tokens';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import type { Json } from '#runtime/json';
import * as routes from './accounts.routes.js';
import { toJsonObject } from './json-casts.js';

/** A password is hashed on purpose slowly, and a queue of them may be ahead. */
export const passwordDeadlineMs = 30_000;

const notSignedIn = new AppError('UNAUTHORIZED', 'session_ended', 'The session has ended; sign in.');

@Controller()
export class KeysController {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(LAST_USES) private readonly lastUses: LastUses,
    @Inject(FrontDoor) private readonly frontDoor: FrontDoor,
  ) {}

  @Handles(routes.listKeys)
  async list(@Call() { query, context }: RouteCall<typeof routes.listKeys>): Promise<Answer> {
    const { documents, total } = await this.readStore.page(keysView, {
      where: [
        { field: 'organizationId', equals: context.organizationId },
        { field: 'revokedAt', equals: null },
      ],
      sort: [{ field: 'createdAt', descending: true }],
      limit: query.limit,
      offset: offsetOf(query),
      count: true,
    });
    // Parsed, so that nothing but the answer's own fields gets out: a document holds the key's hash.
    const uses = await this.lastUses.of(documents.map(({ id }) => id));
    const shown = documents.map((document) =>
      routes.keyAnswer.parse({ ...document, lastUsedAt: uses.get(document.id) ?? null }),
    );
    return list(shown, query, total ?? 0);
  }

  @Handles(routes.createKey)
  async create(@Call() { body, context, scopes }: RouteCall<typeof routes.createKey>): Promise<Answer> {
    if (body.scopes.includes('operator')) checkScope(scopes, 'operator');
    return this.#made(await this.bus.request(requests.keyCreate, toJsonObject(body), context));
  }

  @Handles(routes.rotateKey)
  async rotate(@Call() { ids, body, context, scopes }: RouteCall<typeof routes.rotateKey>): Promise<Answer> {
    const payload = { ...body, keyId: ids.id, isOperator: scopes.includes('operator') };
    return this.#made(await this.bus.request(requests.keyRotate, payload, context));
  }

  @Handles(routes.revealKey)
  async reveal(
    @Call() { ids, body, context }: RouteCall<typeof routes.revealKey>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    const payload = { ...body, keyId: ids.id, address: addressGroup(this.frontDoor.addressOf(request)) };
    return data(await this.bus.request(requests.keyReveal, payload, context, passwordDeadlineMs));
  }

  #made(answer: Json): Answer {
    const made = routes.createdKeyAnswer.parse({ ...createdKey.parse(answer), lastUsedAt: null });
    return data(made, { status: 201, headers: { location: `/api/keys/${made.id}` } });
  }

  @Handles(routes.getKey)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getKey>): Promise<Answer> {
    const found = apiKey.parse(await this.bus.request(requests.keyShow, { keyId: ids.id }, context));
    const lastUsedAt = (await this.lastUses.of([found.id])).get(found.id) ?? null;
    return data(routes.keyAnswer.parse({ ...found, lastUsedAt }));
  }

  @Handles(routes.revokeKey)
  async revoke(@Call() { ids, context }: RouteCall<typeof routes.revokeKey>): Promise<Answer> {
    return data(await this.bus.request(requests.keyRevoke, { keyId: ids.id }, context));
  }
}

@Controller()
export class SessionsController {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(FrontDoor) private readonly frontDoor: FrontDoor,
    @Inject(SessionTokens) private readonly tokens: SessionTokens,
  ) {}

  @Handles(routes.openSession)
  async open(
    @Call() { body, context }: RouteCall<typeof routes.openSession>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    this.tokens.checkOrigin(request);
    const payload = { ...body, address: addressGroup(this.frontDoor.addressOf(request)) };
    const opened = await this.bus.request(requests.sessionOpen, toJsonObject(payload), context, passwordDeadlineMs);
    const { token, ...shown } = openedSession.parse(opened);
    const headers = { 'set-cookie': this.tokens.cookieOf({ token, ...shown }, request) };
    return data(shown, { status: 201, headers });
  }

  @Handles(routes.showSession)
  async show(
    @Call() { context }: RouteCall<typeof routes.showSession>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    const token = tokenOfCookie(request.headers.cookie);
    if (token === null) throw notSignedIn;
    return data(await this.bus.request(requests.sessionShow, { token }, context));
  }

  @Handles(routes.closeSession)
  async close(
    @Call() { context }: RouteCall<typeof routes.closeSession>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    this.tokens.checkOrigin(request);
    const token = tokenOfCookie(request.headers.cookie);
    if (token !== null) await this.bus.request(requests.sessionClose, { token }, context);
    return data({ id: 'current', deleted: true }, { headers: { 'set-cookie': this.tokens.clearedCookie(request) } });
  }
}
