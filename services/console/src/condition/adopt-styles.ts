/** CodeMirror writes style elements into a document; under the policy its rules go into a constructed sheet instead. */
import { StyleModule } from 'style-mod';

let isAdopted = false;

/**
 * style-mod keeps its rules in a constructed sheet where a root has no head, as a shadow root has none. It is given such a
 * root over the document's own sheets, and what it noted there is noted on the document: editors find it and add no element.
 * To be called before the first editor is made.
 */
export function adoptEditorStyles(): void {
  if (isAdopted) return;
  isAdopted = true;
  const root = {
    ownerDocument: document,
    get adoptedStyleSheets() {
      return document.adoptedStyleSheets;
    },
    set adoptedStyleSheets(sheets: CSSStyleSheet[]) {
      document.adoptedStyleSheets = sheets;
    },
  };
  StyleModule.mount(root as unknown as ShadowRoot, []);
  for (const symbol of Object.getOwnPropertySymbols(root)) {
    Object.defineProperty(document, symbol, { value: Reflect.get(root, symbol), configurable: true });
  }
}
