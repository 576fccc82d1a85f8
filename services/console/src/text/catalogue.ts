/** What every language has a text for: the keys of the English catalogue. */
import type { en } from './en.js';

export type TextKey = keyof typeof en;
export type Catalogue = Readonly<Record<TextKey, string>>;
