import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { setupInput } from '#contracts/account';

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');
const page = read('setup.html');
const script = read('setup.js');
const style = read('style.css');
const ids = [...page.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id ?? '');

describe('the setup page', () => {
  it('holds no script, style or handler of its own, so that the strict policy lets it work', () => {
    expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
    expect([...page.matchAll(/<script\b([^>]*)>([^<]*)/g)].map(([, , body]) => body)).toEqual(['']);
    expect(script).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|\.style\b/);
  });

  it('loads nothing from elsewhere', () => {
    for (const text of [page, style]) expect(text).not.toMatch(/(src|href)="(?!\/)|url\(|@import/);
    expect([...script.matchAll(/https?:\/\/[^'"]*/g)].map(([address]) => address)).toEqual(['https://example.com/']);
  });

  it('has every element that its script looks for, each once', () => {
    expect(new Set(ids).size).toBe(ids.length);
    const named = [...script.matchAll(/byId\('([^']+)'\)/g)].map(([, id]) => id ?? '');
    const fields = Object.keys(setupInput.shape);
    const wanted = [...named, ...fields, ...fields.map((field) => `${field}-fault`)];
    expect(wanted.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it('labels every input, and names its hint and fault for those who listen', () => {
    const labelled = [...page.matchAll(/<label for="([^"]+)"/g)].map(([, id]) => id);
    const inputs = [...page.matchAll(/<input\s+id="([^"]+)"/g)].map(([, id]) => id);
    expect(inputs.length).toBe(5);
    expect(inputs.filter((id) => !labelled.includes(id))).toEqual([]);
    const described = [...page.matchAll(/aria-describedby="([^"]+)"/g)].flatMap(([, list]) => (list ?? '').split(' '));
    expect(described.filter((id) => !ids.includes(id))).toEqual([]);
  });
});
