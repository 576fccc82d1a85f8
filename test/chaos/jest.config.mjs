/** The chaos run alone, by the same means as the specs. */
import specs from '../../jest.config.mjs';

const config = {
  ...specs,
  roots: ['<rootDir>/test/chaos'],
  testMatch: ['**/*.run.ts'],
};
export default config;
