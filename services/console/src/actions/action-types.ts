/** The channels that there are, each with the schema of its settings. */
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
    queryFn: async () => (await answerOf(api.GET('/api/action-types'))).data as unknown as readonly ActionType[],
  });
}
