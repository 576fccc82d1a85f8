/** Field names as answers write them: `actions[0].config.to`. */

/** Longest name that is repeated back; what is longer was not meant as a name. */
const longestName = 100;

export function fieldPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') {
      text += `[${part}]`;
      continue;
    }
    const name = String(part).slice(0, longestName);
    if (/^[A-Za-z_$][\w$-]*$/.test(name)) text += text === '' ? name : `.${name}`;
    else text += `[${JSON.stringify(name)}]`;
  }
  return text;
}

/** The name that a fault's reason begins with, snake_case: `intervalSeconds` gives `interval_seconds`. */
export function reasonPrefix(path: readonly PropertyKey[]): string {
  const name = path.findLast((part) => typeof part === 'string' && /^[A-Za-z][A-Za-z0-9]{0,39}$/.test(part));
  return typeof name === 'string' ? name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`) : 'body';
}
