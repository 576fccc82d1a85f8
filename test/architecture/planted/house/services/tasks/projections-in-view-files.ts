// planted: projections-in-view-files
import type { Projected } from '#read-store/projected';

export declare const hiddenProjection: Projected<object>;
