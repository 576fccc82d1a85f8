/** Who did something, as people call them: `user:usr_…` and `key:key_…` are how the API writes them. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answerOf, api } from '../api/client.js';
import { useTexts } from '../text/text.js';
import { useMay, useSession } from './session.js';

/** Members and keys are an administrator's to see; whoever is none sees ids. */
export function useActorNames(): (actor: string) => string {
  const { t } = useTexts();
  const isAdmin = useMay('admin');
  const { account } = useSession();
  const names = useQuery({
    queryKey: ['actors'],
    enabled: isAdmin,
    staleTime: 60_000,
    queryFn: async () => {
      const query = { limit: 100 };
      const [members, keys] = await Promise.all([
        answerOf(api.GET('/api/members', { params: { query } })),
        answerOf(api.GET('/api/keys', { params: { query } })),
      ]);
      return new Map<string, string>([
        ...members.data.map(({ id, email }) => [`user:${id}`, email] as const),
        ...keys.data.map(({ id, name }) => [`key:${id}`, name] as const),
      ]);
    },
  });
  return (actor) => {
    if (actor === `user:${account.id}`) return account.email;
    const name = names.data?.get(actor);
    if (name === undefined) return actor;
    return actor.startsWith('key:') ? t('actor.key', { name }) : name;
  };
}

export function Actor({ actor }: { readonly actor: string }): ReactNode {
  const nameOf = useActorNames();
  return <bdi title={actor}>{nameOf(actor)}</bdi>;
}
