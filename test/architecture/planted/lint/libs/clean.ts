/** What the rules are happy with: nothing in this file may be reported. */
export interface Named {
  readonly name: string;
}

export type Light = { readonly state: 'on'; readonly since: string } | { readonly state: 'off' };

/** Ends every switch over a union. */
function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}

export async function describeLight(load: () => Promise<Light>): Promise<string> {
  const light = await load();
  switch (light.state) {
    case 'on':
      return `lit since ${light.since}`;
    case 'off':
      return 'dark';
    default:
      return unreachable(light);
  }
}
