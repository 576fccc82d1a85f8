/** Custom: the settings of an action. */
import { z } from 'zod';
import { declareChannel } from '../declaration.js';

export const customDeclaration = declareChannel({
  type: 'custom',
  config: z.strictObject({
    code: z
      .string()
      .min(1)
      .max(65_536)
      .describe(
        'Code that runs in the sandbox with `event` and `secrets` in scope, and returns a request or a list of up to ten.',
      ),
    secrets: z
      .record(
        z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, { error: 'must be a name' }),
        z.string().max(8_192).meta({ writeOnly: true }),
      )
      .refine((secrets) => Object.keys(secrets).length <= 50, { error: 'must have at most 50 entries' })
      .optional()
      .describe('Names and values that the code finds in `secrets`.'),
  }),
  sealed: ['secrets.*'],
  code: ['code'],
});
