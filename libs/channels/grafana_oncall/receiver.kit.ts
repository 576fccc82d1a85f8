/** For specs: the formatted webhook of Grafana OnCall. */
import { z } from 'zod';
import { publicAddress, upTo, type VendorReceiver } from '../receiver.kit.js';
import { characters } from '../text-limits.js';

export const receiver: VendorReceiver = {
  operations: [
    {
      method: 'POST',
      address: /^https:\/\/[a-z0-9.-]+(\/oncall)?\/integrations\/v1\/formatted_webhook\/[A-Za-z0-9]+\/$/,
      json: z.strictObject({
        alert_uid: upTo(250, characters),
        title: upTo(250, characters),
        message: upTo(8_000, characters),
        state: z.enum(['alerting', 'ok']),
        link_to_upstream_details: publicAddress.optional(),
      }),
      shown: { title: 'commonMark', message: 'commonMark' },
      reply: { status: 200, body: 'Ok.' },
    },
  ],
};
