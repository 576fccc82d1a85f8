// planted: no-sleep-in-tests
import { it } from '@jest/globals';

it('a test waits for time to pass', async () => {
  await new Promise((resolve) => setTimeout(resolve, 500));
});
