/** The console at its addresses: one page for all of them, and its files. What it shows, it asks of the API. */
import { Controller, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Answer } from '#http/envelope';
import { Call, Handles, route, type RouteCall } from '#http/route';
import { publicPage } from '../pages/page-route.js';
import { consoleFile } from './files.js';

/** Nothing from elsewhere and nothing inline. Frames are the recorded pages, which run nothing; the worker holds the stream. */
export const consolePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "frame-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

/** Every address that a person may open, be sent or keep. */
const addresses = [
  '/new',
  '/tasks',
  '/tasks/{id}',
  '/tasks/{id}/{part}',
  '/executions',
  '/executions/{id}',
  '/deliveries',
  '/deliveries/{id}',
  '/audit',
  '/settings',
  '/settings/{part}',
  '/sign-in',
  '/invitations/{token}',
  '/password-resets/{token}',
] as const;

const asset = route({ ...publicPage('/assets/{file}', 'application/octet-stream'), access: 'probe' });

/** The console's page, whatever the address: which of its own it shows, it decides in the browser. */
export function consolePage(request: FastifyRequest): Answer {
  return consoleFile('index.html', request.headers['accept-encoding'] ?? '', {
    'content-security-policy': consolePolicy,
    'cache-control': 'no-cache',
  });
}

@Controller()
export class ConsoleController {
  /** Names of files carry a hash of their content, so that they can be kept for ever. */
  @Handles(asset)
  asset(@Call() _call: RouteCall<typeof asset>, @Req() request: FastifyRequest): Answer {
    const { file } = request.params as { readonly file: string };
    return consoleFile(`assets/${file}`, request.headers['accept-encoding'] ?? '', {
      'cache-control': 'public, max-age=31536000, immutable',
    });
  }
}

/** One handler for all addresses: a method of its own each would say the same sixteen times. */
for (const address of addresses) {
  const name = `page ${address}`;
  const handler = (request: FastifyRequest): Answer => consolePage(request);
  const descriptor = { value: handler, configurable: true, writable: true };
  Object.defineProperty(ConsoleController.prototype, name, descriptor);
  Req()(ConsoleController.prototype, name, 0);
  Handles(publicPage(address))(ConsoleController.prototype, name, descriptor);
}
