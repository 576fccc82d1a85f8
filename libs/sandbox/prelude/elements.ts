/** The classes of HTML's elements: mostly attributes under other names, written down as tables. */
import { HTMLCollection, namedCollection, staticList, tokenList } from './lists.js';
import type { DOMTokenList, NodeList } from './lists.js';
import {
  Comment,
  Document,
  DocumentFragment,
  DocumentType,
  Element,
  HTMLDocument,
  HTMLElement,
  MathMLElement,
  NodeToken,
  numberOf,
  resolvedUrl,
  SVGElement,
  Text,
} from './nodes.js';
import { isDisabled, isSelectedOption, optionsOf, selectAll, selectedOptionsOf, selectFirst } from './selectors.js';
import {
  childElementsOf,
  commentKind,
  doctypeKind,
  documentKind,
  elementKind,
  fragmentKind,
  getAttribute,
  kind,
  nameText,
  parentElementOf,
  removeAttribute,
  setAttribute,
  tagOf,
  templateContent,
  textKind,
  textOf,
} from './tree.js';
import { URL } from './url.js';
import { createWrappersBy, wrap } from './wrappers.js';

/**
 * Attributes by class: `name` for text, `name:url`, `name:flag`, `name:number=default`, `property(attribute)` where the
 * two differ, `name:one,two` for a word of a list (the first is the default).
 */
