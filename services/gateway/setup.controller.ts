/** The first start over HTTP: makes the organisation and its owner. */
import { Controller, Inject, Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { BUS, type Bus } from '#bus/bus';
import { setupAnswer, setupInput } from '#contracts/account';
import { requests } from '#contracts/catalogue';
import { data, type Answer } from '#http/envelope';
import { Call, Handles, route, type RouteCall } from '#http/route';
import { READ_STORE, type ReadStore } from '#read-store/read-store';
import { AppError } from '#runtime/errors';
import { toJsonObject } from './json-casts.js';
import { isSetUp } from './people.controller.js';

/** A password is hashed on purpose slowly, and a queue of them may be ahead. */
const setupDeadlineMs = 30_000;

const setup = route({
  method: 'POST',
  path: '/api/setup',
  operationId: 'setup',
  summary: 'Make the organisation and its owner, once',
  description: 'With the one-time token that is printed at start. A wrong token is 401; after setup this path is 404.',
  tag: 'Setup',
  access: 'public',
  body: setupInput,
  bodyExample: {
    setupToken: 'as printed at start',
    organization: 'Example Ltd',
    email: 'owner@example.com',
    password: 'correct horse battery staple',
  },
  answers: [{ status: 201, description: 'What was made.', envelope: 'data', schema: setupAnswer }],
  errors: [401, 404],
});

/** Once there is an organisation the path is 404 whatever is sent: what is wrong with a body is of no use any more. */
@Injectable()
class UntilSetUp implements CanActivate {
  constructor(@Inject(READ_STORE) private readonly readStore: ReadStore) {}

  async canActivate(host: ExecutionContext): Promise<boolean> {
    const { body } = host.switchToHttp().getRequest<FastifyRequest>();
    // One that can be taken goes to the accounts, which know whether a setup was cut short.
    if (setupInput.safeParse(body).success || !(await isSetUp(this.readStore))) return true;
    throw new AppError('NOT_FOUND', 'already_set_up', 'This instance is set up already: sign in instead.');
  }
}

@Controller()
@UseGuards(UntilSetUp)
export class SetupController {
  constructor(@Inject(BUS) private readonly bus: Bus) {}

  @Handles(setup)
  async setup(@Call() { body, context }: RouteCall<typeof setup>): Promise<Answer> {
    const made = await this.bus.request(requests.accountSetup, toJsonObject(body), context, setupDeadlineMs);
    return data(made, { status: 201 });
  }
}
