/** The channels that there are, each with the schema of its settings: all of them, so as many pages as it takes. */
import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.js';
import type { FieldSchema } from './field-kinds.js';

export interface ActionType {
  readonly type: string;
  readonly configSchema: FieldSchema;
  readonly available: boolean;
}

export function useActionTypes() {
  return useQuery({
    queryKey: ['action-types'],
    staleTime: Infinity,
    queryFn: async () => {
      const types: unknown[] = [];
      for (let page = 1; ; page += 1) {
        const query = { page, limit: 100 };
        const { data, pagination } = await answerOf(api.GET('/api/action-types', { params: { query } }));
        types.push(...data);
        if (page >= pagination.pages) return types as readonly ActionType[];
      }
    },
  });
}
