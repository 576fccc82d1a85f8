/** What some roles may open alone: whoever has another is told which. */
import type { ReactNode } from 'react';
import { useTitle } from '../frame/title.js';
import type { TextKey } from '../text/catalogue.js';
import { useTexts } from '../text/text.js';
import { useMay, useSession } from './session.js';

/** What not every role may do. */
type RareScope = 'write' | 'admin';

const sentences = { write: 'role.mayWrite', admin: 'role.mayAdminister' } as const;

export function WhoMay({ scope }: { readonly scope: RareScope }): ReactNode {
  const { t } = useTexts();
  const { role } = useSession();
  return <p className="notice">{t(sentences[scope], { role: t(`role.${role}`) })}</p>;
}

function NotForRole({ title, scope }: { readonly title: TextKey; readonly scope: RareScope }): ReactNode {
  const { t } = useTexts();
  useTitle(t(title));
  return (
    <div className="stack">
      <h1>{t(title)}</h1>
      <WhoMay scope={scope} />
    </div>
  );
}

/** A page by its title. */
export function OnlyFor(props: {
  readonly title: TextKey;
  readonly scope: RareScope;
  readonly children: ReactNode;
}): ReactNode {
  const { title, scope, children } = props;
  return useMay(scope) ? children : <NotForRole title={title} scope={scope} />;
}
