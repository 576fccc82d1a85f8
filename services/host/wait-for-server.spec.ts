import { describe, expect, it } from '@jest/globals';
import { unavailable } from '#runtime/errors';
import { silentLogger } from '#runtime/logger';
import { ServerUnreachable, waitForServer } from './wait-for-server.js';

const reaching = { variable: 'BUS_URL', url: 'kafka://me:secret@kafka:9092', logger: silentLogger };
const down = async (): Promise<never> => {
  throw unavailable('bus_unavailable', 'No broker answers.', 5, new Error('connect ECONNREFUSED'));
};

describe('a part that is down at the start', () => {
  it('is waited for', async () => {
    let tries = 0;
    const opened = await waitForServer(reaching, async () => {
      tries += 1;
      return tries < 2 ? down() : 'open';
    });
    expect(opened).toBe('open');
  });

  it('is named with its address, without its password, once that took too long', async () => {
    const waited = waitForServer({ ...reaching, patienceMs: 500 }, down);
    await expect(waited).rejects.toBeInstanceOf(ServerUnreachable);
    await expect(waited).rejects.toThrow(/^BUS_URL: kafka:\/\/kafka:9092 .*ECONNREFUSED.*correct the address/);
    await expect(waited).rejects.not.toThrow(/secret/);
  });

  it('is not waited for where the fault is another one', async () => {
    await expect(
      waitForServer(reaching, async () => {
        throw new TypeError('a defect');
      }),
    ).rejects.toThrow('a defect');
  });
});
