/** Short names for what the API calls its components. */
import type { components } from './schema.js';

type Schemas = components['schemas'];

export type Task = Schemas['Notification'];
export type TaskInput = Schemas['NotificationInput'];
export type Action = Schemas['Action'];
export type ActionInput = Schemas['ActionInput'];
export type Schedule = Schemas['Schedule'];
export type Policy = Schemas['Policy'];
export type RecentRuns = Schemas['RecentRuns'];
export type Execution = Schemas['Execution'];
export type Delivery = Schemas['Delivery'];
export type Explanation = Schemas['Explanation'];
export type HistoryEntry = Schemas['HistoryEntry'];
export type Trial = Schemas['Trial'];
export type Backtest = Schemas['Backtest'];
export type Session = Schemas['Session'];
export type ApiKey = Schemas['ApiKey'];
export type BrowserStep = Schemas['BrowserStep'];
export type MessagePreview = Schemas['MessagePreview'];
export type Contact = Schemas['Contact'];
export type AuditEntry = Schemas['AuditEntry'];
export type ContactInput = Schemas['ContactInput'];
