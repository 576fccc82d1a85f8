/** What the sandbox's specs run on: a page, jobs for it, and the reason of a result. */
import { defaultSandboxLimits } from './sandbox.js';
import type { EvaluationJob, EvaluationResult, Sandbox, SandboxPage } from './sandbox.js';

/** For code that is to be ended by its time. */
export const quick = { ...defaultSandboxLimits, cpuMs: 200 };
/** For all other code: no machine is so busy that its time runs out. */
export const patient = { ...defaultSandboxLimits, cpuMs: 10_000 };

export const shop = `<!doctype html><html lang="en"><head><title> The  shop </title><base href="/shop/"></head>
<body class="page dark"><h1>Hello <b>world</b></h1>
<ul id="list"><li class="item first">one</li><li class="item" data-sku-id="A1">two</li><li>three</li></ul>
<table><tr><th>name<th>price<tr><td>tea<td>1.234,50 €</table>
<form name="login" action="go"><input name="q" value="hi"><input type="checkbox" name="c" checked>
<select name="s"><option>a<option value="B" selected>b</select><textarea name="t">txt</textarea></form>
<a href="../x?y=1#z" rel="nofollow next">link</a><p>para one</p><p>two<br>lines</p>
<svg viewBox="0 0 1 1"><path d="M0"/></svg><template><i>in</i></template><!-- note -->
<script>var x = 1 < 2;</script><div hidden>no</div></body></html>`;

export function pageOf(markup: string, more: Partial<SandboxPage> = {}): SandboxPage {
  return {
    url: 'https://shop.example/start#part',
    finalUrl: 'https://shop.example/d/index.html',
    status: 200,
    headers: { 'content-type': 'text/html' },
    contentKind: 'html',
    body: new TextEncoder().encode(markup),
    ...more,
  };
}

export function jobOf(code: string, more: Partial<EvaluationJob> = {}): EvaluationJob {
  return {
    code,
    form: 'script',
    page: pageOf(shop),
    previous: null,
    state: {},
    seed: 'exe_1',
    nowMs: Date.UTC(2025, 0, 2, 3, 4, 5),
    limits: patient,
    ...more,
  };
}

/** Ways to ask a sandbox that is made before each suite. */
export function asking(sandbox: () => Sandbox) {
  const evaluate = (code: string, more?: Partial<EvaluationJob>): Promise<EvaluationResult> =>
    sandbox().evaluate(jobOf(code, more));
  const valueOf = async (expression: string, more?: Partial<EvaluationJob>): Promise<unknown> => {
    const result = await evaluate(`page.report('value', ${expression}); true`, more);
    if (!result.ok) throw new Error(`${expression}: ${result.failure.reason}: ${result.failure.message}`);
    return result.values['value'];
  };
  return { evaluate, valueOf };
}

export function reasonOf(result: EvaluationResult): string {
  return result.ok ? `outcome ${result.outcome}` : result.failure.reason;
}
