// planted: domain-stays-pure
import { Injectable } from '@nestjs/common';

export const mark = Injectable;
