/** What a message and the one that ends it have in common at the receiver. */
import { createHash } from 'node:crypto';
import type {
  BuildContext,
  GatheredMessage,
  HttpBatch,
  HttpOutgoing,
  NothingToSend,
  Notification,
  Receipt,
} from './channel.js';

/** One of an action's episodes; a message that stands for itself, such as a test, has one of its own. Below 128 characters. */
export function episodeKey({ taskId, action, kind, episode, deliveryId }: Notification): string {
  return `meerkat/${taskId}/${action.id}/${kind === 'test' || episode === undefined ? deliveryId : episode}`;
}

/** The same as a word of letters and digits, where a receiver takes no other. */
export function episodeWord(request: Notification): string {
  return `meerkat-${createHash('sha256').update(episodeKey(request)).digest('hex').slice(0, 24)}`;
}

function alone(digest: Notification, item: GatheredMessage): Notification {
  const { items: _items, openedBy: _openedBy, episode, acknowledgeToken, ...rest } = digest;
  // The link that acknowledges is that of the first episode.
  const isLinked = item.episode === episode && acknowledgeToken !== undefined;
  return { ...rest, ...item, ...(isLinked ? { acknowledgeToken } : {}) };
}

/** How one episode stood at the end of a digest. */
export interface ToldEpisode {
  /** The last message that does not say that it is over. null: it was told before. */
  readonly told: Notification | null;
  /** The one that says that it is over. null: it is not. */
  readonly ended: Notification | null;
}

function after(told: Notification | null, message: Notification): ToldEpisode {
  return message.kind === 'recovered' ? { told, ended: message } : { told: message, ended: null };
}

/** Of a digest each episode that it tells of, the first one first; of any other message its own. */
export function episodesIn(request: Notification): readonly ToldEpisode[] {
  const { items } = request;
  if (items === undefined) return [after(null, request)];
  const episodes = new Map<string | undefined, ToldEpisode>();
  for (const item of items) {
    episodes.set(item.episode, after(episodes.get(item.episode)?.told ?? null, alone(request, item)));
  }
  return [...episodes.values()];
}

/** More than a channel goes on for one message. */
const roundsPerMessage = 4;

type BuildHttp<Config> = (config: Config, request: Notification, context: BuildContext) => HttpBatch | NothingToSend;

/**
 * For services that keep something open for each episode: a digest as a whole would open what nothing ends, and would not
 * end what is over. So its episodes are told one by one, each as it stands.
 */
export function eachEpisode<Config>(build: BuildHttp<Config>): BuildHttp<Config> {
  return (config, request, context) => {
    if (request.items === undefined) return build(config, request, context);
    const { opened = null, receipts = [] } = context;
    const episodes = episodesIn(request);
    const requests: HttpOutgoing[] = [];
    /** As far as it goes by what was answered so far. True: that is all of it. */
    const add = (message: Notification, own: Receipt | null): boolean => {
      const from = requests.length;
      for (let known = 0, built = build(config, message, { ...context, opened: own, receipts: [] }); ;) {
        // Where there is nothing to end, nothing need be said.
        if (built.kind === 'none') return true;
        requests.splice(from, requests.length, ...built.requests);
        if (built.more !== true) return true;
        if (receipts.length < requests.length || built.requests.length === known) return false;
        known = built.requests.length;
        built = build(config, message, { ...context, opened: own, receipts: receipts.slice(from, from + known) });
      }
    };
    const addEpisode = ({ told, ended }: ToldEpisode): boolean => {
      const from = requests.length;
      const isFirst = (told ?? ended)?.episode === request.episode;
      const own = isFirst ? opened : null;
      if (told !== null && !add(told, own)) return false;
      if (ended === null) return true;
      // What ends it needs what the message before it was given.
      if (told !== null && receipts.length < requests.length) return false;
      const given = receipts.slice(from, requests.length).findLast((receipt) => receipt !== null);
      return add(ended, own ?? given ?? null);
    };
    const isAll = episodes.every(addEpisode);
    const rounds = 2 * roundsPerMessage * episodes.length;
    return { kind: 'http', requests, inOrder: true, ...(isAll ? {} : { more: true, rounds }) };
  };
}

/** An UUID that is the same on every try of a message. */
export function deliveryUuid({ deliveryId }: Pick<Notification, 'deliveryId'>): string {
  const hex = createHash('sha256').update(deliveryId).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16).padStart(2, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`;
}
