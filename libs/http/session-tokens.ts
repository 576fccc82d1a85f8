/** The tokens of sessions on their way to browsers and back. */
import { Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BUS, type Bus } from '#bus/bus';
import { openedSession, type OpenedSession } from '#contracts/account';
import { requests } from '#contracts/catalogue';
import { CLOCK, type Clock } from '#runtime/clock';
import { CONFIG, type Config } from '#runtime/config';
import { AppError } from '#runtime/errors';
import { LOGGER, type Logger } from '#runtime/logger';
import type { Principal } from './api-key.js';
import { clearedCookie, isOwnOrigin, isSecureRequest, sessionCookie } from './session-cookie.js';
import { foreignOrigin } from './session.js';

const rotationDeadlineMs = 5_000;

@Injectable()
export class SessionTokens {
  constructor(
    @Inject(BUS) private readonly bus: Bus,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Another token for the session goes out with the answer. Where that cannot be now, the next request tries again. */
  async rotate(token: string, principal: Principal, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const { organizationId, actor } = principal;
    const context = { organizationId, actor, requestId: request.id };
    try {
      const answer = await this.bus.request(requests.sessionRotate, { token }, context, rotationDeadlineMs);
      reply.header('set-cookie', this.cookieOf(openedSession.parse(answer), request));
    } catch (error) {
      // Another request of the same browser was faster.
      if (error instanceof AppError && error.code !== 'SERVER_ERROR') return;
      this.logger.warn({ requestId: request.id, error: String(error) }, 'a session keeps its token for now');
    }
  }

  /** Whether cookies are for encrypted connections alone. */
  isSecure({ headers }: FastifyRequest): boolean {
    return isSecureRequest(headers, this.config.publicUrl);
  }

  /** The Set-Cookie header that signs the browser in. */
  cookieOf({ token, expiresAt }: Pick<OpenedSession, 'token' | 'expiresAt'>, request: FastifyRequest): string {
    const maxAgeSeconds = Math.floor((Date.parse(expiresAt) - this.clock.now()) / 1_000);
    return sessionCookie(token, maxAgeSeconds, this.isSecure(request));
  }

  /** The Set-Cookie header that signs the browser out. */
  clearedCookie(request: FastifyRequest): string {
    return clearedCookie(this.isSecure(request));
  }

  /** Throws where a write without a session comes from a page of another site. */
  checkOrigin({ headers }: FastifyRequest): void {
    if (!isOwnOrigin(headers.origin, headers.host, this.config.publicUrl)) throw foreignOrigin;
  }
}
