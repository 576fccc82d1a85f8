/** What to do about a check that failed, held against every channel that there is. */
import { describe, expect, it } from '@jest/globals';
import { channels } from './channels.js';
import { made, sentText, settingsOf, types } from './every-channel.kit.js';
import { aNotification } from './notification.kit.js';

/** Where each character costs, the message has a link to the rest. */
const short = ['twilio_sms', 'vonage_sms', 'whatsapp'];
const shown = types.filter((type) => !short.includes(type) && channels[type].transport !== 'smtp');

describe('a message about a check that failed', () => {
  it.each(shown)('says what to do about it where %s has no template of its own', (type) => {
    const request = aNotification({ kind: 'error', context: { hint: 'Fetchauthhint' } });
    const outgoing = settingsOf(type).map((settings) => made(type, settings, request));
    const texts = outgoing.map((one) => (one.kind === 'script' ? JSON.stringify(one.script.globals) : sentText(one)));
    expect(texts.some((text) => text.includes('Fetchauthhint'))).toBe(true);
  });
});
