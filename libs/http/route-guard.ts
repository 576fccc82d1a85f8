/** Deny by default: a handler runs only where a declaration says who may, and the request's key reaches that far. */
import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Scope } from '#contracts/account';
import { AppError } from '#runtime/errors';
import { allows } from './api-key.js';
import { declarationOf } from './route.js';

/** Throws `missing_scope` where the scopes do not reach that far. */
export function checkScope(scopes: readonly Scope[], needed: Scope): void {
  if (!allows(scopes, needed)) {
    throw new AppError(
      'FORBIDDEN',
      'missing_scope',
      `This needs the scope ${needed}, which this API key, or your role, does not have.`,
    );
  }
}

@Injectable()
export class RouteGuard implements CanActivate {
  canActivate(host: ExecutionContext): boolean {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const declaration = declarationOf(request);
    if (declaration === undefined) throw new Error(`${request.method} ${request.url}: a route without a declaration`);
    const { access } = declaration;
    if (access === 'public' || access === 'probe') return true;
    if (request.principal === null) {
      throw new AppError('UNAUTHORIZED', 'missing_api_key', 'Send your API key as Authorization: Bearer <API_KEY>.');
    }
    if (access === 'session') {
      if (request.principal.sessionId !== undefined) return true;
      throw new AppError('FORBIDDEN', 'session_required', 'This is for people who are signed in, not for API keys.');
    }
    checkScope(request.principal.scopes, access);
    return true;
  }
}