const reflected: Readonly<Record<string, string>> = {
  HTMLElement:
    'title lang dir accessKey(accesskey) nonce translate:flag draggable:flag spellcheck:flag inert:flag autofocus:flag inputMode(inputmode) enterKeyHint(enterkeyhint) popover role ariaLabel(aria-label) ariaHidden(aria-hidden) ariaExpanded(aria-expanded) ariaChecked(aria-checked) ariaDisabled(aria-disabled) ariaValueNow(aria-valuenow)',
  HTMLAnchorElement:
    'href:url target download ping rel hreflang type referrerPolicy(referrerpolicy) name charset coords rev shape',
  HTMLAreaElement: 'href:url alt coords shape target download ping rel referrerPolicy(referrerpolicy)',
  HTMLAudioElement: '',
  HTMLBaseElement: 'target',
  HTMLBodyElement: 'text link vLink(vlink) aLink(alink) bgColor(bgcolor) background',
  HTMLBRElement: 'clear',
  HTMLButtonElement:
    'disabled:flag formAction(formaction):url formMethod(formmethod) formTarget(formtarget) name type:submit,reset,button value',
  HTMLCanvasElement: 'width:number=300 height:number=150',
  HTMLDataElement: 'value',
  HTMLDataListElement: '',
  HTMLDetailsElement: 'open:flag name',
  HTMLDialogElement: 'open:flag',
  HTMLDivElement: 'align',
  HTMLDListElement: 'compact:flag',
  HTMLEmbedElement: 'src:url type width height',
  HTMLFieldSetElement: 'disabled:flag name',
  HTMLFormElement:
    'acceptCharset(accept-charset) autocomplete enctype method:get,post,dialog name noValidate(novalidate):flag target rel',
  HTMLHeadElement: '',
  HTMLHeadingElement: 'align',
  HTMLHRElement: 'align color noShade(noshade):flag size width',
  HTMLHtmlElement: 'version',
  HTMLIFrameElement:
    'src:url srcdoc name allow allowFullscreen(allowfullscreen):flag width height loading:eager,lazy referrerPolicy(referrerpolicy) scrolling frameBorder(frameborder) align',
  HTMLImageElement:
    'alt src:url srcset sizes crossOrigin(crossorigin) useMap(usemap) isMap(ismap):flag width:number=0 height:number=0 decoding:auto,sync,async loading:eager,lazy fetchPriority(fetchpriority) name align border longDesc(longdesc):url',
  HTMLInputElement:
    'accept alt autocomplete defaultChecked(checked):flag dirName(dirname) disabled:flag formAction(formaction):url formMethod(formmethod) height:number=0 max maxLength(maxlength):number=-1 min minLength(minlength):number=-1 multiple:flag name pattern placeholder readOnly(readonly):flag required:flag size:number=20 src:url step type:text,hidden,search,tel,url,email,password,date,month,week,time,datetime-local,number,range,color,checkbox,radio,file,submit,image,reset,button defaultValue(value) width:number=0',
  HTMLLabelElement: 'htmlFor(for)',
  HTMLLegendElement: 'align',
  HTMLLIElement: 'value:number=0 type',
  HTMLLinkElement:
    'href:url crossOrigin(crossorigin) rel as media integrity hreflang type referrerPolicy(referrerpolicy) disabled:flag charset target imageSrcset(imagesrcset) imageSizes(imagesizes)',
  HTMLMapElement: 'name',
  HTMLMediaElement:
    'src:url crossOrigin(crossorigin) preload autoplay:flag loop:flag controls:flag defaultMuted(muted):flag',
  HTMLMenuElement: 'compact:flag',
  HTMLMetaElement: 'name httpEquiv(http-equiv) content media scheme charset property',
  HTMLMeterElement: 'min:number=0 max:number=1 value:number=0 low:number=0 high:number=1 optimum:number=0.5',
  HTMLModElement: 'cite:url dateTime(datetime)',
  HTMLObjectElement: 'data:url type name width height useMap(usemap)',
  HTMLOListElement: 'reversed:flag start:number=1 type compact:flag',
  HTMLOptGroupElement: 'disabled:flag',
  HTMLOptionElement: 'disabled:flag defaultSelected(selected):flag',
  HTMLOutputElement: 'name',
  HTMLParagraphElement: 'align',
  HTMLParamElement: 'name value type valueType(valuetype)',
  HTMLPictureElement: '',
  HTMLPreElement: 'width:number=0',
  HTMLProgressElement: 'max:number=1',
  HTMLQuoteElement: 'cite:url',
  HTMLScriptElement:
    'src:url type noModule(nomodule):flag async:flag defer:flag crossOrigin(crossorigin) integrity referrerPolicy(referrerpolicy) charset event htmlFor(for)',
  HTMLSelectElement: 'autocomplete disabled:flag multiple:flag name required:flag size:number=0',
  HTMLSlotElement: 'name',
  HTMLSourceElement: 'src:url type srcset sizes media width:number=0 height:number=0',
  HTMLSpanElement: '',
  HTMLStyleElement: 'media type',
  HTMLTableCaptionElement: 'align',
  HTMLTableCellElement:
    'colSpan(colspan):number=1 rowSpan(rowspan):number=1 headers abbr scope align vAlign(valign) width height bgColor(bgcolor) noWrap(nowrap):flag',
  HTMLTableColElement: 'span:number=1 align width',
  HTMLTableElement: 'align border summary width bgColor(bgcolor) cellPadding(cellpadding) cellSpacing(cellspacing)',
  HTMLTableRowElement: 'align vAlign(valign) bgColor(bgcolor)',
  HTMLTableSectionElement: 'align vAlign(valign)',
  HTMLTemplateElement: '',
  HTMLTextAreaElement:
    'autocomplete cols:number=20 disabled:flag maxLength(maxlength):number=-1 minLength(minlength):number=-1 name placeholder readOnly(readonly):flag required:flag rows:number=2 wrap',
  HTMLTimeElement: 'dateTime(datetime)',
  HTMLTitleElement: '',
  HTMLTrackElement: 'kind src:url srclang label default:flag',
  HTMLUListElement: 'compact:flag type',
  HTMLUnknownElement: '',
  HTMLVideoElement: 'width:number=0 height:number=0 poster:url playsInline(playsinline):flag',
};

