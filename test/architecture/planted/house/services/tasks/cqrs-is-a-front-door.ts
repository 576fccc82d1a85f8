// planted: cqrs-is-a-front-door
import { AggregateRoot } from '@nestjs/cqrs';

export class Task extends AggregateRoot {}
