import { describe, expect, it } from '@jest/globals';
import { unavailable } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import type { BusMessage, DeadLetter, MessageHandler } from './bus.js';
import { createMessageHandling, type Demand, type HandlingOptions, type MessageStorage } from './handle-message.js';

const message: BusMessage = {
  id: 'm1',
  type: 'thing.happened',
  key: 'k',
  data: {},
  metadata: {
    organizationId: 'org_1',
    actor: 'key:key_1',
    requestId: 'req_1',
    causationId: null,
    at: '2026-11-21T10:00:00.000Z',
  },
};

function setUp(handler: MessageHandler, options: Partial<HandlingOptions> = {}) {
  const retries: number[] = [];
  const letters: DeadLetter[] = [];
  const recorded: DeadLetter[] = [];
  const storage: MessageStorage = {
    retryLater: async (_message, round) => void retries.push(round),
    addDeadLetter: async (letter) => void letters.push(letter),
  };
  const handle = createMessageHandling({
    topic: 'task',
    group: 'g',
    handlerTimeoutMs: 1_000,
    handler,
    recordDeadLetter: async (letter) => void recorded.push(letter),
    logger: silentLogger,
    ...options,
  });
  return { handle, storage, retries, letters, recorded };
}

const failing = async (): Promise<never> => {
  throw new TypeError('never');
};
const unreachable = async (): Promise<never> => {
  throw unavailable('read_store_unavailable', 'It is away.');
};
const wanted: Demand = { isWanted: () => true, stopping: new AbortController().signal };

describe('the retry policy of a bus', () => {
  it('stores nothing of a message that is handled on its third fast try', async () => {
    let tries = 0;
    const { handle, storage, retries, letters } = setUp(async () => {
      tries += 1;
      if (tries < 3) throw new Error('not yet');
    });
    expect(await handle({ message, round: 0, unreadable: null }, storage, wanted)).toBe(true);
    expect({ tries, retries, letters }).toEqual({ tries: 3, retries: [], letters: [] });
  });

  it('sets a message aside for the next round after three fast tries', async () => {
    const { handle, storage, retries, letters } = setUp(failing);
    expect(await handle({ message, round: 1, unreadable: null }, storage, wanted)).toBe(true);
    expect({ retries, letters }).toEqual({ retries: [2], letters: [] });
  });

  it('makes a dead letter of a message that failed in its last round, and records it', async () => {
    const { handle, storage, retries, letters, recorded } = setUp(failing);
    expect(await handle({ message, round: 3, unreadable: null }, storage, wanted)).toBe(true);
    expect(retries).toEqual([]);
    expect(letters).toMatchObject([{ message, topic: 'task', group: 'g', reason: 'TypeError: never' }]);
    expect(recorded).toEqual(letters);
  });

  it('repeats the last round for as long as a server is out of reach', async () => {
    const { handle, storage, retries, letters } = setUp(unreachable);
    expect(await handle({ message, round: 9, unreadable: null }, storage, wanted)).toBe(true);
    expect({ retries, letters }).toEqual({ retries: [10], letters: [] });
  });

  it('makes a dead letter of an unreadable message without calling the handler', async () => {
    let tries = 0;
    const { handle, storage, letters } = setUp(async () => {
      tries += 1;
    });
    expect(await handle({ message, round: 0, unreadable: 'it is not JSON' }, storage, wanted)).toBe(true);
    expect(tries).toBe(0);
    expect(letters).toMatchObject([{ reason: 'unreadable: it is not JSON' }]);
  });

  it('records a dead letter again when that failed', async () => {
    let failures = 1;
    const recorded: DeadLetter[] = [];
    const { handle, storage } = setUp(failing, {
      laterRoundsMs: [],
      recordDeadLetter: async (letter) => {
        if (failures > 0) {
          failures -= 1;
          throw new Error('not now');
        }
        recorded.push(letter);
      },
    });
    expect(await handle({ message, round: 0, unreadable: null }, storage, wanted)).toBe(true);
    expect(recorded).toHaveLength(1);
  });

  it('tries a message again that can neither be handled nor be set aside', async () => {
    let isFull = true;
    const { handle, storage, retries } = setUp(failing);
    const full: MessageStorage = {
      ...storage,
      async retryLater(...args) {
        if (!isFull) return storage.retryLater(...args);
        isFull = false;
        throw new Error('the disk is full');
      },
    };
    expect(await handle({ message, round: 0, unreadable: null }, full, wanted)).toBe(true);
    expect(retries).toEqual([1]);
  });

  it('leaves a message undone whose handler rejects because its consumer stops', async () => {
    const stopping = new AbortController();
    const { handle, storage, retries, letters } = setUp(async (_message, signal) => {
      stopping.abort();
      signal.throwIfAborted();
    });
    const demand = { isWanted: () => !stopping.signal.aborted, stopping: stopping.signal };
    expect(await handle({ message, round: 3, unreadable: null }, storage, demand)).toBe(false);
    expect({ retries, letters }).toEqual({ retries: [], letters: [] });
  });

  it('leaves a message undone that its consumer no longer wants', async () => {
    const { handle, storage, retries, letters } = setUp(failing);
    expect(await handle({ message, round: 0, unreadable: null }, storage, { ...wanted, isWanted: () => false })).toBe(
      false,
    );
    expect({ retries, letters }).toEqual({ retries: [], letters: [] });
  });
});
