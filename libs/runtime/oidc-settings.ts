/** Settings of sign-in by OpenID providers: OIDC_<ID>_ISSUER and others, for as many providers as there are ids. */
import { z } from 'zod';
import { list, openAddress, withFiles, type Environment } from './setting-schemas.js';

/** The most powerful first. */
const oidcRoles = ['owner', 'admin', 'editor', 'viewer'] as const;

/** `claim:value=role`, separated by commas. */
const groupRoles = list.pipe(
  z.array(
    z
      .string()
      .regex(new RegExp(`^[^:=,]+:[^=,]+=(?:${oidcRoles.join('|')})$`), {
        error: `must be claim:value=role,… with a role of ${oidcRoles.join(', ')}, such as groups:watchers=editor`,
      })
      .transform((text) => {
        const [before = '', role] = text.split('=');
        const claim = before.slice(0, before.indexOf(':'));
        const value = before.slice(claim.length + 1);
        return { claim, value, role: z.enum(oidcRoles).parse(role) };
      }),
  ),
);

const oidcSettings = z.object({
  ISSUER: openAddress(['https', 'http'], 'https://login.example.com'),
  CLIENT_ID: z.string({ error: 'must be set: the id of this instance at the provider' }).min(1).max(500),
  CLIENT_SECRET: z.string({ error: 'must be set: the secret of this instance at the provider' }).min(1).max(2_000),
  NAME: z.string().min(1).max(100).optional(),
  GROUPS: groupRoles.default([]),
  SIGN_UP: z
    .enum(['on', 'off'], { error: 'must be on or off' })
    .default('off')
    .transform((value) => value === 'on'),
});

/** Sign-in by an OpenID provider: OIDC_<ID>_… */
export interface OidcProvider {
  /** In lower case, as in addresses. */
  readonly id: string;
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** A claim that has this value, or this value among others, gives the role; of several the most powerful. */
  readonly groups: readonly { readonly claim: string; readonly value: string; readonly role: OidcRole }[];
  /** Who is not a member becomes one. */
  readonly signUp: boolean;
}

export type OidcRole = (typeof oidcRoles)[number];

const oidcName = /^OIDC_([A-Z0-9]+)_([A-Z_]+?)(_FILE)?$/;

/** Each provider has settings of its own, beginning with OIDC_ and its id. */
export function readOidcProviders(all: Environment, faults: string[]): readonly OidcProvider[] {
  const set = Object.keys(all).filter(
    (name) => name.startsWith('OIDC_') && all[name] !== '' && all[name] !== undefined,
  );
  const names = Object.keys(oidcSettings.shape);
  const ids = new Set<string>();
  for (const name of set) {
    const [, id, setting = ''] = oidcName.exec(name) ?? [];
    if (id !== undefined && names.includes(setting)) ids.add(id);
    else faults.push(`${name}: is no setting; of a provider there are OIDC_<ID>_${names.join(', OIDC_<ID>_')}.`);
  }
  return [...ids].sort().flatMap((id) => {
    const prefix = `OIDC_${id}_`;
    const given = withFiles(
      names.map((name) => prefix + name),
      all,
      faults,
    );
    const own = Object.fromEntries(Object.entries(given).map(([name, value]) => [name.slice(prefix.length), value]));
    const parsed = oidcSettings.safeParse(own);
    if (!parsed.success) {
      for (const issue of parsed.error.issues) faults.push(`${prefix}${String(issue.path[0])}: ${issue.message}.`);
      return [];
    }
    const { ISSUER: issuer, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret } = parsed.data;
    const { NAME: name = id.toLowerCase(), GROUPS: groups, SIGN_UP: signUp } = parsed.data;
    return [{ id: id.toLowerCase(), name, issuer, clientId, clientSecret, groups, signUp }];
  });
}
