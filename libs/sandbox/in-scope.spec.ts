/** What code finds beside `document`: the page's facts, the console, addresses, copies, bytes, numbers in other languages. */
import { afterAll, describe, expect, it } from '@jest/globals';
import { jobOf, pageOf } from './kit.contract.js';
import { createQuickJsSandbox } from './quickjs.js';
import type { EvaluationJob, EvaluationResult, SandboxFailure } from './sandbox.js';

const sandbox = createQuickJsSandbox({ workers: 1, spareWorkers: 0 });
afterAll(() => sandbox.close());

const evaluate = (code: string, more: Partial<EvaluationJob> = {}): Promise<EvaluationResult> =>
  sandbox.evaluate(jobOf(code, more));

async function valueOf(expression: string, more: Partial<EvaluationJob> = {}): Promise<unknown> {
  const result = await evaluate(`page.report('value', ${expression}); true`, more);
  if (!result.ok) throw new Error(`${expression}: ${result.failure.message}`);
  return result.values['value'];
}

async function failureOf(code: string, more: Partial<EvaluationJob> = {}): Promise<SandboxFailure> {
  const result = await evaluate(code, more);
  if (result.ok) throw new Error(`${code}: answered ${result.outcome}`);
  return result.failure;
}

async function logsOf(code: string): Promise<readonly string[]> {
  return (await evaluate(`${code}; true`)).logs.map(({ message }) => message);
}

describe('page.number', () => {
  it('reads texts, form fields and machine-readable attributes, with a locale where it is ambiguous', async () => {
    const html = `<meta itemprop=price content="1.299"><data value="12.5">x 3</data><input value="€ 5"><button value=9>7</button>
      <progress value=0.4></progress><p>1.299,00 €</p><i>1.299</i>`;
    const of = (selector: string, locale = ''): string => `page.number(document.querySelector('${selector}')${locale})`;
    const all = ['meta', 'data', 'input', 'button', 'progress', 'p', 'i'].map((selector) => of(selector));
    const list = `[${[...all, of('i', ", 'en'"), 'page.number(3)', 'page.number("5 €", null)'].join()}]`;
    expect(await valueOf(list, { page: pageOf(html) })).toEqual([1.299, 12.5, 5, 7, 0.4, 1299, 1299, 1.299, 3, 5]);
  });

  it.each([
    ['page.number(null) < 40', 'page.number was given null, so there is no number to read.'],
    ['page.number(undefined) < 40', 'page.number was given undefined, so there is no number to read.'],
    ['page.number(NaN) < 40', 'page.number: there is no number in "NaN".'],
    ['page.number("sold  out") < 40', 'page.number: there is no number in "sold out".'],
    ["page.number(document.querySelector('h1')) < 40", 'page.number: there is no number in "Hello world".'],
  ])('ends the run where there is none: %s', async (code, message) => {
    expect(await failureOf(code)).toMatchObject({ reason: 'number_not_found', message, line: 1, column: 1 });
  });

  it('names the selector that found nothing, and the place of the call', async () => {
    const code = `const price = document.querySelector('.price');\nconst a = 1; const b = page.number(price, 'de');\nb < 40`;
    expect(await failureOf(code)).toMatchObject({
      reason: 'number_not_found',
      line: 2,
      column: 24,
      hint: expect.stringMatching(
        /^`document.querySelector\('.price'\)` found nothing: .* give page.number `{ or: null }` as well/,
      ),
    });
    expect((await failureOf("page.number(document.querySelector('h1')) > 1")).hint).toBeUndefined();
  });

  it('gives instead what it is told to', async () => {
    const list = `[page.number(null, { or: null }), page.number('none', { or: -1, locale: 'de' }), page.number('1.234', { locale: 'de', or: 0 }),
      page.number('1.234', { locale: 'en' }), page.number(undefined, { or: undefined }) === undefined]`;
    expect(await valueOf(list)).toEqual([null, -1, 1234, 1.234, true]);
    expect((await failureOf('page.number("x", { locale: "de" })')).reason).toBe('number_not_found');
  });

  it('is an error that code may catch, and one of its own making is none', async () => {
    expect(
      await valueOf(`(() => { try { return page.number('none') } catch (error) { return error.message } })()`),
    ).toBe('page.number: there is no number in "none".');
    expect(
      (await failureOf('throw Object.assign(new Error("number_not_found"), { reason: "number_not_found" })')).reason,
    ).toBe('threw');
  });
});

