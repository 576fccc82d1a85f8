/** Events of a history that is read in one go, before readers see them. */
import type { JsonObject } from '#runtime/json';
import type { RecordedEvent } from './event-store.js';

/** An event's place, id and data as it is stored. */
export type HistoricData = Pick<RecordedEvent, 'stream' | 'revision' | 'id' | 'type' | 'data'>;

/** The last event of a stream, for who opens others with it. */
export type FindLast = (stream: string) => Pick<RecordedEvent, 'type' | 'data'> | null;

/** What an event holds, as readers want it; null: nobody can read it any more, and it is passed over. */
export type OpenHistoric = (event: HistoricData, findLast: FindLast) => JsonObject | null;
