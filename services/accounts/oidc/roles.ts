/** Which role the claims of a provider give. Pure. */
import type { OidcProvider, OidcRole } from '#runtime/oidc-settings';

/** The most powerful first. */
const order: readonly OidcRole[] = ['owner', 'admin', 'editor', 'viewer'];

/** A claim is a text or a list of texts; null: none of the groups is among them. */
export function roleOf(claims: Readonly<Record<string, unknown>>, groups: OidcProvider['groups']): OidcRole | null {
  const given = new Set(
    groups.flatMap(({ claim, value, role }) => {
      const said = claims[claim];
      return said === value || (Array.isArray(said) && said.includes(value)) ? [role] : [];
    }),
  );
  return order.find((role) => given.has(role)) ?? null;
}