describe('page.json', () => {
  it.each([
    ['{"a":1,\n  "b":}', 'at line 2, column 7'],
    ['{"a":\n  tru }', 'at line 2, column 3'],
    ['{"a" 1}', "Expected ':' after property name at line 1, column 6"],
    ['', 'it is empty'],
    [' <!doctype html><p>', 'it is markup and begins with "<!doctype html><p>"; read it through document'],
    ['callback({})', 'begins with "callback({})"'],
  ])('explains what is wrong with %j', async (body, said) => {
    const { message, line } = await failureOf('page.json()', { page: pageOf(body, { contentKind: 'json' }) });
    expect(message).toMatch(/^SyntaxError: The page is no JSON: /);
    expect(message).toContain(said);
    expect(line).toBe(1);
  });
});

describe('page.report', () => {
  it('accepts JSON values, and stores nodes, maps and sets as what people see of them', async () => {
    const { values } =
      await evaluate(`page.report('node', document.querySelector('h1')); page.report('list', [...document.querySelectorAll('li')]);
      page.report('map', new Map([['a', new Set([1, 2n])]])); page.report('date', new Date(0)); page.report('none', undefined);
      page.report('f', () => 1); true`);
    expect(Object.entries(values)).toEqual([
      ['node', 'Hello world'],
      ['list', ['one', 'two', 'three']],
      ['map', { a: [1, '2'] }],
      ['date', '1970-01-01T00:00:00.000Z'],
      ['none', null],
      ['f', null],
    ]);
    expect((await failureOf('const a = {}; a.a = a; page.report("a", a)')).message).toBe(
      'TypeError: circular reference',
    );
  });

  it('refuses the one name that most of what reads JSON loses', async () => {
    const failure = await failureOf("page.report('constructor', 1);\npage.report('__proto__', 2); true");
    expect(failure).toMatchObject({ reason: 'threw', line: 2 });
    expect(failure.message).toContain('"__proto__" cannot be the name of a value');
  });
});

describe('page.report of a number', () => {
  it.each(['NaN', 'Infinity', '-1 / 0'])('that is not finite ends the run: %s', async (number) => {
    const failure = await failureOf(`\npage.report('price', ${number}); true`);
    expect(failure).toMatchObject({ reason: 'not_a_number', line: 2 });
    expect(failure.message).toMatch(/^page.report: "price" is (NaN|-?Infinity), which is no number to record\.$/);
  });
});

describe('page.state', () => {
  it('is a JSON object with a size limit', async () => {
    const limits = { ...jobOf('').limits, stateBytes: 100 };
    expect(await failureOf('page.state.x = "é".repeat(60); true', { limits })).toMatchObject({ reason: 'state_limit' });
    for (const wrong of ['[]', '3', 'null', '"x"', '() => 1', 'new Proxy([], {})']) {
      expect((await failureOf(`page.state = ${wrong}; true`)).reason).toBe('state_limit');
    }
    const kept = await evaluate('page.state = { at: new Date(0), n: 1n, node: document.querySelector("h1") }; true');
    expect(kept).toMatchObject({ ok: true, state: { at: '1970-01-01T00:00:00.000Z', n: '1', node: 'Hello world' } });
  });
});

