// Baseline of `start`: the same framework with one route and nothing else.
import 'reflect-metadata';
import { Controller, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';

class HelloController {
  hello() {
    return { hello: 'world' };
  }
}
Controller()(HelloController);
Get('/')(HelloController.prototype, 'hello', Object.getOwnPropertyDescriptor(HelloController.prototype, 'hello'));

class HelloModule {}
Module({ controllers: [HelloController] })(HelloModule);

const application = await NestFactory.create(HelloModule, new FastifyAdapter(), { logger: false });
await application.listen(0, '127.0.0.1');
process.stdout.write(`ready at http://127.0.0.1:${application.getHttpServer().address().port}\n`);
