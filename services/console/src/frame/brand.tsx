import type { ReactNode } from 'react';

export function Meerkat({ size = 24 }: { readonly size?: number }): ReactNode {
  return (
    <svg viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <path
        fill="var(--accent)"
        d="M16 2c5.2 0 8.4 3.7 8.4 8.6 0 2-.5 3.4-1.2 4.7 1.5 3.4 2.3 7.5 2.3 14.7h-19c0-7.2.8-11.3 2.3-14.7-.7-1.3-1.2-2.7-1.2-4.7C7.600 5.7 10.800 2 16 2Z"
      />
      <ellipse cx="12.6" cy="10.3" rx="2.5" ry="3" fill="var(--ground)" />
      <ellipse cx="19.4" cy="10.3" rx="2.5" ry="3" fill="var(--ground)" />
      <circle cx="12.900" cy="10.5" r="1.1" fill="var(--text)" />
      <circle cx="19.1" cy="10.5" r="1.1" fill="var(--text)" />
      <path d="M14.600 14.200h2.800L16 16Z" fill="var(--ground)" />
    </svg>
  );
}