const tagsOfClasses: Readonly<Record<string, string>> = {
  HTMLAnchorElement: 'a',
  HTMLAreaElement: 'area',
  HTMLAudioElement: 'audio',
  HTMLBaseElement: 'base',
  HTMLBodyElement: 'body',
  HTMLBRElement: 'br',
  HTMLButtonElement: 'button',
  HTMLCanvasElement: 'canvas',
  HTMLDataElement: 'data',
  HTMLDataListElement: 'datalist',
  HTMLDetailsElement: 'details',
  HTMLDialogElement: 'dialog',
  HTMLDivElement: 'div',
  HTMLDListElement: 'dl',
  HTMLElement:
    'abbr address article aside b bdi bdo center cite code dd dfn dt em figcaption figure footer header hgroup i kbd main mark nav nobr noscript noframes noembed plaintext rp rt ruby s samp search section small strike strong sub summary sup tt u var wbr acronym basefont big rb rtc',
  HTMLEmbedElement: 'embed',
  HTMLFieldSetElement: 'fieldset',
  HTMLFormElement: 'form',
  HTMLHeadElement: 'head',
  HTMLHeadingElement: 'h1 h2 h3 h4 h5 h6',
  HTMLHRElement: 'hr',
  HTMLHtmlElement: 'html',
  HTMLIFrameElement: 'iframe',
  HTMLImageElement: 'img',
  HTMLInputElement: 'input',
  HTMLLabelElement: 'label',
  HTMLLegendElement: 'legend',
  HTMLLIElement: 'li',
  HTMLLinkElement: 'link',
  HTMLMapElement: 'map',
  HTMLMenuElement: 'menu',
  HTMLMetaElement: 'meta',
  HTMLMeterElement: 'meter',
  HTMLModElement: 'ins del',
  HTMLObjectElement: 'object',
  HTMLOListElement: 'ol',
  HTMLOptGroupElement: 'optgroup',
  HTMLOptionElement: 'option',
  HTMLOutputElement: 'output',
  HTMLParagraphElement: 'p',
  HTMLParamElement: 'param',
  HTMLPictureElement: 'picture',
  HTMLPreElement: 'pre listing xmp',
  HTMLProgressElement: 'progress',
  HTMLQuoteElement: 'blockquote q',
  HTMLScriptElement: 'script',
  HTMLSelectElement: 'select',
  HTMLSlotElement: 'slot',
  HTMLSourceElement: 'source',
  HTMLSpanElement: 'span',
  HTMLStyleElement: 'style',
  HTMLTableCaptionElement: 'caption',
  HTMLTableCellElement: 'td th',
  HTMLTableColElement: 'col colgroup',
  HTMLTableElement: 'table',
  HTMLTableRowElement: 'tr',
  HTMLTableSectionElement: 'thead tbody tfoot',
  HTMLTemplateElement: 'template',
  HTMLTextAreaElement: 'textarea',
  HTMLTimeElement: 'time',
  HTMLTitleElement: 'title',
  HTMLTrackElement: 'track',
  HTMLUListElement: 'ul',
  HTMLVideoElement: 'video',
};

type ElementClass = new (token?: unknown) => Element;

const classes: Record<string, ElementClass> = { HTMLElement };
const classOfTag = new Map<string, ElementClass>();

function tag(node: number): string {
  return nameText(tagOf(node));
}

function write(node: number, attribute: string, value: unknown): void {
  setAttribute(node, attribute, String(value));
}

