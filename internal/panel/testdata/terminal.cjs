// A session with the real Claude Code, and a relay, in a real browser.
const { chromium } = require('playwright-core');
const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');

const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const out = { seen: {}, problems: [] };
let browser, page, context, id;

const open = (where) => page.goto(`${input.base}/panel/${where}`);
const shot = (name) => page.screenshot({ path: path.join(input.shots, `live-${name}.png`), fullPage: true });
const screen = () => page.locator('.xterm-rows').innerText();
const shows = (text) => page.waitForFunction((t) => document.querySelector('.xterm-rows')?.innerText.replaceAll('\u00a0', ' ').includes(t), text);
const state = (word) => page.waitForFunction((w) => document.querySelector('.program-state .state')?.innerText.trim() === w, word);
// The prompt holds the words of the answer, too, in brackets.
const answered = (text) => page.waitForFunction((t) => document.querySelector('.xterm-rows')?.innerText.replaceAll('\u00a0', ' ').split('\n')
  .some((line) => line.includes(t) && !line.includes('[[')), text);

// told does what leads to another page, and returns what that page says of it: forms are signed before they are sent, and a page
// that is left too early sends nothing.
async function told(act) {
  const loaded = page.waitForEvent('load');
  await act();
  await loaded;
  return (await page.locator('[data-toast]').last().textContent()).trim();
}

async function signIn(p, code) {
  await p.goto(`${input.base}/signin?code=${code}`);
  await p.getByRole('button', { name: 'Sign in' }).click();
  await p.waitForURL('**/panel/');
}

// What a page's own script could try.
const type = (p, text) => p.evaluate(async ([id, text]) => {
  const { post } = await import(document.querySelector('script[src$="/sign.js"]').src);
  const res = await post(`/panel/sessions/${id}/type`, { data: btoa(text) });
  const body = await res.json();
  return `${res.status} ${body.error?.message ?? ''}`.trim();
}, [id, text]);

async function program() {
  await signIn(page, input.code);
  await open('sessions');
  await page.waitForFunction(() => window.htmx && document.getElementById('live')?.dataset.state === 'on');
  await page.keyboard.press('o');
  await page.locator('#open-name').fill('builder');
  await page.locator('#open-cwd').fill(input.project);
  await page.getByRole('button', { name: 'Open it' }).click();
  await page.waitForURL('**/terminal');
  id = page.url().split('/').at(-2);
  await state('ready');
  out.seen.ready = 'ready';
  await shows('Claude Code');
  out.seen.looking = (await page.locator('.term-hold .dim').innerText()).trim();
  await page.locator('.xterm-screen').click();
  await page.keyboard.type('smuggled');
  out.seen.typedUnheld = await type(page, 'x');
}

async function turn() {
  const title = await page.title();
  await page.getByLabel('What should be done').fill('say it [[say the word is plover]]');
  await page.getByRole('button', { name: 'Send' }).click();
  await answered('the word is plover');
  await state('ready');
  out.seen.live = true;
  out.seen.typedWhileLooking = (await screen()).includes('smuggled');
  out.seen.title = (await page.title()) === title; // the program sets its own; the page keeps its
  await shot('terminal');
  await page.getByRole('link', { name: 'Conversation' }).click();
  await page.waitForSelector('.say-agent');
  out.seen.said = (await page.locator('.say-agent .md').last().innerText()).trim();
  await shot('terminal-conversation');
  await open('sessions');
  const row = page.locator('tbody tr', { hasText: 'builder' });
  await row.locator('.state', { hasText: 'ready' }).waitFor(); // the answer is there before the turn's end is known
  out.seen.row = (await row.locator('.state').innerText()).trim();
  out.seen.driver = (await row.locator('td.keep').innerText()).trim();
}

async function takeOver() {
  await open(`sessions/${id}/terminal`);
  await shows('plover');
  await page.getByRole('button', { name: 'Take over' }).click();
  await page.getByLabel('PIN').fill('000000');
  await page.getByRole('button', { name: 'Take over with PIN' }).click();
  await page.waitForSelector('.notice-title');
  out.seen.wrongPin = await page.locator('.notice-title').first().innerText();
  // The dialog is open as it was, says so, and the next keys are the PIN.
  out.seen.wrongPinSaid = (await page.locator('dialog[open] .field-problem').innerText()).trim();
  await page.keyboard.type(input.pin);
  await page.getByRole('button', { name: 'Take over with PIN' }).click();
  await page.waitForSelector('[data-type]');
  await shows('plover');
  await page.locator('.xterm-screen').click();
  await page.keyboard.type('tell me more\u00fc');
  await shows('tell me more\u00fc');
  out.seen.typed = true;
  await shot('terminal-held');
  // A second browser of the same person looks, and may not type.
  const other = await browser.newContext();
  const q = await other.newPage();
  await signIn(q, input.other);
  await q.goto(`${input.base}/panel/sessions/${id}/terminal`);
  out.seen.otherSees = (await q.locator('.term-hold .dim').innerText()).trim();
  out.seen.otherTypes = await type(q, 'x');
  await q.goto(`${input.base}/panel/sessions`);
  out.seen.held = (await q.locator('tbody tr', { hasText: 'builder' }).locator('.state + .sub').innerText()).trim();
  const cookie = (await other.cookies()).map((c) => `${c.name}=${c.value}`).join('; ');
  out.seen.foreign = (await fetch(`${input.near}/sessions/${id}/terminal`, { headers: { Cookie: cookie, Origin: 'http://evil.example' } })).status;
  await other.close();
  for (let i = 0; i < 13; i++) await page.keyboard.press('Backspace');
  await page.waitForFunction(() => !document.querySelector('.xterm-rows').innerText.includes('tell me'));
  out.seen.back = await told(() => page.getByRole('button', { name: 'Give it back' }).click());
}

