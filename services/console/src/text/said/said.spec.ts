import { describe, expect, it } from '@jest/globals';
import { saidDe } from './said-de.js';
import { detailSaid, refusalSaid, sentenceSaid, type Saying } from './said.js';
import { sentencesDe, wordingDe } from './wording-de.js';

const detail = (field: string, rule: string, message: string) => ({ field, rule, message });

describe('what the server says, in German', () => {
  it('is told by its code alone where there is one sentence for it', () => {
    const refusal = { reason: 'wrong_credentials', message: 'E-mail, password or code is wrong.' };
    expect(refusalSaid(saidDe, refusal).message).toBe('E-Mail, Passwort oder Code ist falsch.');
  });

  it('holds the values of the server, numbers as German writes them', () => {
    const message = 'The budget of 10,000 requests per hour is used up.';
    expect(refusalSaid(saidDe, { reason: 'rate_limited', message }).message).toBe(
      'Das Budget von 10.000 Anfragen in der Stunde ist aufgebraucht.',
    );
  });

  it('holds a time and a name as the server writes them', () => {
    const message =
      'The ntfy action was disabled at 2026-11-26T19:00:00.000Z: its receiver answered that it is gone (delivery dlv_1). Correct the contact "ops" and enable the action again.';
    expect(detailSaid(saidDe, detail('actions[0]', 'action_disabled', message)).message).toBe(
      'Die Aktion ntfy wurde um 2026-11-26T19:00:00.000Z ausgeschaltet: ihr Empfänger sagt, dass es ihn nicht mehr gibt (Zustellung dlv_1). Berichtigen Sie den Kontakt „ops“ und schalten Sie die Aktion wieder ein.',
    );
  });

  it('names the field of a form by its name, at the head and in the list', () => {
    const details = [detail('name', 'too_long', 'must have at most 200 characters')];
    const refusal = { reason: 'name_too_long', message: 'name must have at most 200 characters.', details };
    expect(refusalSaid(saidDe, refusal)).toEqual({
      reason: 'name_too_long',
      message: 'name darf höchstens 200 Zeichen haben.',
      details: [detail('name', 'too_long', 'darf höchstens 200 Zeichen haben')],
    });
  });

  it('says what stands in the place of a field, and what may be meant instead', () => {
    const details = [detail('', 'invalid', 'must be one of http, browser; perhaps http is meant')];
    const message = 'The body must be one of http, browser; perhaps http is meant.';
    expect(refusalSaid(saidDe, { reason: 'body_invalid', message, details }).message).toBe(
      'Die Eingabe muss eines von http, browser sein; gemeint ist vielleicht http.',
    );
    const unknown = detail('nmae', 'unknown', 'is not a field; perhaps name is meant');
    expect(detailSaid(saidDe, unknown).message).toBe('ist kein Feld; gemeint ist vielleicht name');
  });

  it.each([
    { reason: 'of_tomorrow', message: 'Something new.' },
    { reason: 'constructor', message: 'Something new.' },
    { reason: 'already_exists', message: 'Another lamp has this name.' },
    { reason: 'name_odd', message: 'name is odd.', details: [detail('name', 'odd', 'is odd')] },
    { reason: 'name_invalid', message: 'name is odd.', details: [detail('name', 'invalid', 'is odd')] },
    { reason: 'in_use', message: 'Odd.', details: [detail('name', 'in_use', 'ntf_01')] },
  ])('stays as the server says it where there is no text for it: $reason', (refusal) => {
    expect(refusalSaid(saidDe, refusal)).toEqual(refusal);
  });
});

describe('a sentence about a run or a message, in German', () => {
  it.each([
    ['The answer is larger than 5242880 bytes.', 'Die Antwort ist größer als 5242880 Byte.'],
    [
      'The run failed: The server refused the connection: nothing listens on that port.',
      'Der Lauf ist gescheitert: Der Server hat die Verbindung abgewiesen: an diesem Port hört nichts zu.',
    ],
    [
      'Slack answered 404 (channel_not_found): the channel of the webhook was deleted. The action was disabled. (1 of 2 requests have it)',
      'Slack hat mit 404 (channel_not_found) geantwortet: der Kanal des Webhooks wurde gelöscht. Die Aktion wurde ausgeschaltet. (1 von 2 sind angekommen)',
    ],
    [
      '`document.querySelector(a)` found nothing: no element matches `a`. The page is read as the server sends it, before any script of its own has run. If it may be missing, write `?.`.',
      '`document.querySelector(a)` fand nichts: kein Element passt auf `a`. Die Seite wird gelesen, wie der Server sie schickt, bevor eines ihrer Skripte gelaufen ist. Wenn es fehlen kann, schreiben Sie `?.`.',
    ],
  ])('holds the values of the server, and sentences inside it: %s', (said, meant) => {
    expect(wordingDe.ofSentence(said)).toBe(meant);
  });

  it.each([
    'TypeError: cannot read property of null',
    'The run failed: TypeError: cannot read property of null',
    'Slack answered 403: the moon is full.',
    '',
  ])('is none where one of its sentences has none: %s', (said) => {
    expect(wordingDe.ofSentence(said)).toBeNull();
  });

  it('is found in time, however it repeats itself', () => {
    const sayings: readonly Saying[] = [['{said} The action was disabled.', '{said} Die Aktion wurde ausgeschaltet.']];
    expect(sentenceSaid(sayings, 'x The action was disabled.'.repeat(200), '.')).toBeNull();
  });

  it('knows a reason by its code', () => {
    expect(wordingDe.ofDeliveryReason('expired')).toBe('Die Zeit der Nachricht ist um.');
    expect(wordingDe.ofDeliveryReason('constructor')).toBeNull();
  });
});

describe('the catalogue of what the server says', () => {
  it('fills each text with the values of its sentence alone', () => {
    const all = [...Object.values(saidDe.reasons), ...Object.values(saidDe.rules), saidDe.endings, sentencesDe];
    const valuesIn = (text: string): readonly string[] => text.match(/\{\w+\}/g) ?? [];
    const odd = all
      .flatMap((sayings) => (typeof sayings === 'string' ? [] : sayings))
      .filter(([said, meant]) => valuesIn(meant).some((value) => !valuesIn(said).includes(value)));
    expect(odd).toEqual([]);
  });
});
