/** Pages that are empty until scripts fill them in a browser: what they look like without, and what to do about it. Pure. */
import { partsOf } from './page-text.js';

/** A shell is small; what stands behind this is content. */
export const largestShell = 262_144;
/** Visible letters of a page that says something. */
const enoughText = 200;

/** Where frameworks of the browser hang their page. */
const mountId =
  /\sid\s{0,3}=\s{0,3}["']?(?:root|app|__next|__nuxt|q-app|svelte|ember[^"'\s>]*|gatsby-focus-wrapper|___gatsby|main-app|react-root)(?=["'\s/]|$)/i;
const mountName = /^[a-z]+-(?:root|app)$/;
const asksForScripts = /\b(?:java\s?script|enable)\b/i;

export const shellHint =
  'The page shows next to nothing without its scripts: its content comes later, in the browser. Look in the browser’s network tools for the address that the data comes from, often JSON, and watch that with page.json(); or have a browser render the page (fetch.mode: "browser").';

/** Whether a page of HTML is such a shell. */
export function isScriptShell(html: string): boolean {
  if (html.length > largestShell) return false;
  let [hasScript, waitsForScripts, letters] = [false, false, 0];
  /** The name of an element that a framework fills, while nothing is in it. */
  let mount: string | null = null;
  for (const part of partsOf(html)) {
    switch (part.kind) {
      case 'hidden':
        hasScript ||= part.name === 'script';
        waitsForScripts ||= part.name === 'noscript' && asksForScripts.test(part.content);
        mount = null;
        break;
      case 'open':
        mount = mountName.test(part.name) || mountId.test(part.source) ? part.name : null;
        break;
      case 'close':
        waitsForScripts ||= mount === part.name;
        mount = null;
        break;
      case 'text': {
        const length = part.text.trim().length;
        letters += length;
        if (letters >= enoughText) return false;
        if (length > 0) mount = null;
        break;
      }
      case 'comment':
        break;
    }
  }
  return hasScript && waitsForScripts;
}