function reflect(target: object, entry: string): void {
  const [, property = '', attributeName, type = ''] = /^(\w+)(?:\(([\w-]+)\))?(?::(.+))?$/.exec(entry) ?? [];
  const attribute = attributeName ?? property.toLowerCase();
  const define = (get: (node: number) => unknown, set: (node: number, value: unknown) => void): void => {
    Object.defineProperty(target, property, {
      get(this: unknown) {
        return get(numberOf(this));
      },
      set(this: unknown, value: unknown) {
        set(numberOf(this), value);
      },
      enumerable: true,
      configurable: true,
    });
  };
  const writeText = (node: number, value: unknown): void => write(node, attribute, value);
  if (type === '') return define((node) => getAttribute(node, attribute) ?? '', writeText);
  if (type === 'url') return define((node) => resolvedUrl(node, attribute), writeText);
  if (type === 'flag') {
    return define(
      (node) => getAttribute(node, attribute) !== null,
      (node, value) => (value ? setAttribute(node, attribute, '') : removeAttribute(node, attribute)),
    );
  }
  const number = /^number=(.+)$/.exec(type);
  if (number !== null) {
    const otherwise = Number(number[1]);
    return define((node) => {
      const value = Number.parseFloat(getAttribute(node, attribute) ?? '');
      return Number.isNaN(value) ? otherwise : value;
    }, writeText);
  }
  const words = type.split(',');
  define((node) => {
    const value = (getAttribute(node, attribute) ?? '').toLowerCase();
    return words.includes(value) ? value : words[0];
  }, writeText);
}

function makeClasses(): void {
  for (const [name, entries] of Object.entries(reflected)) {
    if (name !== 'HTMLElement') {
      const parent =
        name === 'HTMLAudioElement' || name === 'HTMLVideoElement' ? classes['HTMLMediaElement'] : HTMLElement;
      const Parent = parent ?? HTMLElement;
      const made = { [name]: class extends Parent {} }[name];
      if (made === undefined) continue;
      classes[name] = made;
    }
    const target = classes[name]?.prototype as object;
    for (const entry of entries.split(' ')) if (entry !== '') reflect(target, entry);
  }
  for (const [name, tags] of Object.entries(tagsOfClasses)) {
    const made = classes[name];
    if (made !== undefined) for (const each of tags.split(' ')) classOfTag.set(each, made);
  }
}

/** Adds members to a class of the table. */
function extend(name: string, members: object): void {
  const target = classes[name]?.prototype as object;
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(members))) {
    Object.defineProperty(target, key, { ...descriptor, enumerable: true });
  }
}

// Links ---------------------------------------------------------------------------------------------------------------

