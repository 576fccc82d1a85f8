import { describe, expect, it } from '@jest/globals';
import { html } from './html.js';

describe('HTML as a template', () => {
  it('takes all that is put in for text, unless a template made it', () => {
    const name = `</title><script>alert("1")</script>'&`;
    const text = '&lt;/title&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&#39;&amp;';
    expect(html`<b title="${name}">${name}</b>`.markup).toBe(`<b title="${text}">${text}</b>`);
    expect(html`${html`<i>${name}</i>`}`.markup).toBe(`<i>${text}</i>`);
    expect(html`${[html`<i></i>`, '<', 1, null, false]}`.markup).toBe('<i></i>&lt;1');
  });

  it('has no marks that turn the direction of what follows', () => {
    expect(html`${'a\u202Eb\u2066c'}`.markup).toBe('abc');
  });
});
