/** The JSON Schema of configuration files: loaded when it is asked for alone. */
import { z } from 'zod';
import { configuration } from '../../gateway/configuration/configuration.js';

export function configurationSchema(): object {
  return {
    title: 'Meerkat configuration',
    ...z.toJSONSchema(configuration, { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' }),
  };
}
