/** The members of the organisation. */
import { useQuery } from '@tanstack/react-query';
import { answerOf, api } from '../api/client.js';

export const membersKey = ['members'] as const;

export const useMembers = () =>
  useQuery({
    queryKey: membersKey,
    queryFn: () => answerOf(api.GET('/api/members', { params: { query: { limit: 100 } } })),
  });
