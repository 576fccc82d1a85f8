/** The command line for specs: called as a shell would, words in, exit code and both outputs out. */
import { jest } from '@jest/globals';
import { main } from './cli.js';

export interface Called {
  readonly exitCode: number;
  readonly out: string;
  readonly error: string;
}

export async function call(...words: string[]): Promise<Called> {
  let [out, error] = ['', ''];
  const spies = [
    jest.spyOn(process.stdout, 'write').mockImplementation((chunk) => ((out += String(chunk)), true)),
    jest.spyOn(process.stderr, 'write').mockImplementation((chunk) => ((error += String(chunk)), true)),
  ];
  try {
    return { exitCode: await main(words), out, error };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}
