/** HTTP for the types of actions: what each channel declares of its settings. */
import { Controller, Inject } from '@nestjs/common';
import { z } from 'zod';
import { declarations } from '#channels/declarations';
import { list, type Answer } from '#http/envelope';
import { offsetOf } from '#http/parameters';
import { Call, Handles, type RouteCall } from '#http/route';
import { CONFIG, type Config } from '#runtime/config';
import * as routes from './action-types.routes.js';

/** As a user writes it: what has a default may be left out. */
const declared = declarations.map(({ type, config, generated, needs }) => ({
  type,
  configSchema: z.toJSONSchema(config, { io: 'input', unrepresentable: 'any' }),
  generated: generated.map(({ name }) => name),
  needs,
}));

@Controller()
export class ActionTypesController {
  readonly #types: readonly object[];

  constructor(@Inject(CONFIG) { smtpUrl, commands }: Config) {
    const has = { smtp: smtpUrl !== null, commands: commands.length > 0 };
    this.#types = declared.map(({ needs, ...shown }) => ({ ...shown, available: needs === null || has[needs] }));
  }

  @Handles(routes.listActionTypes)
  list(@Call() { query }: RouteCall<typeof routes.listActionTypes>): Answer {
    const offset = offsetOf(query);
    return list(this.#types.slice(offset, offset + query.limit), query, this.#types.length);
  }
}
