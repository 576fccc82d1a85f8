/** Events: what code dispatches reaches what code listens with. Nothing else happens on a page at rest. */
import { domError } from './dom-exception.js';
import { isDisabled } from './element-state.js';
import { clickedBy } from './form-members.js';
import { Attr } from './attributes.js';
import { Node } from './nodes.js';
import { documentKind, kind, parentOf } from './tree.js';
import { wrap } from './wrappers.js';

type Callback = ((event: Event) => unknown) | { handleEvent(event: Event): unknown };

interface Listener {
  readonly type: string;
  readonly callback: Callback;
  readonly isCapture: boolean;
  readonly isOnce: boolean;
  isRemoved: boolean;
}

interface Options {
  readonly capture?: unknown;
  readonly once?: unknown;
  readonly signal?: { readonly aborted: boolean; addEventListener(type: string, listener: () => void): void };
}

const listeners = new WeakMap<object, Listener[]>();

interface State {
  target: object | null;
  current: object | null;
  phase: number;
  isStopped: boolean;
  isStoppedAtOnce: boolean;
  isCancelled: boolean;
  isDispatched: boolean;
  path: readonly object[];
}

interface EventInit {
  readonly bubbles?: unknown;
  readonly cancelable?: unknown;
  readonly composed?: unknown;
  readonly [name: string]: unknown;
}

export class Event {
  static readonly NONE = 0;
  static readonly CAPTURING_PHASE = 1;
  static readonly AT_TARGET = 2;
  static readonly BUBBLING_PHASE = 3;

