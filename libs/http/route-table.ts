/** Every declared route of the process: what methods a path takes, and what the OpenAPI document tells. */
import { Injectable } from '@nestjs/common';
import type { RouteDeclaration } from './route.js';

@Injectable()
export class RouteTable {
  readonly #entries: { readonly declaration: RouteDeclaration; readonly pattern: RegExp }[] = [];

  add(declaration: RouteDeclaration): void {
    const pattern = new RegExp(
      `^${declaration.path.replace(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replace(/\{\w+\}/g, '[^/]+')}$`,
    );
    this.#entries.push({ declaration, pattern });
  }

  get declarations(): readonly RouteDeclaration[] {
    return this.#entries.map(({ declaration }) => declaration);
  }

  /** Methods of a path that is declared letter by letter; none where it is not. `/api/notifications/bulk` is no id. */
  methodsOfExact(url: string): readonly string[] {
    const path = url.split(/[?#]/, 1)[0] ?? '';
    const exact = this.#entries.filter(({ declaration }) => declaration.path === path);
    const methods = exact.map(({ declaration }) => declaration.method);
    return methods.includes('GET') ? [...methods, 'HEAD'].sort() : [...methods].sort();
  }

  /** Methods that a path takes, HEAD beside GET; none where nothing is there. */
  methodsAt(url: string): readonly string[] {
    const exact = this.methodsOfExact(url);
    if (exact.length > 0) return exact;
    const path = url.split(/[?#]/, 1)[0] ?? '';
    const methods = new Set<string>();
    for (const { declaration, pattern } of this.#entries) {
      if (!pattern.test(path)) continue;
      methods.add(declaration.method);
      if (declaration.method === 'GET') methods.add('HEAD');
    }
    return [...methods].sort();
  }
}
