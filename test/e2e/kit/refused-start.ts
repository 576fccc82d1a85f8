/** A start that must not succeed. */
import { join } from 'node:path';
import { startProduct, type Ending } from './product.js';
import { until } from './until.js';

/** A start that is meant to fail: how it ended, and what it said. */
export async function refusedStart(
  settings: Readonly<Record<string, string>>,
  folder: string,
): Promise<Ending & { readonly said: string }> {
  const product = startProduct(
    { DATA_DIR: join(folder, 'refused'), PORT: '0', LOG_FORMAT: 'json', ...settings },
    folder,
  );
  try {
    const ending = await until<Ending>('the process gives up', () =>
      Promise.race([product.ended, Promise.resolve(null)]),
    );
    return { ...ending, said: product.lines.join('\n') };
  } finally {
    product.signal('SIGKILL');
  }
}