const urlParts = [
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;

function linkMembers(): object {
  const members = {
    get origin(): string {
      return URL.parse(resolvedUrl(numberOf(this), 'href'))?.origin ?? '';
    },
    get relList(): DOMTokenList {
      return tokenList(numberOf(this), 'rel');
    },
    get text(): string {
      return textOf(numberOf(this));
    },
    toString(): string {
      return resolvedUrl(numberOf(this), 'href');
    },
  };
  for (const part of urlParts) {
    Object.defineProperty(members, part, {
      get(this: unknown) {
        return URL.parse(resolvedUrl(numberOf(this), 'href'))?.[part] ?? (part === 'protocol' ? ':' : '');
      },
      set(this: unknown, value: unknown) {
        const url = URL.parse(resolvedUrl(numberOf(this), 'href'));
        if (url === null) return;
        url[part] = String(value);
        write(numberOf(this), 'href', url.href);
      },
      configurable: true,
    });
  }
  return members;
}

// Forms ---------------------------------------------------------------------------------------------------------------

const listedControls = 'button, fieldset, input:not([type=image]), object, output, select, textarea';
/** What code has set; the attributes stay as the page has them. */
const currentValues = new Map<number, string>();
const currentChecks = new Map<number, boolean>();
const currentSelection = new Map<number, number[]>();

function formOf(node: number): number {
  const id = getAttribute(node, 'form');
  if (id !== null) {
    const named = selectAll(0, 'form').find((form) => getAttribute(form, 'id') === id);
    return named ?? -1;
  }
  for (let up = parentElementOf(node); up >= 0; up = parentElementOf(up)) if (tag(up) === 'form') return up;
  return -1;
}

function controlsOf(form: number): number[] {
  const inside = selectAll(form, listedControls).filter((control) => formOf(control) === form);
  const id = getAttribute(form, 'id');
  if (id === null || id === '') return inside;
  const all = selectAll(0, listedControls);
  return all.filter((control) => formOf(control) === form);
}

function labelsOf(node: number): number[] {
  const id = getAttribute(node, 'id');
  return selectAll(0, 'label').filter(
    (label) => controlOf(label) === node || (id !== null && getAttribute(label, 'for') === id),
  );
}

function controlOf(label: number): number {
  const id = getAttribute(label, 'for');
  if (id !== null) return selectAll(0, '[id]').find((each) => getAttribute(each, 'id') === id) ?? -1;
  return selectFirst(label, 'button, input:not([type=hidden]), meter, output, progress, select, textarea');
}

const controlMembers = {
  get form(): object | null {
    return wrap(formOf(numberOf(this)));
  },
  get labels(): NodeList {
    return staticList(labelsOf(numberOf(this)));
  },
  get willValidate(): boolean {
    return !isDisabled(numberOf(this));
  },
  get validationMessage(): string {
    return '';
  },
  checkValidity(): boolean {
    return true;
  },
  reportValidity(): boolean {
    return true;
  },
  setCustomValidity(): void {
    // Nothing is sent from here.
  },
};

function inputType(node: number): string {
  return (getAttribute(node, 'type') ?? 'text').toLowerCase();
}

const inputMembers = {
  get value(): string {
    const node = numberOf(this);
    const current = currentValues.get(node);
    if (current !== undefined) return current;
    const type = inputType(node);
    const written = getAttribute(node, 'value');
    if (written !== null)
      return type === 'color' || type === 'range' || type === 'hidden' ? written : written.replace(/[\r\n]/g, '');
    if (type === 'checkbox' || type === 'radio') return 'on';
    if (type === 'range') return '50';
    return type === 'color' ? '#000000' : '';
  },
  set value(value: unknown) {
    currentValues.set(numberOf(this), value === null ? '' : String(value));
  },
  get checked(): boolean {
    const node = numberOf(this);
    return currentChecks.get(node) ?? getAttribute(node, 'checked') !== null;
  },
  set checked(value: unknown) {
    currentChecks.set(numberOf(this), Boolean(value));
  },
  get valueAsNumber(): number {
    const text = this.value;
    return text === '' ? Number.NaN : Number(text);
  },
  get valueAsDate(): Date | null {
    const time = Date.parse(this.value);
    return Number.isNaN(time) ? null : new Date(time);
  },
  get list(): object | null {
    const id = getAttribute(numberOf(this), 'list');
    return id === null ? null : wrap(selectAll(0, 'datalist').find((each) => getAttribute(each, 'id') === id) ?? -1);
  },
  get files(): null {
    return null;
  },
  get indeterminate(): boolean {
    return false;
  },
  select(): void {
    // There is no selection on a page at rest.
  },
};

const textAreaMembers = {
  get value(): string {
    const node = numberOf(this);
    return currentValues.get(node) ?? textOf(node).replace(/\r\n?/g, '\n');
  },
  set value(value: unknown) {
    currentValues.set(numberOf(this), value === null ? '' : String(value));
  },
  get defaultValue(): string {
    return textOf(numberOf(this));
  },
  get textLength(): number {
    return this.value.length;
  },
  get type(): string {
    return 'textarea';
  },
};

function selectionOf(select: number): number[] {
  return currentSelection.get(select) ?? selectedOptionsOf(select);
}

function optionText(option: number): string {
  return textOf(option)
    .replace(/[\t\n\f\r ]+/g, ' ')
    .replace(/^ | $/g, '');
}

function optionValue(option: number): string {
  return getAttribute(option, 'value') ?? optionText(option);
}

const selectMembers = {
  get options(): HTMLCollection {
    const node = numberOf(this);
    return namedCollection(() => optionsOf(node));
  },
  get selectedOptions(): HTMLCollection {
    const node = numberOf(this);
    return new HTMLCollection(() => selectionOf(node));
  },
  get selectedIndex(): number {
    const [first] = selectionOf(numberOf(this));
    return first === undefined ? -1 : optionsOf(numberOf(this)).indexOf(first);
  },
  set selectedIndex(index: unknown) {
    const option = optionsOf(numberOf(this))[Number(index)];
    currentSelection.set(numberOf(this), option === undefined ? [] : [option]);
  },
  get value(): string {
    const [first] = selectionOf(numberOf(this));
    return first === undefined ? '' : optionValue(first);
  },
  set value(value: unknown) {
    const option = optionsOf(numberOf(this)).find((each) => optionValue(each) === String(value));
    currentSelection.set(numberOf(this), option === undefined ? [] : [option]);
  },
  get length(): number {
    return optionsOf(numberOf(this)).length;
  },
  get type(): string {
    return getAttribute(numberOf(this), 'multiple') === null ? 'select-one' : 'select-multiple';
  },
  item(index: number): object | null {
    return wrap(optionsOf(numberOf(this))[index] ?? -1);
  },
};

function selectOf(option: number): number {
  for (let up = parentElementOf(option); up >= 0; up = parentElementOf(up)) if (tag(up) === 'select') return up;
  return -1;
}

const optionMembers = {
  get value(): string {
    return optionValue(numberOf(this));
  },
  set value(value: unknown) {
    write(numberOf(this), 'value', value);
  },
  get text(): string {
    return optionText(numberOf(this));
  },
  get label(): string {
    return getAttribute(numberOf(this), 'label') ?? optionText(numberOf(this));
  },
  get selected(): boolean {
    const option = numberOf(this);
    const select = selectOf(option);
    return select >= 0 ? selectionOf(select).includes(option) : isSelectedOption(option);
  },
  set selected(value: unknown) {
    const select = selectOf(numberOf(this));
    if (select < 0) return;
    const others = selectionOf(select).filter((option) => option !== numberOf(this));
    const isMultiple = getAttribute(select, 'multiple') !== null;
    currentSelection.set(select, value ? [...(isMultiple ? others : []), numberOf(this)] : others);
  },
  get index(): number {
    const select = selectOf(numberOf(this));
    return select < 0 ? 0 : optionsOf(select).indexOf(numberOf(this));
  },
  get form(): object | null {
    const select = selectOf(numberOf(this));
    return select < 0 ? null : wrap(formOf(select));
  },
};

const formMembers = {
  get elements(): HTMLCollection {
    const node = numberOf(this);
    return namedCollection(() => controlsOf(node));
  },
  get length(): number {
    return controlsOf(numberOf(this)).length;
  },
  get action(): string {
    const node = numberOf(this);
    const written = getAttribute(node, 'action');
    return written === null || written === '' ? (wrap(0) as Document).URL : resolvedUrl(node, 'action');
  },
  set action(value: unknown) {
    write(numberOf(this), 'action', value);
  },
  submit(): never {
    throw new Error('A form cannot be sent: nothing here reaches the site.');
  },
  requestSubmit(): never {
    throw new Error('A form cannot be sent: nothing here reaches the site.');
  },
  reset(): void {
    for (const control of controlsOf(numberOf(this))) {
      currentValues.delete(control);
      currentChecks.delete(control);
      currentSelection.delete(control);
    }
  },
  checkValidity(): boolean {
    return true;
  },
};

/** The entries that a form would send, in order. */
function formEntries(form: number): [string, string][] {
  const entries: [string, string][] = [];
  for (const control of controlsOf(form)) {
    const name = getAttribute(control, 'name') ?? '';
    const type = inputType(control);
    if (name === '' || isDisabled(control) || tag(control) === 'button') continue;
    if (tag(control) === 'select') {
      for (const option of selectionOf(control)) if (!isDisabled(option)) entries.push([name, optionValue(option)]);
      continue;
    }
    if (tag(control) === 'input' && /^(?:submit|reset|button|image|file)$/.test(type)) continue;
    const object = wrap(control) as { value?: unknown; checked?: unknown };
    if ((type === 'checkbox' || type === 'radio') && object.checked !== true) continue;
    if (typeof object.value === 'string') entries.push([name, object.value]);
  }
  return entries;
}

export class FormData {
  #entries: [string, string][];
  constructor(form?: unknown) {
    this.#entries = form === undefined || form === null ? [] : formEntries(numberOf(form));
  }
  append(name: unknown, value: unknown): void {
    this.#entries.push([String(name), String(value)]);
  }
  delete(name: unknown): void {
    this.#entries = this.#entries.filter(([key]) => key !== String(name));
  }
  get(name: unknown): string | null {
    return this.#entries.find(([key]) => key === String(name))?.[1] ?? null;
  }
  getAll(name: unknown): string[] {
    return this.#entries.filter(([key]) => key === String(name)).map(([, value]) => value);
  }
  has(name: unknown): boolean {
    return this.#entries.some(([key]) => key === String(name));
  }
  set(name: unknown, value: unknown): void {
    this.delete(name);
    this.append(name, value);
  }
  forEach(visit: (value: string, name: string, data: FormData) => void): void {
    for (const [name, value] of this.#entries) visit(value, name, this);
  }
  entries(): IterableIterator<[string, string]> {
    return this.#entries.values();
  }
  *keys(): Generator<string> {
    for (const [name] of this.#entries) yield name;
  }
  *values(): Generator<string> {
    for (const [, value] of this.#entries) yield value;
  }
  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}

// Tables --------------------------------------------------------------------------------------------------------------

function childrenWith(node: number, tags: string): number[] {
  return childElementsOf(node).filter((child) => tags.includes(` ${tag(child)} `));
}

function rowsOf(table: number): number[] {
  const heads = childrenWith(table, ' thead ').flatMap((section) => childrenWith(section, ' tr '));
  const feet = childrenWith(table, ' tfoot ').flatMap((section) => childrenWith(section, ' tr '));
  const bodies = childElementsOf(table).flatMap((child) =>
    tag(child) === 'tr' ? [child] : tag(child) === 'tbody' ? childrenWith(child, ' tr ') : [],
  );
  return [...heads, ...bodies, ...feet];
}

function tableOf(node: number): number {
  for (let up = parentElementOf(node); up >= 0; up = parentElementOf(up)) if (tag(up) === 'table') return up;
  return -1;
}

const tableMembers = {
  get rows(): HTMLCollection {
    const node = numberOf(this);
    return namedCollection(() => rowsOf(node));
  },
  get tBodies(): HTMLCollection {
    const node = numberOf(this);
    return namedCollection(() => childrenWith(node, ' tbody '));
  },
  get tHead(): object | null {
    return wrap(childrenWith(numberOf(this), ' thead ')[0] ?? -1);
  },
  get tFoot(): object | null {
    return wrap(childrenWith(numberOf(this), ' tfoot ')[0] ?? -1);
  },
  get caption(): object | null {
    return wrap(childrenWith(numberOf(this), ' caption ')[0] ?? -1);
  },
};

const sectionMembers = {
  get rows(): HTMLCollection {
    const node = numberOf(this);
    return namedCollection(() => childrenWith(node, ' tr '));
  },
};

const rowMembers = {
  get cells(): HTMLCollection {
    const node = numberOf(this);
    return namedCollection(() => childrenWith(node, ' td th '));
  },
  get rowIndex(): number {
    const table = tableOf(numberOf(this));
    return table < 0 ? -1 : rowsOf(table).indexOf(numberOf(this));
  },
  get sectionRowIndex(): number {
    const parent = parentElementOf(numberOf(this));
    return parent < 0 ? -1 : childrenWith(parent, ' tr ').indexOf(numberOf(this));
  },
};

const cellMembers = {
  get cellIndex(): number {
    const parent = parentElementOf(numberOf(this));
    return parent < 0 ? -1 : childrenWith(parent, ' td th ').indexOf(numberOf(this));
  },
};

// The rest ------------------------------------------------------------------------------------------------------------

const textMembers = {
  get text(): string {
    return textOf(numberOf(this));
  },
  set text(value: unknown) {
    (this as unknown as HTMLElement).textContent = String(value);
  },
};

function addSpecialMembers(): void {
  extend('HTMLAnchorElement', linkMembers());
  extend('HTMLAreaElement', linkMembers());
  extend('HTMLBaseElement', {
    get href(): string {
      return resolvedUrl(numberOf(this), 'href');
    },
  });
  extend('HTMLTitleElement', textMembers);
  extend('HTMLScriptElement', textMembers);
  extend('HTMLImageElement', {
    get currentSrc(): string {
      return resolvedUrl(numberOf(this), 'src');
    },
    get complete(): boolean {
      return true;
    },
    get naturalWidth(): number {
      return 0;
    },
    get naturalHeight(): number {
      return 0;
    },
  });
  extend('HTMLLinkElement', {
    get relList(): DOMTokenList {
      return tokenList(numberOf(this), 'rel');
    },
    get sheet(): null {
      return null;
    },
  });
  extend('HTMLTemplateElement', {
    get content(): object | null {
      return wrap(templateContent(numberOf(this)));
    },
  });
  extend('HTMLLabelElement', {
    get control(): object | null {
      return wrap(controlOf(numberOf(this)));
    },
    get form(): object | null {
      const control = controlOf(numberOf(this));
      return control < 0 ? null : wrap(formOf(control));
    },
  });
  extend('HTMLProgressElement', {
    get value(): number {
      return Number.parseFloat(getAttribute(numberOf(this), 'value') ?? '0') || 0;
    },
    get position(): number {
      const value = getAttribute(numberOf(this), 'value');
      const max = Number.parseFloat(getAttribute(numberOf(this), 'max') ?? '1') || 1;
      return value === null ? -1 : (Number.parseFloat(value) || 0) / max;
    },
  });
  extend('HTMLOutputElement', {
    get value(): string {
      return textOf(numberOf(this));
    },
  });
  extend('HTMLDataListElement', {
    get options(): HTMLCollection {
      const node = numberOf(this);
      return new HTMLCollection(() => optionsOf(node));
    },
  });
  extend('HTMLFieldSetElement', {
    get elements(): HTMLCollection {
      const node = numberOf(this);
      return namedCollection(() => selectAll(node, listedControls));
    },
  });
  for (const control of [
    'Button',
    'FieldSet',
    'Input',
    'Object',
    'Output',
    'Select',
    'TextArea',
    'Meter',
    'Progress',
  ]) {
    extend(`HTML${control}Element`, controlMembers);
  }
  extend('HTMLInputElement', inputMembers);
  extend('HTMLTextAreaElement', textAreaMembers);
  extend('HTMLSelectElement', selectMembers);
  extend('HTMLOptionElement', optionMembers);
  extend('HTMLFormElement', formMembers);
  extend('HTMLTableElement', tableMembers);
  extend('HTMLTableSectionElement', sectionMembers);
  extend('HTMLTableRowElement', rowMembers);
  extend('HTMLTableCellElement', cellMembers);
}

function elementClass(name: string): ElementClass {
  const known = classOfTag.get(name);
  if (known !== undefined) return known;
  if (name.startsWith('svg ')) return SVGElement;
  if (name.startsWith('math ')) return MathMLElement;
  return name.includes('-') ? HTMLElement : (classes['HTMLUnknownElement'] ?? HTMLElement);
}

function createWrapper(node: number): object {
  const token = new NodeToken(node);
  switch (kind(node)) {
    case elementKind:
      return new (elementClass(nameText(tagOf(node))))(token);
    case textKind:
      return new Text(token);
    case commentKind:
      return new Comment(token);
    case documentKind:
      return new HTMLDocument(token);
    case doctypeKind:
      return new DocumentType(token);
    case fragmentKind:
      return new DocumentFragment(token);
    default:
      return {};
  }
}

makeClasses();
addSpecialMembers();
createWrappersBy(createWrapper);

/** All classes by name, for the global object. */
export const elementClasses: Readonly<Record<string, unknown>> = classes;
