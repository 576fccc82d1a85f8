// planted: oxc/no-barrel-file
export * from './clean.js';