// What a program prints reaches neither the clipboard nor the page: the test prints in its terminal what a hostile one would.
async function printed() {
  const esc = '\x1b', bel = '\x07', title = await page.title();
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: new URL(input.base).origin });
  await page.evaluate(() => navigator.clipboard.writeText('mine'));
  const osc = [`0;owned`, `2;owned`, `52;c;${Buffer.from('stolen').toString('base64')}`, `8;;http://evil.example/`].map((s) => `${esc}]${s}${bel}`).join('');
  const tty = execFileSync('tmux', ['-S', input.tmux, 'display-message', '-p', '-t', '=ccm-builder:', '#{pane_tty}']).toString().trim();
  let box = null;
  while (!box) { // the program may paint over it
    fs.writeFileSync(tty, `\r\n${osc}LINKED${esc}]8;;${bel} http://evil.example/plain PRINTED\r\n`);
    await shows('PRINTED');
    box = await page.locator('.xterm-rows > div', { hasText: 'PRINTED' }).last().boundingBox({ timeout: 2000 }).catch(() => null);
  }
  const before = context.pages().length;
  for (const x of [20, 120]) {
    await page.mouse.move(box.x + x, box.y + box.height / 2);
    await page.mouse.click(box.x + x, box.y + box.height / 2, { modifiers: ['Control'] });
  }
  out.seen.clipboard = await page.evaluate(() => navigator.clipboard.readText());
  out.seen.printedTitle = (await page.title()) === title;
  out.seen.printedLinks = await page.locator('.xterm a, .xterm-cursor-pointer').count();
  out.seen.printedPages = context.pages().length - before;
}

async function dialog() {
  await page.getByLabel('What should be done').fill('run it [[tool Bash {"command":"echo hi from a shell > f"}]] [[say hi from a shell]]');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.waitForSelector('.chat-ask');
  out.seen.asked = (await page.locator('.chat-ask').innerText()).includes('echo hi from a shell');
  await shot('terminal-ask');
  await page.getByRole('button', { name: 'Approve' }).first().click();
  await page.locator('dialog[open]').getByLabel('PIN').fill(input.pin);
  await told(() => page.locator('dialog[open]').getByRole('button', { name: 'Approve with PIN' }).click());
  await open(`sessions/${id}`);
  await page.waitForFunction(() => [...document.querySelectorAll('.say-agent .md')].at(-1)?.innerText.trim() === 'hi from a shell');
  out.seen.answered = (await page.locator('.say-agent .md').last().innerText()).trim();
}

async function interrupt() {
  await open(`sessions/${id}/terminal`);
  await state('ready');
  await page.getByLabel('What should be done').fill('wait [[slow 60]]');
  await page.getByRole('button', { name: 'Send' }).click();
  await state('working');
  await page.getByRole('button', { name: 'Interrupt' }).click();
  await state('ready');
  out.seen.interrupted = 'ready';
}

async function close() {
  await page.getByRole('button', { name: 'Close', exact: true }).first().click();
  await page.getByRole('button', { name: 'Close it' }).click();
  await page.waitForSelector('.empty-title');
  out.seen.closed = await page.locator('.empty-title').innerText();
}

async function relay() {
  await open('relays');
  await page.getByRole('button', { name: 'New relay' }).click();
  await page.locator('#relay-task').fill('make the door nice');
  await page.locator('#relay-cwd').fill(input.project);
  for (const side of ['lead', 'worker']) {
    await page.locator(`#relay-${side}`).selectOption('model');
    await page.locator(`#relay-${side}-model`).fill('mine/scripted');
  }
  await page.getByRole('button', { name: 'Start it' }).click();
  await page.waitForSelector('text=It asks: Which colour?');
  out.seen.relayAsks = await page.locator('.notice-title').first().innerText();
  await shot('relay');
  await page.locator('#relay-text').fill('blue');
  await page.getByRole('button', { name: 'Answer' }).click();
  await page.waitForSelector('.state:has-text("parked")');
  out.seen.relayParked = (await page.locator('.chat-state .state').innerText()).trim();
  out.seen.relayLog = (await page.locator('.relay-log').innerText()).includes('painted it');
  await open('');
  const recent = await page.locator('main').innerText();
  out.seen.overview = recent.includes('make the door nice') && !/ses_/.test(recent);
  await shot('overview-titles');
  await open('relays');
  await page.locator('[data-row-link]').first().click();
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await page.getByRole('button', { name: 'Stop it' }).click();
  await page.waitForSelector('.state:has-text("stopped")');
  out.seen.relayStopped = (await page.locator('.chat-state .state').innerText()).trim();
}

(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' });
  page = await context.newPage();
  page.on('pageerror', (e) => out.problems.push(`script: ${e.message}`));
  page.on('console', (m) => { if (m.type() === 'error' && !/status of 403/.test(m.text())) out.problems.push(`console: ${m.text()}`); });
  for (const step of [program, turn, takeOver, dialog, interrupt, printed, close, relay]) {
    try { await step(); } catch (e) {
      await shot(`failed-${step.name}`).catch(() => {});
      throw new Error(`${step.name}: ${e.message}\nseen: ${JSON.stringify(out.seen)}\n${out.problems.join('\n')}`);
    }
  }
  await browser.close();
  process.stdout.write(JSON.stringify(out));
})().catch((e) => { console.error(e); process.exit(1); });
