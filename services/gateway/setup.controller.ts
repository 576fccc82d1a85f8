/** The first start over HTTP: makes the organisation and its owner. */
import { Controller, Inject } from '@nestjs/common';
import { BUS, type Bus } from '#bus/bus';
import { setupAnswer, setupInput } from '#contracts/account';
import { requests } from '#contracts/catalogue';
import { data, type Answer } from '#http/envelope';
import { Call, Handles, route, type RouteCall } from '#http/route';
import { toJsonObject } from './json-casts.js';

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

@Controller()
export class SetupController {
  constructor(@Inject(BUS) private readonly bus: Bus) {}

  @Handles(setup)
  async setup(@Call() { body, context }: RouteCall<typeof setup>): Promise<Answer> {
    const made = await this.bus.request(requests.accountSetup, toJsonObject(body), context, setupDeadlineMs);
    return data(made, { status: 201 });
  }
}
