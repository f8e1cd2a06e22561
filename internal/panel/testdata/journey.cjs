// A person's first hour with the panel, in a real browser with a virtual
// authenticator: sign in, register a passkey, answer asks, look things up.
const { chromium } = require('playwright-core');
const fs = require('fs');
const path = require('path');

const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const out = { seen: {}, problems: [] };
let page, context, cdp;

const axe = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

// A picture, and axe-core's opinion of what is on it.
async function shot(name) {
  await page.screenshot({ path: path.join(input.shots, `live-${name}.png`) });
  await cdp.send('Runtime.evaluate', { expression: axe }); // the debugger is not bound by the page's policy
  const { result } = await cdp.send('Runtime.evaluate', {
    expression: `axe.run(document.querySelector('dialog[open]') ?? document, {resultTypes: ['violations']}).then(r => JSON.stringify(r.violations.map(v => v.id + ' ' + v.nodes[0].target.join(' '))))`,
    awaitPromise: true, returnByValue: true });
  for (const v of JSON.parse(result.value)) out.problems.push(`axe on ${name}: ${v}`);
}
const open = (where) => page.goto(`${input.base}/panel/${where}`);
const live = () => page.waitForFunction(() => window.htmx && document.getElementById('live')?.dataset.state === 'on');

// The agent speaks HTTP with its own token, as agents do.
async function agent(key) {
  const res = await fetch(`${input.near}/resource/prod/${key}`, {
    method: 'PUT', headers: { Authorization: `Bearer ${input.agent}`, 'Content-Type': 'application/json' }, body: JSON.stringify({ value: { by: 'builder', key } }) });
  return { status: res.status, body: await res.json() };
}

async function ask(key) {
  const { status, body } = await agent(key);
  if (status !== 202) throw new Error(`the call for ${key} was answered ${status} ${JSON.stringify(body)}`);
  return body.data.approval;
}

const notice = () => page.locator('.notice-title').first().innerText();
// told does what leads to another page, and returns what that page says of it: forms are signed before they are sent, and a page
// that is left too early sends nothing.
async function told(act) {
  const loaded = page.waitForEvent('load');
  await act();
  await loaded;
  return (await page.locator('[data-toast]').last().textContent()).trim();
}

async function signIn() {
  const before = await page.goto(`${input.base}/panel/approvals`);
  out.seen.stranger = before.status();
  await page.goto(`${input.base}/signin?code=${input.code}`);
  await shot('signin');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/panel/');
  out.seen.home = await page.locator('h1').innerText();
  const again = await context.newPage();
  await again.goto(`${input.base}/signin?code=${input.code}`);
  await again.getByRole('button', { name: 'Sign in' }).click();
  out.seen.linkTwice = await again.locator('.notice-title').innerText();
  await again.close();
}

async function registerPasskey() {
  await open('passkeys/new');
  await page.getByLabel('Name').fill('laptop');
  await page.getByLabel('PIN').fill('000000');
  await page.getByRole('button', { name: 'Register' }).click();
  await page.waitForSelector('.notice-title');
  out.seen.passkeyWrongPin = await notice();
  await page.getByLabel('Name').fill('laptop');
  await page.getByLabel('PIN').fill(input.pin);
  out.seen.passkey = await told(() => page.getByRole('button', { name: 'Register' }).click());
  await page.waitForURL('**/panel/system');
  await shot('system');
}

async function approveLive() {
  await open('approvals');
  await live();
  out.seen.emptyInbox = await page.locator('.empty-title').innerText();
  const started = Date.now();
  await ask('a');
  await page.waitForSelector('.ask-item');
  out.seen.liveMs = Date.now() - started;
  await page.waitForFunction(() => document.querySelector('#side .count')?.textContent === '1');
  await shot('approvals');
  await page.keyboard.press('a');
  await shot('decide');
  out.seen.approved = await told(() => page.getByRole('button', { name: 'Approve with passkey' }).click());
  out.seen.afterApprove = (await agent('a')).status;
}

async function reworkWithPin() {
  const id = await ask('b');
  await page.waitForSelector(`.ask-item`);
  await page.keyboard.press('r');
  await page.getByLabel('What should change').fill('Put it under staging first.');
  await page.locator('#decide-rework').getByLabel('PIN').fill(input.pin);
  out.seen.rework = await told(() => page.getByRole('button', { name: 'Send back with PIN' }).click());
  const again = await agent('b');
  out.seen.afterRework = [again.status, again.body.error.includes('Put it under staging first.')];
  await open(`approvals/${id}`);
  out.seen.verdict = await notice();
  await shot('ask');
}

