// planted: one-service-runner
import type { OnApplicationBootstrap } from '@nestjs/common';

export declare class Starter implements OnApplicationBootstrap {
  onApplicationBootstrap(): void;
}