describe('the console', () => {
  it('writes values as data, and names what is not data', async () => {
    expect(
      await logsOf(`console.log('a', 1, { b: [2], c: undefined, d: new Map([[1, { x: 'y' }]]), e: new Set(['q']), f: 10n, g() {}, h: new Date(0),
        i: /x/g, j: document.querySelector('li'), k: Symbol('s'), l: NaN, m: -0 });
        console.log([1, 'b'], document.querySelectorAll('li'), new Error('w'), new URL('http://x/'), new Uint8Array(2));
        const c = {}; c.c = c; console.log(c); console.log()`),
    ).toEqual([
      'a 1 {"b":[2],"c":undefined,"d":Map(1) {1 => {"x":"y"}},"e":Set(1) {"q"},"f":10n,"g":[function g],"h":1970-01-01T00:00:00.000Z,' +
        '"i":/x/g,"j":<li class="item first">one</li>,"k":Symbol(s),"l":NaN,"m":-0}',
      '[1,"b"] [<li class="item first">one</li>,<li class="item" data-sku-id="A1">two</li>,<li>three</li>] Error: w "http://x/" [0,0]',
      '{"c":[Circular]}',
      '',
    ]);
  });

  it('has every method of a browser’s console', async () => {
    expect(
      await logsOf(`console.log('%s: %d %i %o %c%%%s', 'x', '5', 2.7, [1], 'color: red', 'y', 'more'); console.table([{ a: 1 }, { a: 2 }]);
        console.group('g'); console.log('in\\nside'); console.groupEnd(); console.count(); console.count(); console.countReset(); console.count('k');
        console.time('t'); console.timeEnd('t'); console.assert(true, 'no'); console.assert(false, 'yes'); console.dir({ a: 1 }); console.clear(); console.trace('here')`),
    ).toEqual([
      'x: 5 2 [1] %y more',
      '0: {"a":1}',
      '1: {"a":2}',
      'g',
      '  in\n  side',
      'default: 1',
      'default: 2',
      'k: 1',
      't: 0 ms',
      'Assertion failed yes',
      '{"a":1}',
      'Trace: here',
    ]);
  });

  it('is bounded, also for empty lines and endless values', async () => {
    expect((await failureOf('for (;;) console.log("")')).reason).toBe('output_limit');
    expect((await failureOf('for (;;) console.group("a")')).reason).toBe('output_limit');
    expect((await logsOf('console.log(document.documentElement)'))[0]?.length).toBeLessThan(1_100);
    const deep = await logsOf('let a = {}; for (let i = 0; i < 1e4; i++) a = { a }; console.log(a, new Array(1e6))');
    expect(deep[0]?.length).toBeLessThan(2_500);
  });
});

describe('the sandboxed global scope', () => {
  it('copies by structuredClone, cycles and shared buffers included', async () => {
    const code = `const a = { d: new Date(5), r: /x/gi, m: new Map([[{ k: 1 }, new Set([1, NaN])]]), n: -0, b: 10n, u: undefined, arr: [1, , 3],
        o: Object('s'), e: new RangeError('bad', { cause: { a: 1 } }), f: new Float32Array([1.5, 2]), dv: new DataView(new ArrayBuffer(4), 1, 2) };
      a.self = a; a.arr.extra = 1; a.v1 = a.f; const c = structuredClone(a);
      const [x, y] = structuredClone([new Uint8Array(a.f.buffer, 0, 4), new Uint16Array(a.f.buffer, 4)]);
      return [c !== a, c.self === c, c.d.getTime() === 5, c.r.flags === 'gi', [...c.m.keys()][0].k === 1, [...c.m.values()][0].has(NaN),
        Object.is(c.n, -0), c.b === 10n, 'u' in c, !(1 in c.arr), c.arr.extra === 1, c.o instanceof String, c.e instanceof RangeError,
        c.e.message === 'bad', c.e.cause.a === 1, c.f[0] === 1.5, c.f !== a.f, c.v1 === c.f, c.dv.byteOffset === 1, x.buffer === y.buffer].includes(false) === false;`;
    expect(await evaluate(code, { form: 'body' })).toMatchObject({ ok: true, outcome: true });
    for (const wrong of [
      '() => 1',
      'Symbol("x")',
      'document.body',
      'Promise.resolve()',
      'new WeakMap()',
      '[{ a() {} }]',
    ]) {
      expect((await failureOf(`structuredClone(${wrong})`)).message).toMatch(
        /^DataCloneError: .* could not be cloned\.$/,
      );
    }
  });

  it('decodes by TextDecoder as a stream, by the standard’s labels, and fatally where asked', async () => {
    expect(
      await valueOf(`[new TextDecoder('latin1').encoding, new TextDecoder('ascii').decode(new Uint8Array([0x80, 0xe9])),
        (() => { const d = new TextDecoder(); return d.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + d.decode(new Uint8Array([0xac, 0xe2])); })(),
        new TextDecoder('utf-16').decode(new Uint8Array([0xff, 0xfe, 0x41, 0])), new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x41])),
        new TextDecoder('utf-8', { fatal: true }).decode(new TextEncoder().encode('\\ufffd'))]`),
    ).toEqual(['windows-1252', '€é', '€\ufffd', 'A', 'A', '\ufffd']);
    expect(
      (await failureOf('new TextDecoder("utf-8", { fatal: true }).decode(new Uint8Array([255]))')).message,
    ).toMatch(/^TypeError/);
    expect((await failureOf('new TextDecoder("shift_jis")')).message).toContain('page.text');
  });

  it('parses and serializes URLs by the standard', async () => {
    const cases: readonly (readonly [string, unknown])[] = [
      ['new URL("file:c:\\\\a\\\\b", "file:///x/y").href', 'file:///c:/a/b'],
      ['new URL("/", "file:///C:/a/b").href', 'file:///C:/'],
      ['new URL("http://ex\\u200bample.com").host', 'example.com'],
      ['["https://\\ufffd", "sc://:/", "http://1.2.3.4.5"].filter((url) => URL.canParse(url))', []],
      ['new URL("blob:https://a.example:443/x").origin', 'https://a.example'],
      [
        '(() => { const u = new URL("https://a.example:8/p?q#f"); u.protocol = "file"; u.host = "b.example:9/x"; u.hash = ""; u.search = "?"; u.port = "x"; return u.href; })()',
        'https://b.example:9/p?',
      ],
      [
        '(() => { const u = new URL("https://a.example/??x=1"); u.searchParams.append("a b", "\\0+"); return u.search; })()',
        '?%3Fx=1&a+b=%00%2B',
      ],
      ['new URL("data:a ?b").href', 'data:a%20?b'],
    ];
    for (const [expression, value] of cases)
      expect([expression, await valueOf(expression)]).toEqual([expression, value]);
  });
});

