/** Discord: the settings of an action. */
import { z } from 'zod';
import { secretMask } from '#runtime/secret-mask';
import { declareChannel } from '../declaration.js';

const hosts: ReadonlySet<string> = new Set(['discord.com', 'discordapp.com', 'canary.discord.com', 'ptb.discord.com']);

function isWebhookAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, host, pathname, username, password } = new URL(value);
  if (protocol !== 'https:' || !hosts.has(host) || username !== '' || password !== '') return false;
  return /^\/api(\/v[0-9]{1,2})?\/webhooks\/[0-9]{15,20}\/[-_A-Za-z0-9]{20,200}\/?$/.test(pathname);
}

const snowflake = z.string().regex(/^[0-9]{15,20}$/, { error: 'must be an id of Discord: 15 to 20 digits' });

export const discordDeclaration = declareChannel({
  type: 'discord',
  config: z.strictObject({
    /** A secret as a whole: its token stands in the path. */
    webhookUrl: z
      .string()
      .max(2_048)
      .refine((value) => value === secretMask || isWebhookAddress(value), {
        error: 'must be the address of a webhook such as https://discord.com/api/webhooks/<id>/<token>',
      })
      .meta({
        writeOnly: true,
        pattern: String.raw`^(https://((canary|ptb)\.)?(discord|discordapp)\.com/api(/v[0-9]{1,2})?/webhooks/[0-9]{15,20}/[-_A-Za-z0-9]{20,200}/?|\*{8})$`,
        description: 'As Discord shows it in the settings of the channel.',
      }),
    threadId: snowflake.optional().describe('A thread of the channel.'),
    username: z.string().min(1).max(200).optional().describe('Template: the name that the message comes from.'),
    content: z.string().max(65_536).optional().describe('Template: the text.'),
    embed: z.boolean().optional().describe('Whether the values stand in a box below; by default they do.'),
    allowedRoleIds: z.array(snowflake).max(100).optional().describe('Roles that the text may mention.'),
  }),
  sealed: ['webhookUrl'],
  addresses: ['webhookUrl'],
  templates: ['username', 'content'],
});
