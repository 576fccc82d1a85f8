/** The engine's own `DOMException`, with the names that the DOM throws. */
declare const DOMException: new (message: string, name: string) => Error;

export function domError(name: string, message: string): Error {
  return new DOMException(message, name);
}

/** What needs a rendered page cannot be answered here. */
export function noLayout(what: string): never {
  throw domError('NotSupportedError', `${what} needs layout, and the page is not rendered here.`);
}