describe('formatting of numbers and dates', () => {
  it('equals that of Intl in common languages', async () => {
    const locales =
      'en-US en-IN de-DE de-AT de-CH fr-FR fr-CA es-ES es-MX it-IT pt-BR pt-PT nl-NL sv-SE pl-PL ru-RU cs-CZ tr-TR ja-JP'.split(
        ' ',
      );
    const numbers = [0, 5, -1.5, 1234, 12345.678, 1234567.891, 0.005, 999.9999];
    const code = `${JSON.stringify(locales)}.map((locale) => ${JSON.stringify(numbers)}.map((value) => value.toLocaleString(locale)))`;
    const wanted = locales.map((locale) => numbers.map((value) => value.toLocaleString(locale).replace('−', '-')));
    expect(await valueOf(code)).toEqual(wanted);
    expect(
      await valueOf(`[new Intl.NumberFormat('de', { minimumFractionDigits: 2 }).format(3), Intl.NumberFormat('en', { style: 'percent' }).format(0.256),
        (5n).toLocaleString(), new Date(0).toLocaleDateString(), new Date(0).toLocaleString('en-US'), Intl.DateTimeFormat().resolvedOptions().timeZone]`),
    ).toEqual(['3,00', '26%', '5', '1/1/1970', new Date(0).toLocaleString('en-US', { timeZone: 'UTC' }), 'UTC']);
  });

  it.each([
    '(5).toLocaleString("xx")',
    'new Intl.NumberFormat("de", { style: "currency", currency: "EUR" })',
    'new Date().toLocaleDateString("de")',
    'new Date().toLocaleString("en-US", { month: "long" })',
    'new Intl.PluralRules("en")',
  ])('fails with a message where the locale data is missing: %s', async (code) => {
    expect((await failureOf(code)).message).toMatch(/^NotSupportedError: .+ is not available here: .+\.$/);
  });
});

describe('an API that only browsers have', () => {
  it.each([
    ['fetch("/x")', 'task’s url'],
    ['new XMLHttpRequest()', 'page.json()'],
    ['setTimeout(() => 1, 5)', 'at rest'],
    ['localStorage.getItem("x")', 'page.state'],
    ['window.sessionStorage.x = 1', 'page.state'],
    ['indexedDB.open("x")', 'page.state'],
    ['alert("x")', 'console.log'],
    ['prompt("x")', 'console.log'],
    ['crypto.randomUUID()', 'Math.random()'],
    ['history.back()', 'no window'],
    ['new WebSocket("ws://x")', 'no network'],
    ['new Blob(["x"])', 'Uint8Array'],
    ['getComputedStyle(document.body)', 'layout'],
    ['window.innerWidth', 'layout'],
  ])('throws at its place, with what to do instead: %s', async (code, said) => {
    const failure = await failureOf(`\n ${code}`);
    expect(failure).toMatchObject({ reason: 'threw', line: 2 });
    expect(failure.message).toMatch(/^NotSupportedError: /);
    expect(failure.message).toContain(said);
  });

  it('is accepted where it has no effect', async () => {
    expect(
      await valueOf('[typeof navigator.userAgent, scrollY, typeof localStorage, scrollTo(0, 9) === undefined]'),
    ).toEqual(['string', 0, 'object', true]);
  });
});
