import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { found } from '#runtime/probe.kit';
import { limitConnections } from './connection-limit.js';

describe('the limit of connections per address', () => {
  let server: Server;
  let sockets: Socket[];
  beforeEach(async () => {
    sockets = [];
    server = createServer((_request, response) => response.end('served'));
    limitConnections(server, {
      maxPerAddress: 20,
      groupOf: (address) => address,
      isExempt: (address) => address === '127.0.0.9',
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  /** A connection that sends the beginning of a request and no end. */
  function open(localAddress: string): Socket {
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', localAddress });
    socket.on('error', () => undefined);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n');
    sockets.push(socket);
    return socket;
  }
  const openNow = (): number => sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;

  it('closes what an address opens beyond it, and serves another address', async () => {
    for (let count = 0; count < 100; count += 1) open('127.0.0.2').resume();
    await found(async () => openNow() === 20);
    const other = open('127.0.0.3');
    other.write('Connection: close\r\n\r\n');
    const [answer] = (await once(other, 'data')) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('counts a connection no longer that was closed', async () => {
    for (let count = 0; count < 20; count += 1) open('127.0.0.2').resume();
    await found(async () => openNow() === 20);
    for (const socket of sockets) socket.destroy();
    await found(async () => {
      const again = open('127.0.0.2');
      again.write('Connection: close\r\n\r\n');
      return once(again, 'data').then(
        () => true,
        () => false,
      );
    });
  });

  it('leaves out a proxy, which brings the connections of many', async () => {
    for (let count = 0; count < 60; count += 1) open('127.0.0.9').resume();
    const last = open('127.0.0.9');
    last.write('Connection: close\r\n\r\n');
    await once(last, 'data');
    expect(openNow()).toBeGreaterThan(60);
  });
});
