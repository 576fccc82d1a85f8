/** Tells the audit what people do that changes no setting: asked of the accounts service, and on record before it is answered. */
import { Inject, Injectable } from '@nestjs/common';
import { BUS, type Bus, type RequestContext } from '#bus/bus';
import type { ActivityEvent } from '#contracts/activity';
import { requests } from '#contracts/catalogue';
import type { JsonObject } from '#runtime/json';

@Injectable()
export class Activities {
  constructor(@Inject(BUS) private readonly bus: Bus) {}

  /** Rejects where it cannot be recorded: then the request fails, and can be sent again. */
  async record(activity: ActivityEvent, context: RequestContext): Promise<void> {
    await this.bus.request(requests.activityRecord, activity satisfies JsonObject, context);
  }
}
