/**
 * The script that writes a rendered document as HTML, in an isolated world that the scripts of the page cannot reach. Open
 * shadow roots become part of it; a frame's content is asked for apart, and put where its mark stands.
 */

export interface DocumentBounds {
  readonly mostCharacters: number;
  readonly mostDepth: number;
  readonly mostElements: number;
  /** Stands where the content of the frame of this number belongs, as `<mark><number>-->`. */
  readonly frameMark: string;
  /** Where the places of elements are written to; null: nowhere. */
  readonly boxAttribute: string | null;
  /** Of fields with one of these a mask is written. */
  readonly secrets: readonly string[];
  /** The content of `body` alone. */
  readonly isFrame: boolean;
}

export interface WrittenDocument {
  readonly html: string;
  readonly frames: number;
  /** Which bound it exceeds. */
  readonly excess: 'size' | 'depth' | null;
}

const script = String.raw`
const voids = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
const raw = new Set('style script xmp iframe noembed noframes plaintext noscript'.split(' '));
const unshown = new Set('html head title meta link base script style template noscript source track param area slot'.split(' '));
const own = new Set(['data-not-shown', 'data-frame', 'data-shadow-root']);
const frames = [];
const parts = [];
let characters = 0;
let elements = 0;
let excess = null;
const write = (text) => {
  characters += text.length;
  if (characters > bounds.mostCharacters) excess = 'size';
  else parts.push(text);
};
const escapedText = (text) => text.replace(/&/g, '&amp;').replace(/\u00a0/g, '&nbsp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const escapedValue = (text) => text.replace(/&/g, '&amp;').replace(/\u00a0/g, '&nbsp;').replace(/"/g, '&quot;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const secrets = new Set(bounds.secrets);
const masked = (value) => secrets.has(value) ? '********' : value;
const isShown = (element, box) => {
  if (element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false })) {
    return (box.width > 0 && box.height > 0) || element.firstElementChild !== null;
  }
  const style = getComputedStyle(element);
  return style.display === 'contents' && style.visibility === 'visible' && element.isConnected && element.parentElement !== null && element.parentElement.checkVisibility();
};
const attributesOf = (element) => {
  for (const { name, value } of element.attributes) {
    if (own.has(name) || (bounds.boxAttribute !== null && name === bounds.boxAttribute) || /[\s"'<>\/=]/.test(name)) continue;
    write(' ' + name + '="' + escapedValue(name === 'value' && element instanceof HTMLInputElement ? masked(value) : value) + '"');
  }
  if (unshown.has(element.localName)) return;
  const box = element.getBoundingClientRect();
  if (!isShown(element, box)) return write(' data-not-shown=""');
  if (bounds.boxAttribute === null) return;
  const round = (number) => Math.round(number * 10) / 10;
  write(' ' + bounds.boxAttribute + '="' + [round(box.x + scrollX), round(box.y + scrollY), round(box.width), round(box.height)].join(',') + '"');
};
const neutral = (element) => (element.closest('p') === null ? 'div' : 'object');
const writeChildren = (node, depth, isRaw) => {
  for (let child = node.firstChild; child !== null && excess === null; child = child.nextSibling) writeNode(child, depth, isRaw);
};
const writeElement = (element, depth) => {
  elements += 1;
  if (depth > bounds.mostDepth || elements > bounds.mostElements) {
    excess = 'depth';
    return;
  }
  const tag = element.localName;
  const name = element.namespaceURI === 'http://www.w3.org/1999/xhtml' ? tag : element.tagName;
  write('<' + name);
  attributesOf(element);
  if (element instanceof HTMLInputElement && element.type !== 'password' && element.type !== 'file' && element.value !== element.defaultValue && /^(?:checkbox|radio)$/.test(element.type) === false) {
    if (!element.hasAttribute('value')) write(' value="' + escapedValue(masked(element.value)) + '"');
  }
  write('>');
  if (voids.has(tag) && element.namespaceURI === 'http://www.w3.org/1999/xhtml') return;
  const root = element.shadowRoot;
  if (root !== null) {
    const around = neutral(element);
    write('<' + around + ' data-shadow-root="">');
    writeChildren(root, depth + 2, false);
    write('</' + around + '>');
  }
  if ((tag === 'pre' || tag === 'textarea' || tag === 'listing') && element.firstChild !== null && element.firstChild.nodeType === 3 && element.firstChild.data[0] === '\n') write('\n');
  writeChildren(tag === 'template' && element.content ? element.content : element, depth + 1, raw.has(tag));
  write('</' + name + '>');
  if (tag !== 'iframe' && tag !== 'frame') return;
  const around = neutral(element);
  const address = element.src || 'about:srcdoc';
  write('<' + around + ' data-frame="' + escapedValue(address) + '"' + (isShown(element, element.getBoundingClientRect()) ? '' : ' data-not-shown=""') + '>');
  write(bounds.frameMark + frames.length + '-->');
  write('</' + around + '>');
  frames.push(element);
};
const writeNode = (node, depth, isRaw) => {
  if (node.nodeType === 1) writeElement(node, depth);
  else if (node.nodeType === 3 || node.nodeType === 4) write(isRaw ? node.data : escapedText(node.data));
  else if (node.nodeType === 8) write('<!--' + node.data.replace(/-->/g, '') + '-->');
};
if (bounds.isFrame) {
  if (document.body !== null) writeChildren(document.body, 1, false);
} else {
  if (document.doctype !== null && document.compatMode === 'CSS1Compat') write('<!DOCTYPE html>');
  if (document.documentElement !== null) writeElement(document.documentElement, 1);
}
globalThis.meerkatFrames = frames;
return { html: excess === null ? parts.join('') : '', frames: frames.length, excess };
`;

/** An expression whose value is a `WrittenDocument`. The frames are then `meerkatFrames`. */
export function documentScript(bounds: DocumentBounds): string {
  return `(() => { const bounds = ${JSON.stringify(bounds)};\n${script} })()`;
}
