// planted: service-main-starts-only
import { owns } from '../accounts/member.js';

export const mine = owns;
