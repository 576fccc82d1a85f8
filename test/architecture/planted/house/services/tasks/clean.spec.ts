import { it } from '@jest/globals';

it('plays a server that never answers', () => {
  const timer = setTimeout(() => process.emit('beforeExit', 0), 10);
  clearTimeout(timer);
});
