/** Command: the settings of an action. */
import { z } from 'zod';
import { textTemplate, titleTemplate } from '../config-fields.js';
import { declareChannel } from '../declaration.js';

/** Names that change how any program is started. */
const refusedNames = /^(?:LD_|DYLD_|NODE_|PYTHON|PERL5|RUBY|BASH_ENV|ENV$|IFS$|PATH$|HOME$|SHELL$|MEERKAT_)/;
const plainText = z
  .string()
  .max(4_096)
  .regex(/^[^\u0000]*$/, { error: 'must not hold NUL' });

export const commandDeclaration = declareChannel({
  type: 'command',
  config: z.strictObject({
    file: z
      .string()
      .max(1_024)
      .regex(/^\/[^\u0000]*$/, { error: 'must be an absolute path' })
      .describe('The program: one that the operator names in COMMANDS.'),
    args: z.array(plainText).max(20).optional().describe('What it is started with, as it stands: no template.'),
    env: z
      .record(
        z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, { error: 'must be a name' })
          .refine((name) => !refusedNames.test(name), { error: 'is not a name that an action may set' }),
        plainText.meta({ writeOnly: true }),
      )
      .refine((env) => Object.keys(env).length <= 50, { error: 'must have at most 50 entries' })
      .optional()
      .describe('Secrets that it finds in its environment.'),
    timeoutSeconds: z.int().min(1).max(60).optional().describe('It is ended then; 30.'),
    title: titleTemplate,
    text: textTemplate,
  }),
  sealed: ['env.*'],
  programs: ['file', 'args'],
  needs: 'commands',
  templates: ['title', 'text'],
});
