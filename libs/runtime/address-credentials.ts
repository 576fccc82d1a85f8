/** User names and passwords inside addresses: what is percent-encoded there, so that an address leads where it is meant to. Pure. */

/**
 * What may stand behind the host. `nothing`: of a mail server and a proxy, so that every `@` ends a password. `options`: of
 * an engine, whose own `@` comes after such an end. `page`: whatever a site likes.
 */
export type BehindHost = 'nothing' | 'options' | 'page';

/** What separates the parts of an address, and stands in a password only as its percent-encoding (RFC 3986, section 3.2.1). */
const separators = ['@', '/', '?', '#'];
const webScheme = /^(?:https?|wss?)$/i;

/** To addresses of the web `\\` is a slash. */
function separatorsOf(scheme: string): readonly string[] {
  return webScheme.test(scheme) ? [...separators, '\\'] : separators;
}

/** The scheme, and what was meant for user name and password, as far as it can be told. */
function credentialsIn(address: string, behind: BehindHost): readonly [scheme: string, text: string] {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(address) ?? [];
  const [authority = ''] = rest.split(webScheme.test(scheme) ? /[/?#\\]/ : /[/?#]/, 1);
  const isEnded = authority.includes('@') || (behind === 'page' && URL.canParse(address));
  // An engine's `@` stands in its options alone: one in front of them ends a password that separates before.
  const [beforeOptions = ''] = rest.split('?', 1);
  const isEndedLater = behind === 'options' && beforeOptions.lastIndexOf('@') > authority.length;
  const told = isEndedLater ? beforeOptions : behind !== 'nothing' && isEnded ? authority : rest;
  return [scheme, told.slice(0, Math.max(0, told.lastIndexOf('@')))];
}

/** What to write where a plain character would lead elsewhere; null: there is none. A lone `%` may stand for itself. */
export function separatorFault(address: string, behind: BehindHost): string | null {
  return faultOf(address, behind, false);
}

/** The same where a lone `%` is none either: not every program takes it for itself. */
export function encodingFault(address: string, behind: BehindHost): string | null {
  return faultOf(address, behind, true);
}

function faultOf(address: string, behind: BehindHost, isPercentOne: boolean): string | null {
  const [scheme, text] = credentialsIn(address, behind);
  const found = separatorsOf(scheme).filter((separator) => text.includes(separator));
  const lone = isPercentOne && /%(?![0-9A-Fa-f]{2})/.test(text) ? ['%'] : [];
  if (found.length + lone.length === 0) return null;
  const written = [...found, ...lone].map((one) => `${one} as ${encodeURIComponent(one)}`).join(', ');
  const meaning = found.length === 0 ? 'begins a percent-encoding' : 'separates';
  return `has a user name or password with a character that ${meaning}; write ${written}`;
}
