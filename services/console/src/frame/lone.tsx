/** A page of somebody who is not signed in: one thing to do, nothing around it. */
import type { ReactNode } from 'react';
import { Meerkat } from './brand.js';
import './frame.css';

export function Lone({ children }: { readonly children: ReactNode }): ReactNode {
  return (
    <div className="lone">
      <main>
        <a className="brand" href="/">
          <Meerkat /> Meerkat
        </a>
        {children}
      </main>
    </div>
  );
}
