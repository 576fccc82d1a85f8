/** HTTP for API keys and sessions. */
import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { keysView, openedSession } from '#contracts/account';
import { requests } from '#contracts/catalogue';
import { addressGroup } from '#http/client-address';
import { data, list, type Answer } from '#http/envelope';
import { FrontDoor } from '#http/front-door';
import { offsetOf } from '#http/parameters';
import { Call, Handles, type RouteCall } from '#http/route';
import { foreignOrigin } from '#http/session';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { AppError } from '#runtime/errors';
import * as routes from './accounts.routes.js';
import { toJsonObject } from './json-casts.js';
import { clearedCookie, isOwnOrigin, isSecureRequest, sessionCookie, tokenOfCookie } from '#http/session-cookie';

/** A password is hashed on purpose slowly, and a queue of them may be ahead. */
const signInDeadlineMs = 30_000;

const notSignedIn = new AppError('UNAUTHORIZED', 'session_ended', 'The session has ended; sign in.');

@Controller()
export class KeysController {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(READ_STORE) private readonly readStore: ReadStore,
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
    const shown = documents.map((document) => routes.keyAnswer.parse(document));
    return list(shown, query, total ?? 0);
  }

  @Handles(routes.createKey)
  async create(@Call() { body, context }: RouteCall<typeof routes.createKey>): Promise<Answer> {
    const made = routes.createdKeyAnswer.parse(await this.bus.request(requests.keyCreate, toJsonObject(body), context));
    return data(made, { status: 201, headers: { location: `/api/keys/${made.id}` } });
  }

  @Handles(routes.getKey)
  async get(@Call() { ids, context }: RouteCall<typeof routes.getKey>): Promise<Answer> {
    return data(routes.keyAnswer.parse(await this.bus.request(requests.keyShow, { keyId: ids.id }, context)));
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
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  @Handles(routes.openSession)
  async open(
    @Call() { body, context }: RouteCall<typeof routes.openSession>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    this.checkOrigin(request);
    const payload = { ...body, address: addressGroup(this.frontDoor.addressOf(request)) };
    const opened = await this.bus.request(requests.sessionOpen, payload, context, signInDeadlineMs);
    const { token, ...shown } = openedSession.parse(opened);
    const maxAgeSeconds = Math.floor((Date.parse(shown.expiresAt) - this.clock.now()) / 1_000);
    const cookie = sessionCookie(token, maxAgeSeconds, isSecureRequest(request.headers, this.config.publicUrl));
    return data(shown, { status: 201, headers: { 'set-cookie': cookie } });
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
    this.checkOrigin(request);
    await this.end(tokenOfCookie(request.headers.cookie), context);
    const headers = { 'set-cookie': clearedCookie(isSecureRequest(request.headers, this.config.publicUrl)) };
    return data({ id: 'current', deleted: true }, { headers });
  }

  private async end(token: string | null, context: RequestContext): Promise<void> {
    if (token !== null) await this.bus.request(requests.sessionClose, { token }, context);
  }

  private checkOrigin({ headers }: FastifyRequest): void {
    if (isOwnOrigin(headers.origin, headers.host, this.config.publicUrl)) return;
    throw foreignOrigin;
  }
}
