/** What a value takes that is no text. */
const plainCharacters = 8;

/** About as many characters as its JSON has. */
export function charactersOf(value: unknown): number {
  if (typeof value === 'string') return value.length + plainCharacters;
  if (typeof value !== 'object' || value === null) return plainCharacters;
  let sum = plainCharacters;
  if (Array.isArray(value)) {
    for (const item of value) sum += charactersOf(item);
    return sum;
  }
  const members = value as { readonly [name: string]: unknown };
  for (const name in members) sum += name.length + charactersOf(members[name]);
  return sum;
}
