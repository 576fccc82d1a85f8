// planted: no-sleep-in-tests
import { it } from '@jest/globals';

it('waits', async () => {
  await new Promise((resolve) => setTimeout(resolve, 500));
});
