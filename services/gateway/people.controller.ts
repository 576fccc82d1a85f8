/** HTTP for members, their invitations, and people's own accounts. */
import { Controller, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import { openedSession, organizationsView } from '#contracts/account';
import { requests } from '#contracts/catalogue';
import { memberList } from '#contracts/member';
import { addressGroup } from '#http/client-address';
import { data, list, type Answer } from '#http/envelope';
import { FrontDoor } from '#http/front-door';
import { offsetOf } from '#http/parameters';
import { Call, Handles, type RouteCall } from '#http/route';
import { checkScope } from '#http/route-guard';
import { tokenOfCookie } from '#http/session-cookie';
import { SessionTokens } from '#http/session-tokens';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { CONFIG, type Config } from '#runtime/config';
import type { Json } from '#runtime/json';
import { passwordDeadlineMs } from './accounts.controller.js';
import { toJsonObject } from './json-casts.js';
import * as routes from './people.routes.js';

/** Whether there is an organisation to sign in to. */
export async function isSetUp(readStore: ReadStore): Promise<boolean> {
  const options = { where: [], sort: [], limit: 1, offset: 0, count: false };
  return (await readStore.page(organizationsView, options)).documents.length > 0;
}

@Controller()
export class MembersController {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(SessionTokens) private readonly tokens: SessionTokens,
  ) {}

  @Handles(routes.listMembers)
  async list(@Call() { query, context }: RouteCall<typeof routes.listMembers>): Promise<Answer> {
    const asked = { limit: query.limit, offset: offsetOf(query) };
    const { members, total } = memberList.parse(await this.bus.request(requests.membersList, asked, context));
    return list(members, query, total);
  }

  @Handles(routes.inviteMember)
  async invite(@Call() { body, context }: RouteCall<typeof routes.inviteMember>): Promise<Answer> {
    return data(await this.bus.request(requests.memberInvite, body, context), { status: 201 });
  }

  @Handles(routes.changeMember)
  async change(@Call() { ids, body, context, scopes }: RouteCall<typeof routes.changeMember>): Promise<Answer> {
    if (body.operator !== undefined) checkScope(scopes, 'operator');
    const payload = toJsonObject({ memberId: ids.id, change: body });
    return data(await this.bus.request(requests.memberChange, payload, context));
  }

  @Handles(routes.removeMember)
  async remove(@Call() { ids, context, scopes }: RouteCall<typeof routes.removeMember>): Promise<Answer> {
    const payload = { memberId: ids.id, isOperator: scopes.includes('operator') };
    return data(await this.bus.request(requests.memberRemove, payload, context));
  }

  @Handles(routes.showInvitation)
  async showInvitation(@Call() { ids, context }: RouteCall<typeof routes.showInvitation>): Promise<Answer> {
    return data(await this.bus.request(requests.invitationShow, { token: ids.token }, context));
  }

  @Handles(routes.takeInvitation)
  async join(
    @Call() { ids, body, context }: RouteCall<typeof routes.takeInvitation>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    this.tokens.checkOrigin(request);
    const payload = { ...body, token: ids.token };
    const { token, ...shown } = openedSession.parse(
      await this.bus.request(requests.invitationTake, payload, context, passwordDeadlineMs),
    );
    const headers = { 'set-cookie': this.tokens.cookieOf({ token, ...shown }, request) };
    return data(shown, { status: 201, headers });
  }
}

@Controller()
export class AccountController {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(FrontDoor) private readonly frontDoor: FrontDoor,
    @Inject(SessionTokens) private readonly tokens: SessionTokens,
    @Inject(READ_STORE) private readonly readStore: ReadStore,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Handles(routes.changePassword)
  async changePassword(
    @Call() { body, context }: RouteCall<typeof routes.changePassword>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    const payload = { ...body, ...this.#from(request), token: tokenOfCookie(request.headers.cookie) ?? '' };
    const { token, ...shown } = openedSession.parse(await this.#ask(requests.passwordChange, payload, context));
    return data(shown, { headers: { 'set-cookie': this.tokens.cookieOf({ token, ...shown }, request) } });
  }

  @Handles(routes.showSecondFactor)
  async showSecondFactor(@Call() { context }: RouteCall<typeof routes.showSecondFactor>): Promise<Answer> {
    return data(await this.#ask(requests.secondFactorShow, {}, context));
  }

  @Handles(routes.beginSecondFactor)
  async beginSecondFactor(
    @Call() { body, context }: RouteCall<typeof routes.beginSecondFactor>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    return data(await this.#ask(requests.secondFactorBegin, { ...body, ...this.#from(request) }, context));
  }

  @Handles(routes.confirmSecondFactor)
  async confirmSecondFactor(@Call() { body, context }: RouteCall<typeof routes.confirmSecondFactor>): Promise<Answer> {
    return data(await this.#ask(requests.secondFactorConfirm, body, context));
  }

  @Handles(routes.removeSecondFactor)
  async removeSecondFactor(
    @Call() { body, context }: RouteCall<typeof routes.removeSecondFactor>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    return data(await this.#ask(requests.secondFactorRemove, { ...body, ...this.#from(request) }, context));
  }

  @Handles(routes.requestReset)
  async requestReset(
    @Call() { body, context }: RouteCall<typeof routes.requestReset>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    this.tokens.checkOrigin(request);
    await this.#ask(requests.resetRequest, body, context);
    return data({ accepted: true }, { status: 202 });
  }

  @Handles(routes.showReset)
  async showReset(@Call() { ids, context }: RouteCall<typeof routes.showReset>): Promise<Answer> {
    return data(await this.#ask(requests.resetShow, { token: ids.token }, context));
  }

  @Handles(routes.resetPassword)
  async resetPassword(
    @Call() { ids, body, context }: RouteCall<typeof routes.resetPassword>,
    @Req() request: FastifyRequest,
  ): Promise<Answer> {
    this.tokens.checkOrigin(request);
    return data(await this.#ask(requests.resetTake, { ...body, ...this.#from(request), token: ids.token }, context));
  }

  @Handles(routes.signInMethods)
  async signInMethods(): Promise<Answer> {
    const providers = this.config.oidcProviders.map(({ id, name }) => ({
      type: 'oidc',
      id,
      name,
      startUrl: `/api/oidc/${id}/start`,
    }));
    return data({ methods: [{ type: 'password' }, ...providers], isSetUp: await isSetUp(this.readStore) });
  }

  /** By which wrong tries are counted. */
  #from(request: FastifyRequest): { readonly address: string } {
    return { address: addressGroup(this.frontDoor.addressOf(request)) };
  }

  #ask(name: string, payload: object, context: RequestContext): Promise<Json> {
    return this.bus.request(name, toJsonObject(payload), context, passwordDeadlineMs);
  }
}
