/** Asks for messages as they would be sent. */
import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { MessagePreview, PreviewQuery } from '#contracts/message-preview';
import type { Preview } from './preview.js';

export const PREVIEW = Symbol('Preview');

export class MessageQuery {
  constructor(readonly query: PreviewQuery) {}
}

@QueryHandler(MessageQuery)
export class MessageQueryHandler implements IQueryHandler<
  MessageQuery,
  { readonly messages: readonly MessagePreview[] }
> {
  constructor(@Inject(PREVIEW) private readonly preview: Preview) {}

  async execute({ query: { ownerId, notifications } }: MessageQuery) {
    const messages: MessagePreview[] = [];
    for (const notification of notifications) messages.push(await this.preview(notification, ownerId));
    return { messages };
  }
}
