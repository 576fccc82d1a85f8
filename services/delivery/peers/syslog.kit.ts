/** For specs: reads a message of syslog by the grammar of RFC 5424, section 6, and throws where it is not one. */

export interface ReadSyslog {
  readonly facility: number;
  readonly severity: number;
  readonly version: number;
  readonly at: string;
  readonly hostname: string;
  readonly appName: string;
  readonly processId: string;
  readonly messageId: string;
  readonly structure: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly text: string;
}

const printable = '[\\u0021-\\u007e]';
const head = new RegExp(
  `^<([0-9]{1,3})>([1-9][0-9]{0,2}) (-|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})) ` +
    `(${printable}{1,255}) (${printable}{1,48}) (${printable}{1,128}) (${printable}{1,32}) `,
);
const element =
  /^\[((?:(?![=\s\]"])[\u0021-\u007e]){1,32})((?: (?:(?![=\s\]"])[\u0021-\u007e]){1,32}="(?:[^"\\\]]|\\["\\\]])*")*)\]/;
const parameter = / ((?:(?![=\s\]"])[\u0021-\u007e]){1,32})="((?:[^"\\\]]|\\["\\\]])*)"/g;

export function parsedSyslog(line: string): ReadSyslog {
  const found = head.exec(line);
  if (found === null) throw new Error(`no head: ${line.slice(0, 120)}`);
  const [whole, priority, version, at = '', hostname = '', appName = '', processId = '', messageId = ''] = found;
  const value = Number(priority);
  if (value > 191 || String(value) !== priority) throw new Error(`no priority: ${priority}`);
  let rest = line.slice(whole.length);
  const structure: Record<string, Record<string, string>> = {};
  if (rest.startsWith('-')) rest = rest.slice(1);
  else {
    for (let match = element.exec(rest); match !== null; match = element.exec(rest)) {
      const [all, id = '', parameters = ''] = match;
      structure[id] = Object.fromEntries(
        [...parameters.matchAll(parameter)].map(([, name = '', text = '']) => [
          name,
          text.replace(/\\(["\\\]])/g, '$1'),
        ]),
      );
      rest = rest.slice(all.length);
    }
    if (Object.keys(structure).length === 0) throw new Error(`no structured data: ${rest.slice(0, 120)}`);
  }
  if (rest !== '' && !rest.startsWith(' \ufeff')) throw new Error('the text does not begin with the mark of UTF-8');
  if (!line.isWellFormed()) throw new Error('no UTF-8');
  return {
    facility: Math.floor(value / 8),
    severity: value % 8,
    version: Number(version),
    at,
    hostname,
    appName,
    processId,
    messageId,
    structure,
    text: rest.slice(2),
  };
}