// Everything that is not a person, present, for this very decision.
async function attacks() {
  const id = await ask('c');
  await open(`approvals/${id}`);
  const digest = await page.locator('#decide-approve input[name=digest]').inputValue();
  const decide = (fields) => page.evaluate(async ([id, fields]) => {
    const { field, signature } = await import(document.querySelector('script[src$="/sign.js"]').src);
    const body = new URLSearchParams(fields);
    body.set(field, await signature(`/panel/approvals/${id}/decide`, body));
    const res = await fetch(`/panel/approvals/${id}/decide`, { method: 'POST', body, redirect: 'manual' });
    return res.type === 'opaqueredirect' ? 'done' : new DOMParser().parseFromString(await res.text(), 'text/html').querySelector('.ask-body .notice bdi + *, .ask-body .notice p + p')?.textContent.trim() ?? 'no notice';
  }, [id, fields]);
  const assertion = (verdict) => page.evaluate(async ([id, verdict, digest]) => {
    const { post } = await import(document.querySelector('script[src$="/sign.js"]').src);
    const res = await post(`/panel/approvals/${id}/decide/challenge`, { verdict, digest });
    const key = (await res.json()).publicKey;
    const c = await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(key) });
    return JSON.stringify(c.toJSON());
  }, [id, verdict, digest]);

  out.seen.cookieAlone = await decide({ verdict: 'approve', digest });
  out.seen.wrongPin = await decide({ verdict: 'approve', digest, pin: '111111' });
  const other = await assertion('cancel');
  out.seen.otherVerdict = await decide({ verdict: 'approve', digest, passkey: other });
  out.seen.otherDigest = await decide({ verdict: 'cancel', digest: digest.replace(/^./, (c) => (c === '0' ? '1' : '0')), passkey: other });
  out.seen.stillPending = await page.evaluate(async (id) => (await (await fetch(`/approval/${id}`)).json()).state, id);
  out.seen.rightVerdict = await decide({ verdict: 'cancel', digest, passkey: other });
  const d = await ask('d');
  await open(`approvals/${d}`);
  out.seen.apiWithCookie = await page.evaluate(async (id) => (await fetch(`/approval/${id}/decide`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ decision: 'approve' }) })).status, d);
}

async function replayed() {
  const id = await ask('e');
  await open(`approvals/${id}`);
  await page.keyboard.press('c');
  const sent = page.waitForRequest((r) => r.url().endsWith('/decide') && r.method() === 'POST');
  await told(() => page.getByRole('button', { name: 'Cancel with passkey' }).click());
  const body = (await sent).postData();
  const again = (body) => page.evaluate(async ([id, body]) => (await fetch(`/panel/approvals/${id}/decide`, { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body })).text(), [id, body]);
  out.seen.replayAsItWas = (await again(body)).includes('not signed by the browser');
  const anew = await page.evaluate(async ([id, body]) => {
    const { field, signature } = await import(document.querySelector('script[src$="/sign.js"]').src);
    const form = new URLSearchParams(body);
    form.set(field, await signature(`/panel/approvals/${id}/decide`, form));
    return form.toString();
  }, [id, body]);
  out.seen.replay = (await again(anew)).includes('answered another question');
}

async function resources() {
  await open('resources');
  await live();
  await page.keyboard.press('n');
  await page.getByLabel('Key', { exact: true }).fill('lock/deploy');
  await page.locator('#new-value').fill('{"holder":"me","note":"\u202ehidden"}');
  out.seen.put = await told(() => page.getByRole('button', { name: 'Make the key' }).click());
  out.seen.odd = await page.locator('.odd').first().innerText();
  await shot('resources');
  const stale = await context.newPage();
  await stale.goto(page.url());
  for (const p of [page, stale]) {
    await p.keyboard.press('e');
    await p.locator('#edit-value').fill('"changed"');
  }
  const stored = page.waitForEvent('load');
  await page.getByRole('button', { name: 'Change revision 1' }).click();
  await stored;
  await stale.waitForFunction(() => document.querySelector('.pairs dd').textContent.trim() === '2'); // the page around it is current
  await stale.getByRole('button', { name: 'Change revision 1' }).click();
  await stale.waitForSelector('.notice-title');
  const renewed = stale.waitForResponse((r) => r.request().headers()['hx-request'] === 'true');
  await stale.waitForFunction(() => window.htmx);
  await stale.evaluate(() => document.body.dispatchEvent(new CustomEvent('live-resource')));
  await renewed;
  await stale.waitForTimeout(300); // the refusal stays when the page around it is renewed
  out.seen.staleEdit = await stale.locator('.notice-title').innerText();
  await stale.close();
}

