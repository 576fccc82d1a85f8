// planted: console-apart
import { owns } from '../../accounts/member.js';

export const mine = owns;
