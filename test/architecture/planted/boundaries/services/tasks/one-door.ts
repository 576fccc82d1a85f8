// planted: one-door
import { connect } from 'node:net';

export const reach = connect;
