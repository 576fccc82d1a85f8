/** People at an installation: signed in as a browser is, by a cookie and with the origin of its pages. */
import { Secret, TOTP } from 'otpauth';
import { z } from 'zod';
import type { Reply, Send } from './api.js';
import { ownerEmail, ownerPassword, type Installation } from './installation.js';

export interface Person {
  readonly id: string;
  readonly organizationId: string;
  /** The Cookie header of their browser, as the last answer set it. */
  readonly cookie: string;
  send(path: string, request?: Send): Promise<Reply>;
}

const session = z.object({
  data: z.object({ account: z.object({ id: z.string() }), organization: z.object({ id: z.string() }) }),
});
const invitation = z.object({ data: z.object({ id: z.string(), invitationUrl: z.string() }) });

export const personPassword = 'correct horse battery staple';
export const tokenOf = (url: string): string => url.slice(url.lastIndexOf('/') + 1);

const cookieIn = ({ headers }: Reply): string | null => headers.get('set-cookie')?.split(';')[0] ?? null;

/** Of the answer that signed somebody in. */
function personOf(installation: Installation, reply: Reply): Person {
  const { account, organization } = session.parse(reply.body).data;
  let cookie = cookieIn(reply) ?? '';
  return {
    id: account.id,
    organizationId: organization.id,
    get cookie() {
      return cookie;
    },
    async send(path, request = {}) {
      const headers = { cookie, origin: installation.url, ...request.headers };
      const answer = await installation.api.send(path, { key: null, ...request, headers });
      cookie = cookieIn(answer) ?? cookie;
      return answer;
    },
  };
}

export async function signIn(
  installation: Installation,
  who: { readonly email?: string; readonly password?: string; readonly code?: string } = {},
): Promise<Person> {
  const json = { email: ownerEmail, password: ownerPassword, ...who };
  const reply = await installation.api.send('/api/sessions', { json, key: null });
  if (reply.status !== 201) throw new Error(`not signed in: ${reply.text}`);
  return personOf(installation, reply);
}

let invited = 0;

/** By who may: an owner where nobody is named. Returns the token of the link. */
export async function invite(
  { api }: Installation,
  role: string,
  by?: Pick<Person, 'send'>,
  email = `person${(invited += 1)}@example.com`,
): Promise<{ readonly token: string; readonly email: string; readonly id: string }> {
  const reply = await (by ?? api).send('/api/members', { json: { email, role } });
  const { invitationUrl, id } = invitation.parse(reply.body).data;
  return { token: tokenOf(invitationUrl), email, id };
}

export async function join(installation: Installation, token: string): Promise<Person> {
  const json = { password: personPassword };
  return personOf(installation, await installation.api.send(`/api/invitations/${token}`, { json, key: null }));
}

/** Somebody new, who has joined. */
export async function addPerson(
  installation: Installation,
  role: string,
  by?: Pick<Person, 'send'>,
): Promise<Person & { readonly email: string }> {
  const { token, email } = await invite(installation, role, by);
  return Object.assign(await join(installation, token), { email });
}

/** Another organisation with its owner, made by an operator. */
export async function addOrganization(
  installation: Installation,
  name: string,
  more: object = {},
): Promise<{ readonly owner: Person; readonly key: string; readonly id: string }> {
  const operator = await signIn(installation);
  const json = { name, ownerEmail: `owner-of-${name.toLowerCase()}@example.com`, ...more };
  const reply = await operator.send('/api/organizations', { json });
  const { invitationUrl } = z.object({ data: z.object({ invitationUrl: z.string() }) }).parse(reply.body).data;
  const owner = await join(installation, tokenOf(invitationUrl));
  const made = await owner.send('/api/keys', { json: { name: 'all', scopes: ['admin'] } });
  const { key } = z.object({ data: z.object({ key: z.string() }) }).parse(made.body).data;
  return { owner, key, id: owner.organizationId };
}

/** What an authenticator app shows. */
export function codeOf(secret: string, atMs: number = Date.now()): string {
  return new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: atMs });
}
