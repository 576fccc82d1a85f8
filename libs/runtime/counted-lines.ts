/** Lines of a log that say the same of very many things: the first at once, those that follow it as one line that counts them. */
import type { Logger } from './logger.js';

export interface CountedLines {
  /** `kind`: what makes two lines alike. `alike` in a line: how many more there were since the one before. */
  warn(kind: string, fields: Readonly<Record<string, unknown>>, line: string): void;
}

interface Counted {
  readonly line: string;
  fields: Readonly<Record<string, unknown>>;
  alike: number;
}

const defaultEveryMs = 10_000;

export function createCountedLines(logger: Logger, everyMs = defaultEveryMs): CountedLines {
  const counted = new Map<string, Counted>();
  const tellLater = (kind: string, one: Counted): void => {
    const tell = (): void => {
      if (one.alike === 0) {
        counted.delete(kind);
        return;
      }
      logger.warn({ ...one.fields, alike: one.alike }, one.line);
      one.alike = 0;
      tellLater(kind, one);
    };
    setTimeout(tell, everyMs).unref();
  };
  return {
    warn(kind, fields, line) {
      const known = counted.get(kind);
      if (known !== undefined) {
        known.fields = fields;
        known.alike += 1;
        return;
      }
      logger.warn(fields, line);
      const one = { line, fields, alike: 0 };
      counted.set(kind, one);
      tellLater(kind, one);
    },
  };
}
