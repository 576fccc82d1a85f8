/** Parameters in paths as the OpenAPI document describes them. Pure. */
import type { IdParameter, TextParameter } from './route.js';

export function describedParameter(parameter: IdParameter | TextParameter): Readonly<Record<string, unknown>> {
  if (!('prefix' in parameter)) {
    const { description, pattern, example } = parameter;
    return { description, schema: { type: 'string', pattern }, example };
  }
  const { prefix, of } = parameter;
  return {
    description: `Id of the ${of}.`,
    schema: { type: 'string', pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$` },
    example: `${prefix}_01k9q3v5zt8m2x4c6b7n8p9r0s`,
  };
}
