import { describe, expect, it } from '@jest/globals';
import { AppError } from '#runtime/errors';
import type { BusMessage } from './bus.js';
import {
  readAnswer,
  readMessage,
  readRequest,
  unreadableMessage,
  writeAnswer,
  writeMessage,
  writeRequest,
} from './kafka-envelope.js';

const message: BusMessage = {
  id: 'm1',
  type: 'task.created',
  key: 'task_1',
  data: { text: 'é"\u0000\ud83d\ude00', list: [1, null, false], ['__proto__']: { x: 1 } },
  metadata: { organizationId: 'o', actor: 'key:k', requestId: 'r', causationId: null, at: '2026-11-21T10:00:00.000Z' },
};
const wire = (value: string): Buffer => Buffer.from(value);
const changed = (change: object): Buffer => wire(JSON.stringify({ ...JSON.parse(writeMessage(message)), ...change }));

describe('envelope of a message', () => {
  it('is read as it was written', () => {
    expect(readMessage(wire(writeMessage(message)))).toEqual({ ok: true, value: message });
  });

  it('is read where a later version adds fields', () => {
    expect(readMessage(changed({ trace: 'x' }))).toEqual({ ok: true, value: message });
  });

  it.each([
    ['nothing', null, 'it has no content'],
    ['an empty value', wire(''), 'it is not JSON'],
    ['half a document', wire('{"v":1,'), 'it is not JSON'],
    ['bytes that are no text', Buffer.from([0xff, 0xfe, 0x00]), 'it is not JSON'],
    ['a list', wire('[]'), 'it is not a JSON object'],
    ['null', wire('null'), 'it is not a JSON object'],
    ['an unknown version', changed({ v: 2 }), 'its envelope has an unknown version 2'],
    ['no version', changed({ v: undefined }), 'its envelope has an unknown version undefined'],
    ['no id', changed({ id: undefined }), 'id must be a string'],
    ['a key that is a number', changed({ key: 7 }), 'key must be a string'],
    ['data that is a list', changed({ data: [] }), 'data must be an object'],
    ['no metadata', changed({ metadata: null }), 'metadata must be an object'],
    [
      'metadata without an actor',
      changed({ metadata: { ...message.metadata, actor: 1 } }),
      'metadata.actor must be a string',
    ],
    [
      'a cause that is a number',
      changed({ metadata: { ...message.metadata, causationId: 1 } }),
      'metadata.causationId must be a string or null',
    ],
  ])('refuses %s with the reason', (_, value, reason) => {
    expect(readMessage(value)).toEqual({ ok: false, reason });
  });

  it('shows the beginning of what cannot be read', () => {
    const shown = unreadableMessage('t/0/7', 'k', Buffer.alloc(100_000, 'x'), message.metadata.at);
    expect(shown).toMatchObject({ id: 't/0/7', type: 'unreadable', key: 'k', data: { raw: 'x'.repeat(4_096) } });
    expect(unreadableMessage('t/0/7', '', null, message.metadata.at).data).toEqual({ raw: null });
  });
});

describe('envelope of a request', () => {
  const request = {
    id: 'q',
    name: 'task.change',
    payload: { a: 1 },
    context: { organizationId: 'o', actor: 'a', requestId: 'r' },
    deadlineAtMs: 1_700_000_000_000,
  };

  it('is read as it was written', () => {
    expect(readRequest(wire(writeRequest(request)))).toEqual({ ok: true, value: request });
  });

  it.each([
    [{ deadlineAtMs: 'soon' }, 'deadlineAtMs must be a number'],
    [{ payload: 'x' }, 'payload must be an object'],
    [{ context: {} }, 'context.organizationId must be a string'],
    [{ name: null }, 'name must be a string'],
  ])('refuses %j with the reason', (change, reason) => {
    const value = wire(JSON.stringify({ ...JSON.parse(writeRequest(request)), ...change }));
    expect(readRequest(value)).toEqual({ ok: false, reason });
  });
});

describe('envelope of an answer', () => {
  it('is read as it was written', () => {
    expect(readAnswer(wire(writeAnswer({ ok: true, value: [1] })))).toEqual({
      ok: true,
      value: { ok: true, value: [1] },
    });
    expect(readAnswer(wire(writeAnswer({ ok: false, error: null })))).toEqual({
      ok: true,
      value: { ok: false, error: null },
    });
  });

  it('carries an AppError with everything its receiver is meant to see', () => {
    const details = [{ field: 'name', rule: 'required', message: 'is missing' }];
    const error = new AppError('RATE_LIMITED', 'slow_down', 'Wait.', { details, retryAfterSeconds: 7 });
    const read = readAnswer(wire(writeAnswer({ ok: false, error })));
    expect(read).toMatchObject({ ok: true, value: { ok: false, error } });
    expect(read).toMatchObject({ value: { error: { code: 'RATE_LIMITED', details, retryAfterSeconds: 7 } } });
  });

  it('reduces an unknown kind of error to the fact that there was one', () => {
    const value = wire(JSON.stringify({ v: 1, ok: false, error: { code: 'TEAPOT', reason: 'x', message: 'y' } }));
    expect(readAnswer(value)).toEqual({ ok: true, value: { ok: false, error: null } });
  });
});