  #type: string;
  #bubbles: boolean;
  #cancelable: boolean;
  #composed: boolean;
  #isReady = true;
  #state: State = {
    target: null,
    current: null,
    phase: 0,
    isStopped: false,
    isStoppedAtOnce: false,
    isCancelled: false,
    isDispatched: false,
    path: [],
  };
  /** The page is at rest: no time goes by. */
  readonly timeStamp = 0;

  constructor(...given: [type?: unknown, init?: EventInit | null]) {
    if (given.length === 0) throw new TypeError('1 argument required, but only 0 present.');
    const [type, init] = given;
    this.#type = String(type);
    this.#bubbles = Boolean(init?.bubbles);
    this.#cancelable = Boolean(init?.cancelable);
    this.#composed = Boolean(init?.composed);
  }

  static stateOf(event: unknown): State {
    if (typeof event !== 'object' || event === null || !(#state in event)) {
      throw new TypeError("The parameter is not of type 'Event'.");
    }
    return event.#state;
  }
  static makeUnready(event: Event): void {
    event.#isReady = false;
  }
  static isReady(event: Event): boolean {
    return event.#isReady;
  }

  get type(): string {
    return this.#type;
  }
  get bubbles(): boolean {
    return this.#bubbles;
  }
  get cancelable(): boolean {
    return this.#cancelable;
  }
  get composed(): boolean {
    return this.#composed;
  }
  get target(): object | null {
    return this.#state.target;
  }
  get srcElement(): object | null {
    return this.#state.target;
  }
  get currentTarget(): object | null {
    return this.#state.current;
  }
  get eventPhase(): number {
    return this.#state.phase;
  }
  get defaultPrevented(): boolean {
    return this.#state.isCancelled;
  }
  get returnValue(): boolean {
    return !this.#state.isCancelled;
  }
  set returnValue(value: unknown) {
    if (!value) this.preventDefault();
  }
  get cancelBubble(): boolean {
    return this.#state.isStopped;
  }
  set cancelBubble(value: unknown) {
    if (value) this.#state.isStopped = true;
  }
  get isTrusted(): boolean {
    return false;
  }
  preventDefault(): void {
    if (this.#cancelable) this.#state.isCancelled = true;
  }
  stopPropagation(): void {
    this.#state.isStopped = true;
  }
  stopImmediatePropagation(): void {
    this.#state.isStopped = true;
    this.#state.isStoppedAtOnce = true;
  }
  composedPath(): object[] {
    return [...this.#state.path];
  }
  initEvent(type: unknown, bubbles: unknown = false, cancelable: unknown = false): void {
    if (this.#state.isDispatched) return;
    this.#isReady = true;
    this.#type = String(type);
    this.#bubbles = Boolean(bubbles);
    this.#cancelable = Boolean(cancelable);
    Object.assign(this.#state, { isStopped: false, isStoppedAtOnce: false, isCancelled: false, target: null });
  }
  get [Symbol.toStringTag](): string {
    return this.constructor.name;
  }
}
for (const [name, value] of Object.entries({ NONE: 0, CAPTURING_PHASE: 1, AT_TARGET: 2, BUBBLING_PHASE: 3 })) {
  Object.defineProperty(Event.prototype, name, { value, enumerable: true });
}

/** Kinds of events: the kind each adds to, and what it can be given, with what it is otherwise. */
const kinds: Readonly<Record<string, readonly [parent: string, members: Readonly<Record<string, unknown>>]>> = {
  CustomEvent: ['Event', { detail: null }],
  UIEvent: ['Event', { view: null, detail: 0, which: 0 }],
  FocusEvent: ['UIEvent', { relatedTarget: null }],
  InputEvent: ['UIEvent', { data: null, isComposing: false, inputType: '' }],
  CompositionEvent: ['UIEvent', { data: '' }],
  KeyboardEvent: [
    'UIEvent',
    {
      key: '',
      code: '',
      location: 0,
      repeat: false,
      isComposing: false,
      charCode: 0,
      keyCode: 0,
      ctrlKey: false,
      shiftKey: false,
      altKey: false,
      metaKey: false,
    },
  ],
  MouseEvent: [
    'UIEvent',
    {
      screenX: 0,
      screenY: 0,
      clientX: 0,
      clientY: 0,
      button: 0,
      buttons: 0,
      relatedTarget: null,
      ctrlKey: false,
      shiftKey: false,
      altKey: false,
      metaKey: false,
    },
  ],
  PointerEvent: ['MouseEvent', { pointerId: 0, pointerType: '', isPrimary: false }],
  WheelEvent: ['MouseEvent', { deltaX: 0, deltaY: 0, deltaZ: 0, deltaMode: 0 }],
  SubmitEvent: ['Event', { submitter: null }],
  HashChangeEvent: ['Event', { oldURL: '', newURL: '' }],
  MessageEvent: ['Event', { data: null, origin: '', lastEventId: '', source: null, ports: [] }],
  ErrorEvent: ['Event', { message: '', filename: '', lineno: 0, colno: 0, error: undefined }],
  ProgressEvent: ['Event', { lengthComputable: false, loaded: 0, total: 0 }],
  StorageEvent: ['Event', { key: null, oldValue: null, newValue: null, url: '', storageArea: null }],
};

type EventClass = new (type?: unknown, init?: EventInit | null) => Event;

function makeKind(name: string, Parent: EventClass, members: Readonly<Record<string, unknown>>): EventClass {
  const values = new WeakMap<object, Record<string, unknown>>();
  const made = {
    [name]: class extends Parent {
      constructor(...given: [type?: unknown, init?: EventInit | null]) {
        super(...given);
        const own: Record<string, unknown> = { ...members };
        for (const key of Object.keys(members)) if (given[1]?.[key] !== undefined) own[key] = given[1][key];
        values.set(this, own);
      }
    },
  }[name] as EventClass;
  for (const key of Object.keys(members)) {
    Object.defineProperty(made.prototype, key, {
      get(this: object) {
        return values.get(this)?.[key];
      },
      enumerable: true,
      configurable: true,
    });
  }
  if (name === 'CustomEvent' || name === 'UIEvent') {
    Object.defineProperty(made.prototype, `init${name}`, {
      value(this: Event, type: unknown, bubbles?: unknown, cancelable?: unknown, third?: unknown) {
        this.initEvent(type, bubbles, cancelable);
        const own = values.get(this);
        if (own !== undefined) own[name === 'UIEvent' ? 'view' : 'detail'] = third ?? null;
      },
      writable: true,
      configurable: true,
    });
  }
  return made;
}

/** All kinds by their names. */
export const eventClasses: Record<string, EventClass> = { Event };
for (const [name, [parent, members]] of Object.entries(kinds)) {
  eventClasses[name] = makeKind(name, eventClasses[parent] ?? Event, members);
}

const oldNames: Readonly<Record<string, string>> = {
  event: 'Event',
  events: 'Event',
  htmlevents: 'Event',
  svgevents: 'Event',
  uievent: 'UIEvent',
  uievents: 'UIEvent',
  mouseevent: 'MouseEvent',
  mouseevents: 'MouseEvent',
  customevent: 'CustomEvent',
  compositionevent: 'CompositionEvent',
  focusevent: 'FocusEvent',
  hashchangeevent: 'HashChangeEvent',
  keyboardevent: 'KeyboardEvent',
  messageevent: 'MessageEvent',
  storageevent: 'StorageEvent',
  textevent: 'CompositionEvent',
};

export function createEvent(name: string): Event {
  const made = eventClasses[oldNames[name.toLowerCase()] ?? ''];
  if (made === undefined) throw domError('NotSupportedError', `There are no events named '${name}'.`);
  const event = new made('');
  Event.makeUnready(event);
  return event;
}

// Listening -----------------------------------------------------------------------------------------------------------

function readOptions(options: unknown): Options {
  if (typeof options === 'object' && options !== null) return options;
  return { capture: options };
}

export function addListener(target: object, type: unknown, callback: unknown, given: unknown): void {
  const options = readOptions(given);
  if (callback === null || callback === undefined) return;
  if (typeof callback !== 'function' && typeof callback !== 'object') {
    throw new TypeError("The listener is not of type 'EventListener'.");
  }
  if (options.signal?.aborted === true) return;
  const listener: Listener = {
    type: String(type),
    callback: callback as Callback,
    isCapture: Boolean(options.capture),
    isOnce: Boolean(options.once),
    isRemoved: false,
  };
  const known = listeners.get(target) ?? [];
  listeners.set(target, known);
  const isSame = (each: Listener): boolean =>
    each.type === listener.type && each.callback === listener.callback && each.isCapture === listener.isCapture;
  if (!known.some(isSame)) known.push(listener);
  options.signal?.addEventListener('abort', () => removeListener(target, type, callback, given));
}

export function removeListener(target: object, type: unknown, callback: unknown, options: unknown): void {
  const isCapture = Boolean(readOptions(options).capture);
  const known = listeners.get(target) ?? [];
  const at = known.findIndex(
    (each) => each.type === String(type) && each.callback === callback && each.isCapture === isCapture,
  );
  const [removed] = at < 0 ? [] : known.splice(at, 1);
  if (removed !== undefined) removed.isRemoved = true;
}

/** Where an event comes by, from its target up. */
function pathOf(target: object, type: string): object[] {
  if (!(target instanceof Node) || target instanceof Attr) return [target];
  const path: object[] = [];
  for (let node = Node.numberOf(target); node >= 0; node = parentOf(node)) {
    path.push(wrap(node) as object);
    if (node === 0 && kind(node) === documentKind && type !== 'load') path.push(globalThis);
  }
  return path;
}

/** As in a browser: what a listener throws is reported, and the others are called. */
function report(thrown: unknown): void {
  (globalThis as { console?: { error?: (thrown: unknown) => void } }).console?.error?.(thrown);
}

function callListeners(event: Event, state: State, target: object, isCapture: boolean): void {
  state.current = target;
  for (const listener of (listeners.get(target) ?? []).slice()) {
    if (listener.isRemoved || listener.type !== event.type || listener.isCapture !== isCapture) continue;
    if (listener.isOnce) removeListener(target, listener.type, listener.callback, listener.isCapture);
    const { callback } = listener;
    try {
      if (typeof callback === 'function') callback.call(target, event);
      else callback.handleEvent(event);
    } catch (thrown) {
      report(thrown);
    }
    if (state.isStoppedAtOnce) return;
  }
  const handler: unknown = isCapture ? null : (target as Record<string, unknown>)[`on${event.type}`];
  if (typeof handler !== 'function') return;
  try {
    if (handler.call(target, event) === false) event.preventDefault();
  } catch (thrown) {
    report(thrown);
  }
}

export function dispatch(target: object, given: unknown): boolean {
  const state = Event.stateOf(given);
  const event = given as Event;
  if (state.isDispatched || !Event.isReady(event)) {
    throw domError('InvalidStateError', 'The event is already being dispatched, or was never initialised.');
  }
  const path = pathOf(target, event.type);
  Object.assign(state, { target, path, isDispatched: true });
  for (let at = path.length - 1; at >= 0 && !state.isStopped; at--) {
    state.phase = at === 0 ? 2 : 1;
    callListeners(event, state, path[at] ?? target, true);
  }
  for (let at = 0; at < path.length && !state.isStopped; at++) {
    if (at > 0 && !event.bubbles) break;
    state.phase = at === 0 ? 2 : 3;
    callListeners(event, state, path[at] ?? target, false);
  }
  Object.assign(state, { phase: 0, current: null, path: [], isDispatched: false, isStopped: false });
  state.isStoppedAtOnce = false;
  return !state.isCancelled;
}

// Clicking ------------------------------------------------------------------------------------------------------------

function fire(target: object, type: string, init: EventInit): boolean {
  const made = type === 'click' ? (eventClasses['MouseEvent'] ?? Event) : Event;
  return dispatch(target, new made(type, init));
}

/** `element.click()`: listeners are called, boxes are ticked, and what a label belongs to is clicked. */
export function click(element: object): void {
  const node = Node.numberOf(element);
  if (isDisabled(node)) return;
  const activation = clickedBy(node);
  const isGoingOn = fire(element, 'click', { bubbles: true, cancelable: true, composed: true });
  if (!isGoingOn) return activation.undo();
  for (const type of activation.events) fire(element, type, { bubbles: true });
  if (activation.next >= 0) click(wrap(activation.next) as object);
}
