/** What a page in a browser has and this one has not: each throws a sentence that says what to do instead. */
import { domError, noLayout } from './dom-exception.js';

const atRest = 'the page is at rest; read what is there now, or set fetch.mode to "browser" for what scripts bring';
const noNetwork = 'code has no network; set the task’s url to what should be loaded, and read page.json() or page.text';
const noViewer = 'nobody is there to see it; use console.log(…), and return the answer';
const noStorage = 'keep what the next run should know in page.state';
const noWindow = 'there is one page and no window around it';
const noFiles = 'there are no files; bytes are held by Uint8Array, text by strings';
const noDice = 'use Math.random(), which gives the same numbers for the same run';

/** By reason: what is called or constructed. */
const calls: readonly (readonly [string, string])[] = [
  ['setTimeout setInterval setImmediate requestAnimationFrame requestIdleCallback', atRest],
  ['MutationObserver IntersectionObserver ResizeObserver PerformanceObserver', atRest],
  ['fetch XMLHttpRequest WebSocket EventSource Worker SharedWorker Request Response Headers importScripts', noNetwork],
  ['RTCPeerConnection BroadcastChannel MessageChannel', noNetwork],
  ['alert confirm prompt print Notification', noViewer],
  ['open close stop moveTo moveBy resizeTo resizeBy postMessage', noWindow],
  ['Blob File FileReader', noFiles],
];

/** Objects whose members are used: reading any of them throws. */
const objects: readonly (readonly [string, string])[] = [
  ['localStorage sessionStorage indexedDB caches cookieStore', noStorage],
  ['crypto', noDice],
  ['history navigation', noWindow],
];

const measures = 'innerWidth innerHeight outerWidth outerHeight screen screenX screenY visualViewport';
const withoutEffect = 'scroll scrollTo scrollBy focus blur';

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, enumerable: false, configurable: true });
}

function refuse(what: string, why: string): never {
  throw domError('NotSupportedError', `${what} is not available here: ${why}.`);
}

/** `typeof` says object, as in a browser; whatever is done with it is refused. */
function refusing(name: string, why: string): object {
  const refuseMember = (_target: object, member: string | symbol): never =>
    refuse(typeof member === 'string' ? `${name}.${member}` : name, why);
  return new Proxy(
    {},
    {
      get: (target, member) => (member === Symbol.toStringTag ? undefined : refuseMember(target, member)),
      set: refuseMember,
      has: refuseMember,
    },
  );
}

const namesIn = (text: string): readonly string[] => text.split(' ');

/** Names that are there already are left alone, but for those that had to be refused less helpfully. */
export function installUnsupportedApis(): void {
  for (const [names, why] of calls) {
    for (const name of namesIn(names)) {
      const known: unknown = Reflect.get(globalThis, name);
      if (known !== undefined && (known as { name?: unknown }).name !== 'refuse') continue;
      const isClass = /^[A-Z]/.test(name);
      define(name, function refuseCall() {
        return refuse(isClass ? name : `${name}()`, why);
      });
    }
  }
  for (const [names, why] of objects) {
    for (const name of namesIn(names)) if (!(name in globalThis)) define(name, refusing(name, why));
  }
  for (const name of namesIn(measures)) {
    if (name in globalThis) continue;
    Object.defineProperty(globalThis, name, { get: () => noLayout(`window.${name}`), configurable: true });
  }
  for (const name of namesIn(withoutEffect)) if (!(name in globalThis)) define(name, () => undefined);
  const readable = {
    devicePixelRatio: 1,
    scrollX: 0,
    scrollY: 0,
    pageXOffset: 0,
    pageYOffset: 0,
    navigator: { userAgent: 'Meerkat', language: 'en-US', languages: ['en-US'], onLine: true, cookieEnabled: false },
    customElements: { get: () => undefined, define: () => undefined },
  };
  for (const [name, value] of Object.entries(readable)) if (!(name in globalThis)) define(name, value);
}
