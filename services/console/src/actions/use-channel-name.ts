/** The names of channels in the language that the console speaks. */
import type { Action } from '../api/types.js';
import { useTexts } from '../text/text.js';
import type { ActionDraft } from './action-draft.js';
import { channelNameOf } from './channel-names.js';

export function useChannelName(): (type: string) => string {
  const { t } = useTexts();
  return (type) => channelNameOf(type, t);
}

/** What an action goes by: its channel, or the contact that holds the settings. */
export function useActionName(): (action: ActionDraft | Action) => string {
  const channelName = useChannelName();
  return (action) => ('contact' in action ? action.contact : channelName(action.type));
}