async function lookUp() {
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.waitForURL('**/panel/journal');
  await page.keyboard.press('/');
  await page.keyboard.type('approval.decide staging');
  await page.keyboard.press('Enter');
  await page.waitForURL(/q=approval\.decide/);
  out.seen.found = await page.locator('tbody tr').count();
  await shot('journal');
  await page.locator('[data-row-link]').first().click();
  await page.waitForURL(/journal\/\d+$/);
  out.seen.payload = (await page.locator('.block code').first().innerText()).includes('"present": "pin"');
  await page.keyboard.press('p');
  await page.waitForURL(/proof$/);
  out.seen.proof = await notice();
  await shot('proof');
  await open('policy?actor=builder&op=resource.put&resource=resource:/prod/x');
  out.seen.explained = await page.locator('.answer-word').innerText();
  await shot('policy');
  await open('actors');
  await page.getByRole('link', { name: 'builder', exact: true }).click();
  out.seen.actor = await page.locator('h1').innerText();
  await shot('actor');
}

// Two tabs share one stream; the other keeps current when its holder closes.
async function tabs() {
  await open('resources');
  await live();
  const second = await context.newPage();
  await second.goto(`${input.base}/panel/resources`);
  await second.waitForFunction(() => document.getElementById('live')?.dataset.state === 'on');
  const put = (key) => fetch(`${input.near}/resource/${key}`, { method: 'PUT', headers: { Authorization: `Bearer ${input.agent}`, 'Content-Type': 'application/json' }, body: '{"value":1}' });
  await put('tabs/one');
  await second.waitForSelector('text=tabs/one');
  await page.waitForSelector('text=tabs/one');
  await open('system'); // gives the stream up
  await second.waitForTimeout(300);
  await put('tabs/two');
  await second.waitForSelector('text=tabs/two');
  out.seen.tabs = true;
  await second.close();
}

async function grants() {
  await open('policy');
  await page.keyboard.press('n');
  await page.getByLabel('Who', { exact: true }).fill('agent:builder');
  await page.getByLabel('Effect').selectOption('deny');
  await page.getByLabel('edit', { exact: true }).check();
  await page.getByLabel('On', { exact: true }).fill('resource:/frozen');
  await told(() => page.getByRole('button', { name: 'Grant with passkey' }).click());
  const frozen = () => fetch(`${input.near}/resource/frozen/x`, { method: 'PUT', headers: { Authorization: `Bearer ${input.agent}`, 'Content-Type': 'application/json' }, body: '{"value":1}' }).then((r) => r.status);
  out.seen.denied = await frozen();
  await page.locator('tr', { hasText: 'resource:/frozen' }).getByRole('link', { name: /^Revoke/ }).click();
  await told(() => page.getByRole('button', { name: 'Revoke with passkey' }).click());
  out.seen.allowedAgain = await frozen();
  await open('journal/verify');
  out.seen.check = await notice();
  await shot('check');
}

async function tokens() {
  await open('actors');
  await page.keyboard.press('n');
  await page.getByLabel('For', { exact: true }).selectOption('builder');
  await page.getByLabel('Label').fill('build server');
  await page.getByRole('button', { name: 'Make with passkey' }).click();
  await page.waitForSelector('.notice');
  const secret = await page.locator('main .block code').first().innerText();
  const works = () => fetch(`${input.near}/whoami`, { headers: { Authorization: `Bearer ${secret}` } }).then((r) => r.status);
  out.seen.minted = await works();
  await shot('token');
  await open('actors');
  await page.locator('tr', { hasText: 'build server' }).getByRole('link', { name: /^Revoke/ }).click();
  await page.getByLabel('PIN').fill(input.pin);
  await page.getByRole('button', { name: 'Revoke with PIN' }).click();
  await page.waitForURL('**/panel/actors**');
  out.seen.revoked = await works();
}

