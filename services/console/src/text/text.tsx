/** Texts by language: one catalogue each, ICU messages. */
import { IntlMessageFormat, type FormatXMLElementFn, type PrimitiveType } from 'intl-messageformat';
import {
  createContext,
  createElement,
  Fragment,
  useContext,
  useLayoutEffect,
  useMemo,
  useState,
  type ReactNode,
} from 'react';
import { speak } from '../api/wording.js';
import { loadPart } from '../frame/load-part.js';
import type { Catalogue, TextKey } from './catalogue.js';
import { en } from './en.js';

export type Language = 'en' | 'de';
export const languages: readonly Language[] = ['en', 'de'];

type Values = Readonly<Record<string, PrimitiveType>>;
type RichValues = Readonly<Record<string, PrimitiveType | ReactNode | FormatXMLElementFn<ReactNode, ReactNode>>>;

export interface Texts {
  readonly language: Language;
  /** How times and numbers are written: as the browser does it in this language, in Britain or Austria as well. */
  readonly locale: string;
  /** A sentence in the reader's language. */
  readonly t: (key: TextKey, values?: Values) => string;
  /** The same with elements in it: `<b>…</b>` in the message is rendered by `values.b`. */
  readonly rich: (key: TextKey, values: RichValues) => ReactNode;
  readonly setLanguage: (language: Language) => void;
}

const TextContext = createContext<Texts | null>(null);
const storageKey = 'meerkat.language';

export function preferredLanguage(
  stored: string | null = localStorage.getItem(storageKey),
  wanted: readonly string[] = navigator.languages,
): Language {
  const known = [stored ?? '', ...wanted].map((tag) => tag.slice(0, 2).toLowerCase());
  return (
    known.map((tag) => languages.find((language) => language === tag)).find((found) => found !== undefined) ?? 'en'
  );
}

/** English is there from the start: to load it by itself, most readers would wait once more. */
export async function loadCatalogue(language: Language): Promise<Catalogue> {
  return language === 'de' ? (await loadPart(() => import('./de.js'))).de : en;
}

/** What the server says in other languages is shown rarely, and loaded then. */
const wordings = {
  en: null,
  de: async () => (await loadPart(() => import('./said/wording-de.js'))).wordingDe,
} as const;

/** The reader's own variant of a language: `en-GB` where the browser is so, else the language alone. */
export function localeOf(language: Language, wanted: readonly string[] = navigator.languages): string {
  return wanted.find((tag) => tag.slice(0, 2).toLowerCase() === language) ?? language;
}

function makeTexts(language: Language, catalogue: Catalogue, setLanguage: (language: Language) => void): Texts {
  const formats = new Map<TextKey, IntlMessageFormat>();
  const locale = localeOf(language);
  const formatOf = (key: TextKey): IntlMessageFormat => {
    const known = formats.get(key);
    if (known !== undefined) return known;
    const format = new IntlMessageFormat(catalogue[key], locale);
    formats.set(key, format);
    return format;
  };
  return {
    language,
    locale,
    setLanguage,
    t: (key, values) => {
      const shown = formatOf(key).format({ ...values });
      return typeof shown === 'string' ? shown : String(shown);
    },
    rich(key, values) {
      const parts = formatOf(key).format<ReactNode>({ ...values });
      // As children that stand in their places: React asks the elements of a list for keys.
      return Array.isArray(parts) ? createElement(Fragment, null, ...parts) : parts;
    },
  };
}

export function TextProvider(props: {
  readonly first: { readonly language: Language; readonly catalogue: Catalogue };
  readonly children: ReactNode;
}): ReactNode {
  const [loaded, setLoaded] = useState(props.first);
  const texts = useMemo(
    () =>
      makeTexts(loaded.language, loaded.catalogue, (language) => {
        localStorage.setItem(storageKey, language);
        loadCatalogue(language).then(
          (catalogue) => setLoaded({ language, catalogue }),
          // A server of another version has another file for it, which a new start finds.
          () => location.reload(),
        );
      }),
    [loaded],
  );
  // Before what asks for the words of the server in the new language.
  useLayoutEffect(() => {
    document.documentElement.lang = texts.language;
    speak({ notConnected: texts.t('problem.notConnected'), load: wordings[texts.language] });
  }, [texts]);
  return <TextContext value={texts}>{props.children}</TextContext>;
}

export function useTexts(): Texts {
  const texts = useContext(TextContext);
  if (texts === null) throw new Error('useTexts needs a TextProvider above it');
  return texts;
}
