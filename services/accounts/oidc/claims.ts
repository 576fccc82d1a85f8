/** What a provider says of somebody, in the ID token and when asked for more. Pure. */

/** Those of the token count. */
type Said = Readonly<Record<string, unknown>>;

/**
 * An address and that it was verified are taken from the same of the two: an address in the one says nothing of the other's.
 * `userInfo` may hold both where the token does not say whether it was verified.
 */
export function joinedClaims<Token extends Said>(token: Token, userInfo: Said): Token {
  const isOfToken = Object.hasOwn(token, 'email') && Object.hasOwn(token, 'email_verified');
  const { email, email_verified } = isOfToken || !Object.hasOwn(userInfo, 'email') ? token : userInfo;
  return { ...userInfo, ...token, email, email_verified };
}
