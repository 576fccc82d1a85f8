/** How folding stands, told by the process that folds: for probes and the command line. */
import type { StateCollection } from '#shared-state/shared-state';

export interface FoldingState {
  readonly at: string;
  /** Why days cannot be archived; null: they can, or are not. */
  readonly archiveFault: string | null;
  /** When the next day will be old enough. */
  readonly nextAt: string;
}

export const foldingState: StateCollection<FoldingState> = { name: 'folding', indexedBy: null };
export const foldingStateKey = 'folding';
