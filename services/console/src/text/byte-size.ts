/** How large something is, in the largest unit of which there is at least one: 48 bytes are no `0 KB`. Pure. */
const units = ['B', 'KB', 'MB', 'GB'] as const;

export function byteSize(bytes: number, locale: string): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log2(bytes) / 10), units.length - 1);
  const shown = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 }).format(bytes / 1_024 ** power);
  return `${shown} ${units[power] ?? 'B'}`;
}
