import { compose } from './composition.js';

export const start = async (): Promise<void> => {
  await compose();
};
