// planted: projections-in-view-files
import type { Projected } from '#eventing/projected';

export declare const hiddenProjection: Projected<object>;
