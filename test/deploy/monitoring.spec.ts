/** What stands in deploy/monitoring speaks of metrics that there are, with labels that they have. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { createInstallation } from '../e2e/kit/create-installation.js';
import type { Installation } from '../e2e/kit/installation.js';

const rules = z.object({
  groups: z.array(
    z.object({
      name: z.string(),
      rules: z
        .array(
          z.strictObject({
            alert: z.string().regex(/^[A-Z][A-Za-z]+$/),
            expr: z.string(),
            for: z.string().regex(/^\d+[smh]$/),
            labels: z.strictObject({ severity: z.enum(['critical', 'warning']) }),
            annotations: z.strictObject({ summary: z.string() }),
          }),
        )
        .min(1),
    }),
  ),
});

let installation: Installation;
beforeAll(async () => {
  installation = await createInstallation();
  await installation.start();
});
afterAll(() => installation.remove());

describe('the alerts for Prometheus', () => {
  it('name metrics and labels that /metrics has', async () => {
    const file = await readFile(new URL('../../deploy/monitoring/prometheus-rules.yml', import.meta.url), 'utf8');
    const alerts = rules.parse(parse(file)).groups.flatMap((group) => group.rules);
    const { text } = await installation.api.send('/metrics', { key: null });
    const known = new Set([...text.matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name));
    const named = alerts.flatMap(({ expr }) => expr.match(/meerkat_\w+/g) ?? []);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
    for (const label of ['health="error"', 'quantile="0.99"']) expect(text).toContain(label);
  });
});
