/** What specs of the console stand on: a world to watch, an installation, and a browser; each test opens its own seat. */
import type { Browser } from 'playwright-core';
import { launchChromium } from './browser.js';
import { createInstallation } from './create-installation.js';
import type { Installation } from './installation.js';
import { until } from './until.js';
import { startWorld, type World } from './watch.js';

export interface OpenConsole {
  readonly world: World;
  readonly installation: Installation;
  readonly browser: Browser;
}

/** `settings`: of the installation, beside its own. */
export async function openConsole(settings: Readonly<Record<string, string>> = {}): Promise<OpenConsole> {
  const world = await startWorld();
  const installation = await createInstallation({ smtpUrl: world.mails.url, settings });
  await installation.start();
  return { world, installation, browser: await launchChromium() };
}

export async function closeConsole({ world, installation, browser }: OpenConsole): Promise<void> {
  await browser.close();
  await installation.remove();
  await world.close();
}

/** Where every page of the console is, once a message of the task is on record. */
export async function everyAddress({ api }: Installation, taskId: string): Promise<readonly string[]> {
  const delivery = await until('a message is on record', async () => (await api.deliveries(taskId))[0]);
  const [run] = await api.executions(taskId);
  return [
    '/tasks',
    '/tasks?q=none-of-them',
    '/tasks?condition=true',
    '/new',
    ...['', '/condition', '/schedule', '/actions', '/history'].map((part) => `/tasks/${taskId}${part}`),
    '/executions',
    `/executions/${run?.id}?page=alone`,
    '/deliveries',
    `/deliveries/${delivery.id}`,
    '/audit',
    ...['you', 'keys', 'members', 'contacts', 'usage', 'retention', 'transfer'].map((part) => `/settings/${part}`),
  ];
}
