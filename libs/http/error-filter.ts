/** The last stop of everything that is thrown while a request is handled: answers with the envelope, logs defects. */
import { Catch, Inject, NotFoundException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#runtime/errors';
import { LOGGER, type Logger } from '#runtime/logger';
import { errorAnswer } from './envelope.js';
import { toAppError, unknownPath } from './failures.js';
import { declarationOf } from './route.js';
import { RouteTable } from './route-table.js';
import { statusOf } from './status.js';

@Catch()
export class ErrorFilter implements ExceptionFilter {
  constructor(
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(RouteTable) private readonly routes: RouteTable,
  ) {}

  catch(thrown: unknown, host: ArgumentsHost): void {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    if (reply.sent) return;
    const allowed = this.#allowedInstead(thrown, request);
    const error = allowed === null ? toAppError(thrown) : unknownPath(allowed);
    if (allowed !== null && allowed.length > 0) reply.header('allow', allowed.join(', '));
    if (statusOf(error) >= 500) {
      const fields = {
        requestId: request.id,
        method: request.method,
        route: request.routeOptions.url,
        err: error.cause,
      };
      // A probe that says no is no defect; what is away says so itself.
      const isOutage = error.retryAfterSeconds !== undefined;
      this.logger[isOutage ? 'warn' : 'error']({ ...fields, reason: error.reason }, 'request failed');
    }
    const declaration = declarationOf(request);
    const wantsPage = declaration?.errorPageForBrowsers !== true || request.headers.accept?.includes('text/html');
    const page = wantsPage ? declaration?.errorPage?.(error, request.url) : undefined;
    if (page !== undefined) {
      void reply.code(page.status).headers(page.headers).send(page.body);
      return;
    }
    const { status, headers, body } = errorAnswer(error, request.id);
    void reply.code(status).headers(headers).type('application/json; charset=utf-8').send(body);
  }

  /** What the path takes, where the method is what is wrong; null where something else is. */
  #allowedInstead(thrown: unknown, { method, url }: FastifyRequest): readonly string[] | null {
    if (thrown instanceof NotFoundException) return this.routes.methodsAt(url);
    if (!(thrown instanceof AppError) || thrown.reason !== 'not_found') return null;
    const exact = this.routes.methodsOfExact(url);
    return exact.length > 0 && !exact.includes(method) ? exact : null;
  }
}
