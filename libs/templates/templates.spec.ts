import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { AppError } from '#runtime/errors';
import { checkTemplate, renderTemplate, templateEscapes, type TemplateVariables } from './templates.js';

const variables: TemplateVariables = {
  task: { id: 'ntf_1', name: 'Price "watch" <b>', url: 'https://shop.example/a?b=1&c=2', tags: ['shop', 'eu'] },
  execution: { id: 'exe_1', outcome: true, finishedAt: '2026-01-02T03:04:05.678Z', finalUrl: null },
  transition: { kind: 'condition', from: 'false', to: 'true' },
  value: 12.5,
  values: { value: 12.5, note: 'line one\r\nBcc: eve@example.com', list: [1, 2, 3], nested: { deep: 'x' } },
  message: 'It became true.',
  hint: '',
  links: { task: 'https://meerkat.example/t' },
  organization: { id: 'org_1' },
};

function failureOf(text: string): AppError {
  for (const escape of templateEscapes) {
    try {
      renderTemplate(text, variables, escape);
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }
  throw new Error('it rendered');
}

describe('a template', () => {
  it('fills in what it names', () => {
    expect(renderTemplate('{{ task.name }}: {{ value }} of {{ values.list | size }}', variables, 'text')).toBe(
      'Price "watch" <b>: 12.5 of 3',
    );
  });

  it('shows what it does not know as nothing', () => {
    expect(renderTemplate('[{{ nobody }}{{ values.none.deeper }}{{ transition.what }}]', variables, 'text')).toBe('[]');
  });

  it('shows lists and objects as JSON', () => {
    expect(renderTemplate('{{ values.nested }} {{ values.list }}', variables, 'text')).toBe('{"deep":"x"} [1,2,3]');
  });

  it('escapes for the place it stands in', () => {
    expect(renderTemplate('<p>{{ task.name }}</p>', variables, 'html')).toBe(
      '<p>Price &quot;watch&quot; &lt;b&gt;</p>',
    );
    expect(JSON.parse(renderTemplate('{"text":"{{ task.name }} {{ values.note }}"}', variables, 'json'))).toEqual({
      text: 'Price "watch" <b> line one\r\nBcc: eve@example.com',
    });
    expect(renderTemplate('Note: {{ values.note }}\nX: y', variables, 'header')).toBe(
      'Note: line one Bcc: eve@example.com X: y',
    );
  });

  it('escapes values, and not its own text, by an escaper that a channel brings', () => {
    const shout = (text: string): string => text.toUpperCase();
    expect(renderTemplate('{{ message }} {% if message contains "true" %}yes{% endif %}', variables, shout)).toBe(
      'IT BECAME TRUE. yes',
    );
  });

  it.each([
    ['address', '{{ task.name | url_encode }}', '{{ task.name }}'],
    ['address', '{{ task.name | cgi_escape | upcase }}', '{{ task.name | upcase }}'],
    ['html', '{{ task.name | escape }}', '{{ task.name }}'],
  ] as const)('escapes once for %s where the template asks for it by %s', (place, asked, plain) => {
    expect(renderTemplate(asked, variables, place)).toBe(renderTemplate(plain, variables, place));
    expect(renderTemplate(asked, variables, 'text')).not.toBe(renderTemplate(plain, variables, 'text'));
  });

  it('escapes what echo and cycle write too', () => {
    expect(renderTemplate('{% echo task.name %}{% cycle task.name %}', variables, 'html')).not.toContain('<b>');
  });

  it('puts JSON into JSON by the json filter', () => {
    expect(JSON.parse(renderTemplate('{"all":{{ values | json }}}', variables, 'json'))).toEqual({
      all: variables.values,
    });
  });

  it('says the same on every try: now is when the run finished, and nothing is random', () => {
    expect(renderTemplate("{{ 'now' | date: '%Y-%m-%d %H:%M' }}", variables, 'text')).toBe('2026-01-02 03:04');
    expect(renderTemplate("{{ 'today' | date_to_xmlschema }}", variables, 'text')).toBe('2026-01-02T03:04:05+00:00');
    expect(checkTemplate('{{ values.list | sample }}')).toMatchObject({ ok: false });
  });

  it('leaves its variables as they were', () => {
    renderTemplate(
      '{% increment task %}{% assign value = 1 %}{% capture message %}x{% endcapture %}',
      variables,
      'text',
    );
    expect(variables.task['id']).toBe('ntf_1');
    expect(variables.message).toBe('It became true.');
  });
});

describe('a fault in a template', () => {
  it.each([
    ['{{ task.name }', 1],
    ['fine\n{% if value %}open', 2],
    ['\n\n{{ value | nope }}', 3],
    ['{% nonsense %}', 1],
    ['{% endif %}', 1],
    ['{% for x %}{% endfor %}', 1],
  ])('is told with its line: %j', (text, line) => {
    const checked = checkTemplate(text);
    expect(checked).toMatchObject({ ok: false, line });
    expect(checked.ok ? '' : checked.message).not.toMatch(/line:\d/);
    expect(failureOf(text)).toMatchObject({ reason: 'template_failed' });
  });

  it.each([
    ['brackets', `{{ task${'[a'.repeat(30_000)}${']'.repeat(1_000)}}}`],
    ['ranges', `{{ (${'(1..'.repeat(15_000)}2)}}`],
  ])('is refused in words where its %s are nested too deeply', (_, text) => {
    expect(checkTemplate(text)).toMatchObject({ ok: false, message: 'is nested too deeply' });
  });

  it.each([
    ['{{ taks.name }}', 'names taks, which there is not; did you mean task?', 1, 4],
    ['fine\n  {{ task.nme }}', 'names task.nme, which there is not; did you mean task.name?', 2, 6],
    ['{{ message | append: tilte }}', 'names tilte, which there is not', 1, 22],
    ['{% if outcome %}x{% endif %}', 'names outcome, which there is not', 1, 7],
    ['{{ execution.value }}', 'names execution.value, which there is not; did you mean execution.values?', 1, 4],
    ['{{ links.tasks }}', 'names links.tasks, which there is not; did you mean links.task?', 1, 4],
  ])('is a variable that does not exist: %j', (text, message, line, column) => {
    expect(checkTemplate(text)).toEqual({ ok: false, reason: 'unknown_variable', message, line, column });
  });

  it.each([
    '{{ task.description }} {{ task.tags | join: ", " }} {{ task.tags[0] }} {{ task.tags.size }} {{ task["name"] }}',
    '{% for tag in task.tags %}{{ tag }} {{ forloop.index }}{% endfor %}',
    '{% assign price = values.price | times: 2 %}{{ price }} {% capture line %}{{ message }}{% endcapture %}{{ line }}',
    '{{ values.anything["at all"].deeper }} {{ value.whatever }} {{ execution.values.price }} {{ transition.to }}',
    '{{ organization.id }} {{ links.execution }} {{ execution.finishedAt | date: "%H:%M" }} {{ values[message] }}',
  ])('is none in what a task has, its code reported, or the template made itself: %j', (text) => {
    expect(checkTemplate(text)).toEqual({ ok: true });
  });

  it.each(['include', 'render', 'layout', 'block'])('is the tag %s, which would read a file', (tag) => {
    expect(checkTemplate(`{% ${tag} '/etc/passwd' %}`)).toMatchObject({ ok: false });
    expect(checkTemplate(`{% ${tag} "../package.json" %}{% end${tag} %}`)).toMatchObject({ ok: false });
  });
});

describe('a hostile template', () => {
  const long = 'x'.repeat(60_000);
  it.each([
    ['loops over a huge range', '{% for i in (1..999999999) %}x{% endfor %}'],
    [
      'loops inside loops',
      '{% for a in (1..900) %}{% for b in (1..900) %}{% for c in (1..900) %}{% endfor %}{% endfor %}{% endfor %}',
    ],
    [
      'loops over a list inside itself',
      '{% assign l = (1..300) %}{% for a in l %}{% for b in l %}{% for c in l %}{% endfor %}{% endfor %}{% endfor %}',
    ],
    ['writes a long text again and again', `{% for i in (1..1000) %}${long}{% endfor %}`],
    [
      'captures a long text again and again',
      `{% capture c %}{% for i in (1..1000) %}${long}{% endfor %}{% endcapture %}`,
    ],
    ['doubles a text', `{% assign s = 'xxxxxxxx' %}${'{% assign s = s | append: s %}'.repeat(40)}{{ s }}`],
    ['replaces each character by many', `{% assign s = '${'a'.repeat(5_000)}' %}{{ s | replace: 'a', s }}`],
    ['pads a date', "{{ 'now' | date: '%999999999d' }}"],
    ['lies deep in itself', '{% if true %}'.repeat(20_000) + '{% endif %}'.repeat(20_000)],
    ['lies deep in itself by another tag', '{% tablerow i in (1..2) %}'.repeat(51) + '{% endtablerow %}'.repeat(51)],
    ['opens without end', '{{'.repeat(50_000)],
    ['opens tags without end', '{%'.repeat(50_000)],
    ['is too long', 'x'.repeat(200_000)],
  ])('that %s ends with a clear failure', (_what, text) => {
    expect(failureOf(text)).toMatchObject({ code: 'VALIDATION_ERROR', reason: 'template_failed' });
  });

  it('does not reach prototypes', () => {
    for (const path of ['__proto__', 'constructor', 'task.__proto__', 'task.constructor.name', 'values["__proto__"]']) {
      expect(renderTemplate(`[{{ ${path} }}]`, variables, 'text')).toBe('[]');
    }
    renderTemplate('{% assign __proto__ = values %}{% capture __proto__ %}x{% endcapture %}', variables, 'text');
    expect(({} as Record<string, unknown>)['list']).toBeUndefined();
  });

  it('of any text ends with a text or a clear failure', () => {
    const piece = fc.oneof(
      fc.constantFrom('{{', '}}', '{%', '%}', '{%-', '-%}', ' if ', ' for i in ', 'values', '.', '|', ' append: ', '"'),
      fc.constantFrom(
        '{% if a %}',
        '{% endif %}',
        '{% raw %}',
        '{% endraw %}',
        '(1..9)',
        '{% liquid\n',
        'echo a\n',
        '__proto__',
      ),
      fc.string({ maxLength: 8 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.constantFrom(...templateEscapes), (pieces, escape) => {
        const text = pieces.join('');
        const checked = checkTemplate(text);
        if (!checked.ok) {
          expect(checked.line).toBeGreaterThan(0);
          expect(checked.message).not.toBe('');
        }
        try {
          expect(typeof renderTemplate(text, variables, escape)).toBe('string');
        } catch (error) {
          expect(error).toMatchObject({ reason: 'template_failed' });
        }
      }),
      { numRuns: 500 },
    );
  });

  it('cannot put a second line into a header, whatever the value', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (message) => {
        const line = renderTemplate('{{ message }}', { ...variables, message }, 'header');
        // Control characters are what must not pass
        expect(line).not.toMatch(/[\u0000-\u001f\u007f\u2028\u2029]/);
      }),
    );
  });
});
