// planted: no-http-numbers
import { NotFoundException } from '@nestjs/common';

export const gone = (): Error => new NotFoundException();
