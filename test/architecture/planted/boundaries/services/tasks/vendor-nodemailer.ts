// planted: vendor-nodemailer
import * as vendor from 'nodemailer';

export const used = vendor;
