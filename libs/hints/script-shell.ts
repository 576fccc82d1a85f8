/** Pages that are empty until scripts fill them in a browser: what they look like without, and what to do about it. Pure. */

/** A shell is small; what stands behind this is content. */
const lookedAt = 262_144;
/** Visible letters of a page that says something. */
const enoughText = 200;

const hidden = /<(script|style|template|svg|noscript|head|title)\b[^>]*>[^]*?<\/\1\s*>|<!--[^]*?-->/gi;
/** Where frameworks of the browser hang their page, and nothing in it yet. */
const mount =
  /<([a-z][a-z0-9-]*)\b[^>]*\bid\s*=\s*["']?(?:root|app|__next|__nuxt|q-app|svelte|ember[^"'\s>]*|gatsby-focus-wrapper|___gatsby|main-app|react-root)["']?[^>]*>\s*(?:<!--[^]*?-->\s*)?<\/\1\s*>|<([a-z]+-(?:root|app))\b[^>]*>\s*<\/\2\s*>/i;
const asksForScripts = /<noscript\b[^>]*>(?:(?!<\/noscript)[^])*\b(?:java\s?script|enable)\b/i;

export const shellHint =
  'The page shows next to nothing without its scripts: its content comes later, in the browser. Look in the browser’s network tools for the address that the data comes from, often JSON, and watch that with page.json().';

/** Whether a page of HTML is such a shell. */
export function isScriptShell(html: string): boolean {
  if (!/<script\b/i.test(html)) return false;
  const text = html
    .slice(0, lookedAt)
    .replace(hidden, ' ')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  return html.length <= lookedAt && text.length < enoughText && (mount.test(html) || asksForScripts.test(html));
}