// A session from the panel alone: open it, say something, read the answer as it arrives.
async function chat() {
  await open('sessions');
  await page.keyboard.press('n');
  await page.getByLabel('Title', { exact: true }).fill('Say something');
  await page.getByRole('button', { name: 'Open the session' }).click();
  await page.waitForURL(/sessions\/ses_/);
  await live();
  await page.keyboard.press('i');
  await page.keyboard.type('good <b>morning</b>');
  await page.keyboard.press('Control+Enter');
  await page.waitForSelector('.say-agent .md');
  await page.waitForFunction(() => document.querySelector('.chat-state .state')?.textContent.trim() === 'done');
  out.seen.said = (await page.locator('.say-agent .md').first().innerText()).includes('good <b>morning</b>');
  await shot('session');
  await open('sessions');
  out.seen.sessionRow = await page.locator('tbody tr', { hasText: 'Say something' }).locator('.state').innerText();
  await open('models');
  out.seen.providers = await page.locator('tr', { hasText: 'Local echo' }).locator('.state').innerText();
}

// A space and a task, dragged to who works on it: the visitor.
async function board() {
  await open('board');
  out.seen.noSpace = await page.locator('.empty-title').innerText();
  await open('spaces');
  await page.getByLabel('Name').fill('release');
  await page.getByRole('button', { name: 'Open', exact: true }).click();
  await page.waitForSelector('.members li');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.waitForSelector('.invite');
  await shot('space');
  await open('board');
  await page.keyboard.press('n');
  await page.getByLabel('Title', { exact: true }).fill('Look into <b>it</b>');
  await page.getByRole('button', { name: 'Add the task' }).click();
  await page.waitForSelector('[data-column=open] .task');
  await live();
  const from = await page.locator('[data-column=open] .task').boundingBox();
  const to = await page.locator('[data-column=in_progress]').boundingBox();
  await page.mouse.move(from.x + 40, from.y + from.height - 8);
  await page.mouse.down();
  await page.mouse.move(to.x + 40, to.y + 20, { steps: 12 });
  await page.mouse.move(to.x + 44, to.y + 30, { steps: 3 });
  await page.mouse.up();
  await page.waitForSelector('[data-column=in_progress] .task strong');
  out.seen.task = await page.locator('[data-column=in_progress] .task-title').innerText();
  await shot('board');
  await page.locator('.task-title').click();
  await page.getByLabel('To', { exact: true }).selectOption('done');
  await page.getByLabel('With these words').fill('It was the cache.');
  await page.getByRole('button', { name: 'Move' }).click();
  await page.waitForSelector('[data-column=done] .task');
  await open('spaces');
  out.seen.spaceCards = (await page.locator('.card-head h2').allInnerTexts()).join(', ');
  await page.locator('a[href^="/panel/spaces/hosted/"]').click();
  await page.waitForSelector('caption:text("Tasks")', { state: 'attached' });
  out.seen.hosted = await page.locator('tbody td').nth(1).innerText();
  out.seen.hostedWords = String((await page.locator('main').innerText()).includes('Look into'));
  await open('spaces/messages');
  await page.getByLabel('Message', { exact: true }).fill('done with it');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.waitForSelector('.notice-title');
  out.seen.mail = await notice();
}

(async () => {
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' });
  page = await context.newPage();
  page.on('pageerror', (e) => out.problems.push(`script: ${e.message}`));
  page.on('console', (m) => { if (m.type() === 'error' && !/status of (401|403|409)/.test(m.text())) out.problems.push(`console: ${m.text()}`); });
  cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', { options: { protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true } });
  for (const step of [signIn, registerPasskey, approveLive, reworkWithPin, attacks, replayed, resources, lookUp, tabs, grants, tokens, chat, board]) {
    try { await step(); } catch (e) {
      await shot(`failed-${step.name}`).catch(() => {});
      throw new Error(`${step.name}: ${e.message}\nseen: ${JSON.stringify(out.seen)}\n${out.problems.join('\n')}`);
    }
  }
  await open('');
  await live();
  await shot('overview');
  await page.getByRole('button', { name: 'Sign this browser out' }).click();
  await page.waitForURL('**/signin');
  out.seen.signedOut = (await page.goto(`${input.base}/panel/`)).status();
  await browser.close();
  process.stdout.write(JSON.stringify(out));
})().catch((e) => { console.error(e.message); process.exit(1); });
