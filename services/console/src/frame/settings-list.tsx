/** Settings of a channel as the service gives them: secrets are masked there already. */
import type { ReactNode } from 'react';

export function SettingsList({ settings }: { readonly settings: Readonly<Record<string, unknown>> }): ReactNode {
  return (
    <dl className="settings">
      {Object.entries(settings).map(([name, value]) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd>{typeof value === 'string' ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
