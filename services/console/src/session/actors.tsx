/** Who did something, as people call them: `user:usr_…` and `key:key_…` are how the API writes them. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answerOf, api } from '../api/client.js';
import { useTexts } from '../text/text.js';
import { useMay, useSession } from './session.js';

const mostNamed = 100;

/** Members and keys are an administrator's to see; others see ids. */
function useKnownNames() {
  return useQuery({
    queryKey: ['actors'],
    enabled: useMay('admin'),
    staleTime: 60_000,
    queryFn: async () => {
      const query = { limit: mostNamed };
      const [members, keys] = await Promise.all([
        answerOf(api.GET('/api/members', { params: { query } })),
        answerOf(api.GET('/api/keys', { params: { query } })),
      ]);
      return {
        names: new Map<string, string>([
          ...members.data.map(({ id, email }) => [`user:${id}`, email] as const),
          ...keys.data.map(({ id, name }) => [`key:${id}`, name] as const),
        ]),
        hasAllMembers: members.data.length < mostNamed,
      };
    },
  });
}

export interface ActorNames {
  readonly nameOf: (actor: string) => string;
  /** Back from a name to how the API writes it; null where it is the name of nobody. */
  readonly actorOf: (name: string) => string | null;
  /** All that are known, for a field that offers them. */
  readonly known: readonly string[];
}

export function useActorNames(): ActorNames {
  const { t } = useTexts();
  const { account } = useSession();
  const { data: { names, hasAllMembers } = { names: new Map<string, string>(), hasAllMembers: false } } =
    useKnownNames();
  const nameOf = (actor: string): string => {
    if (actor === `user:${account.id}`) return account.email;
    const name = names.get(actor);
    if (name === undefined) return hasAllMembers && actor.startsWith('user:') ? t('actor.former', { actor }) : actor;
    return actor.startsWith('key:') ? t('actor.key', { name }) : name;
  };
  return {
    nameOf,
    actorOf: (name) => [...names.keys()].find((actor) => nameOf(actor) === name || names.get(actor) === name) ?? null,
    known: [...names.keys()].map(nameOf),
  };
}

export function Actor({ actor }: { readonly actor: string }): ReactNode {
  const { nameOf } = useActorNames();
  return <bdi title={actor}>{nameOf(actor)}</bdi>;
}
