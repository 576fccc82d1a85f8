/** The setup page: sends the form to POST /api/setup, then shows the first API key, once. */

const byId = (id) => document.getElementById(id);
const form = byId('form');
const problem = byId('problem');
const submit = byId('submit');
const fields = ['setupToken', 'organization', 'email', 'password'];

/** The printed link carries the token behind #, so that it reaches no server's log; as ?token=… it works too. */
function tokenOfLink() {
  const inQuery = new URLSearchParams(location.search).get('token');
  return inQuery ?? new URLSearchParams(location.hash.slice(1)).get('token') ?? '';
}

function showFault(name, message) {
  const fault = byId(`${name}-fault`);
  fault.textContent = message;
  fault.hidden = message === '';
  if (message === '') byId(name).removeAttribute('aria-invalid');
  else byId(name).setAttribute('aria-invalid', 'true');
}

function showProblem(message) {
  problem.textContent = message;
  problem.hidden = message === '';
}

function clear() {
  showProblem('');
  for (const name of fields) showFault(name, '');
}

const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1) + (text.endsWith('.') ? '' : '.');

/** What the browser knows to be wrong before anything is sent; true where nothing is. */
function check() {
  const faulty = fields.filter((name) => !byId(name).checkValidity());
  for (const name of faulty) showFault(name, byId(name).validationMessage);
  if (faulty.length > 0) byId(faulty[0]).focus();
  return faulty.length === 0;
}

function showRefusal(status, error, retryAfter) {
  const named = (error?.details ?? []).filter(({ field }) => fields.includes(field));
  for (const { field, message } of named) showFault(field, sentence(message));
  if (named.length > 0) return byId(named[0].field).focus();
  if (status === 401) {
    showFault('setupToken', 'This token is wrong. Open the link that Meerkat printed at its last start.');
    return byId('setupToken').focus();
  }
  if (status === 404) showProblem('This instance is set up already. If that was not you, ask whoever runs it.');
  else if (status === 429) showProblem(`Too many tries. Try again in ${retryAfter ?? 'a few'} seconds.`);
  else showProblem(error?.message ?? `The server answered ${status}. Try again in a moment.`);
  return problem.focus();
}

/** For a shell: inside '…' nothing is special but the quote itself. */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

function exampleFor(key) {
  const task = {
    name: 'My first page',
    url: 'https://example.com/',
    evaluationFunction: 'return document.title !== "Example Domain"',
  };
  return [
    `curl ${location.origin}/api/notifications`,
    `  -H ${quoted(`Authorization: Bearer ${key}`)}`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${quoted(JSON.stringify(task))}`,
  ].join(' \\\n');
}

/** Set while the key is on the screen and nowhere else. */
function warnBeforeLeaving(event) {
  event.preventDefault();
}

function showDone({ organization, account, apiKey }) {
  form.reset();
  // The token is spent; it need not stay in the history.
  history.replaceState(null, '', '/setup');
  byId('done-organization').textContent = organization.name;
  byId('done-email').textContent = account.email;
  byId('key').value = apiKey;
  byId('example').textContent = exampleFor(apiKey);
  byId('ask').hidden = true;
  byId('done').hidden = false;
  document.title = 'Meerkat is set up';
  byId('done-title').focus();
  addEventListener('beforeunload', warnBeforeLeaving);
}

async function send() {
  const body = Object.fromEntries(fields.map((name) => [name, byId(name).value]));
  body.setupToken = body.setupToken.trim();
  body.email = body.email.trim();
  const response = await fetch('/api/setup', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = await response.json().catch(() => null);
  if (response.ok && answer !== null) showDone(answer.data);
  else showRefusal(response.status, answer?.error, response.headers.get('retry-after'));
}

async function setUp() {
  submit.disabled = true;
  submit.textContent = 'Setting up …';
  try {
    await send();
  } catch {
    showProblem('The server could not be reached. Is Meerkat still running?');
    problem.focus();
  } finally {
    submit.disabled = false;
    submit.textContent = 'Set up';
  }
}

form.addEventListener('submit', (event) => {
  event.preventDefault();
  clear();
  if (check()) void setUp();
});

byId('reveal').addEventListener('click', ({ currentTarget }) => {
  const password = byId('password');
  const shown = password.type === 'text';
  password.type = shown ? 'password' : 'text';
  currentTarget.setAttribute('aria-pressed', String(!shown));
  currentTarget.textContent = shown ? 'Show' : 'Hide';
});

/** Off loopback and without TLS a browser offers no clipboard: then the text is selected, for the keyboard to copy. */
async function copied(element) {
  const text = 'value' in element ? element.value : element.textContent;
  try {
    await navigator.clipboard.writeText(text);
    return 'Copied.';
  } catch {
    if ('select' in element) element.select();
    else getSelection().selectAllChildren(element);
    return 'Selected: copy it with Ctrl+C or ⌘C.';
  }
}

async function copy(id) {
  byId('copied').textContent = await copied(byId(id));
  removeEventListener('beforeunload', warnBeforeLeaving);
}

for (const button of document.querySelectorAll('button[data-copies]')) {
  button.addEventListener('click', () => void copy(button.dataset.copies));
}

byId('setupToken').value = tokenOfLink();
byId(byId('setupToken').value === '' ? 'setupToken' : 'organization').focus();
