/** For specs: the REST integration of Splunk On-Call. */
import { z } from 'zod';
import { publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address:
        /^https:\/\/alert\.victorops\.com\/integrations\/generic\/20131114\/alert\/[-0-9a-f]{36}\/[-_.A-Za-z0-9]+$/,
      json: z.strictObject({
        message_type: z.enum(['CRITICAL', 'WARNING', 'ACKNOWLEDGEMENT', 'INFO', 'RECOVERY']),
        entity_id: upTo(512, characters),
        entity_display_name: upTo(255, characters),
        state_message: upTo(20_480, characters),
        state_start_time: z.int().min(1_000_000_000).max(9_999_999_999),
        monitoring_tool: z.string(),
        'vo_annotate.u.Details': publicAddress.max(1_124).optional(),
      }),
      shown: { entity_display_name: 'plain', state_message: 'plain' },
      reply: { status: 200, body: { result: 'success', entity_id: 'x' } },
    },
  ],
};
