// planted: libs-below-services
import { owns } from '../../services/accounts/member.js';

export const mine = owns;
