/** A web site on loopback whose pages the spec changes, slows down and breaks; it counts what is loaded. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Respond = (request: IncomingMessage, response: ServerResponse) => void;

export interface PageSite {
  /** The address of a path: `/shop`. */
  address(path: string): string;
  /** From now on the path answers so. */
  serve(path: string, respond: Respond): void;
  /** How often a path was asked for. */
  loads(path: string): number;
  close(): Promise<void>;
}

export async function startPageSite(): Promise<PageSite> {
  const pages = new Map<string, Respond>();
  const loads = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    loads.set(path, (loads.get(path) ?? 0) + 1);
    (pages.get(path) ?? answering(404))(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: (path) => `http://127.0.0.1:${port}${path}`,
    serve: (path, respond) => void pages.set(path, respond),
    loads: (path) => loads.get(path) ?? 0,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** A page of everyday HTML with `words` in the element `#stock`. */
export function html(words: string): Respond {
  const body = `<!doctype html><html><head><title>Shop</title></head><body><h1>Shop</h1><p id="stock">${words}</p></body></html>`;
  return (_, response) => {
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(body);
  };
}

export function answering(status: number, body = '', headers: Readonly<Record<string, string>> = {}): Respond {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
  };
}

/** Takes the request and never answers. */
export const silent: Respond = () => undefined;

/** Breaks the connection. */
export const dropping: Respond = (request) => {
  request.socket.destroy();
};

/** Answers headers and then a byte now and then, for ever. */
export const trickling: Respond = (_, response) => {
  response.writeHead(200, { 'content-type': 'text/html' });
  const timer = setInterval(() => response.write('.'), 100);
  response.on('close', () => clearInterval(timer));
};

/** A page of so many bytes, without saying so beforehand. */
export function huge(bytes: number): Respond {
  return (_, response) => {
    const block = Buffer.alloc(65_536, 'x');
    response.writeHead(200, { 'content-type': 'text/html' });
    let sent = 0;
    const more = (): void => {
      while (sent < bytes && !response.destroyed) {
        sent += block.length;
        if (!response.write(block)) return void response.once('drain', more);
      }
      response.end();
    };
    more();
  };
}

/** Every answer leads to the same path again, each time another address. */
export const redirectingForEver: Respond = (request, response) => {
  const [path, query = '0'] = (request.url ?? '/').split('?');
  response.writeHead(302, { location: `${path}?${Number(query) + 1}` }).end();
};

/** Bytes that are no text of any kind, called an image. */
export const binary: Respond = (_, response) => {
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0, 0xff, 0xfe, 0xc3, 0x28]);
  response.writeHead(200, { 'content-type': 'image/png' }).end(bytes);
};
