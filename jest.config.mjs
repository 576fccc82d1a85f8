/** Unit, contract and end-to-end specs in one runner; the product's end-to-end specs live in test/e2e. */
const config = {
  testEnvironment: 'node',
  roots: ['<rootDir>/libs', '<rootDir>/services', '<rootDir>/test'],
  testMatch: ['**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/architecture/planted/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: {
    '^#(.*)$': '<rootDir>/libs/$1.ts',
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: { '^.+\\.ts$': ['@swc/jest'] },
  injectGlobals: false,
  // Ends what never comes, on a machine that is busy too: six processes may have to start within it. It judges no speed.
  testTimeout: 120_000,
};
export default config;
