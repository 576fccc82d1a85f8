/** Carries out a command on a contact. */
import { randomUUID } from 'node:crypto';
import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { RequestContext } from '#bus/bus';
import { contactStream, type ContactCommand } from '#contracts/contact';
import { runCommand } from '#eventing/run-command';
import { EVENT_STORE, type EventStore } from '#event-store/event-store';
import { CLOCK, toTimestamp, type Clock } from '#runtime/clock';
import { contactDecider } from './domain/contact.js';

export class ChangeContact {
  constructor(
    readonly command: ContactCommand,
    readonly context: RequestContext,
  ) {}
}

@CommandHandler(ChangeContact)
export class ChangeContactHandler implements ICommandHandler<ChangeContact, { readonly position: number | null }> {
  readonly #eventStore: EventStore;
  readonly #clock: Clock;

  constructor(@Inject(EVENT_STORE) eventStore: EventStore, @Inject(CLOCK) clock: Clock) {
    this.#eventStore = eventStore;
    this.#clock = clock;
  }

  async execute({ command, context }: ChangeContact): Promise<{ readonly position: number | null }> {
    const name = command.type === 'removeContact' ? command.name : command.contact.name;
    const { position } = await runCommand(this.#eventStore, contactDecider, {
      stream: contactStream(context.organizationId, name),
      command,
      // Of two at once, each with secrets of its own making, the second has to learn that it was the second.
      commandId: randomUUID(),
      metadata: { ...context, causationId: null, at: toTimestamp(this.#clock.now()) },
      from: 'all',
    });
    return { position };
  }
}
