/** Where an instance is reached, for the links that it makes. */

interface Reached {
  readonly publicUrl: string | null;
  readonly host: string;
}

/** PUBLIC_URL, or what it listens on: every address of the machine is shown as one that can be opened. Without a slash at its end. */
export function ownAddress({ publicUrl, host }: Reached, port: number): string {
  if (publicUrl !== null) return publicUrl.replace(/\/+$/, '');
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
