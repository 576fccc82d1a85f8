/** A page, or markup as it is read inside of an element. */
export interface TrainingPage {
  /** `document`, or the tag of that element. */
  readonly context: string;
  readonly html: string;
}

export function makeTrainingPages(): readonly TrainingPage[];
