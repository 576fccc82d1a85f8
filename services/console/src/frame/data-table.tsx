/** A table on a card: its heads, its rows, and what it says where there are none. */
import type { ReactNode } from 'react';
import { useTexts } from '../text/text.js';

interface Props {
  readonly label: string;
  /** Null: the column of what can be done, named for screen readers alone. */
  readonly heads: readonly (string | null)[];
  /** Said where there is no row; null while it is not known yet. */
  readonly none?: string | null;
  readonly children: ReactNode;
}

export function DataTable({ label, heads, none = null, children }: Props): ReactNode {
  const { t } = useTexts();
  return (
    <section className="card scroll" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head ?? ''} scope="col">
                {head ?? <span className="visually-hidden">{t('history.do')}</span>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
      {none !== null && <p className="in muted">{none}</p>}
    </section>
  );
}

/** The way to what is older, where there is more. */
export function ShowEarlier({
  query,
}: {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
}): ReactNode {
  const { t } = useTexts();
  if (!query.hasNextPage) return null;
  return (
    <p>
      <button
        type="button"
        className="button"
        disabled={query.isFetchingNextPage}
        onClick={() => void query.fetchNextPage()}
      >
        {t('happened.earlier')}
      </button>
    </p>
  );
}
