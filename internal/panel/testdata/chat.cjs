// A conversation in a real browser: a file beside the prompt, an ask answered always here, the rule that comes of it; and a
// connector that is signed in to, looked at and accepted.
const { chromium } = require('playwright-core');
const fs = require('fs');
const path = require('path');

const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const out = { seen: {}, problems: [] };
let browser, page;

const shot = (name) => page.screenshot({ path: path.join(input.shots, `live-${name}.png`), fullPage: true });
const text = (t) => page.waitForFunction((t) => document.body.innerText.includes(t), t);

// What leads agents elsewhere is asked of a person who is present: the form comes again with a place for the PIN.
async function present() {
  await text('needs a person who is present');
  await page.fill('#confirm-pin', input.pin);
  await page.getByRole('button', { name: /with PIN$/ }).click();
}

async function prompt(words, file) {
  await page.goto(`${input.base}/panel/sessions/${input.session}`);
  await page.waitForFunction(() => window.htmx && document.getElementById('live')?.dataset.state === 'on');
  await page.fill('#prompt', words);
  if (file) await page.setInputFiles('input[name=files]', file);
  await page.getByRole('button', { name: /^Send/ }).click();
}

async function chat() {
  await page.goto(`${input.base}/signin?code=${input.code}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/panel/');
  await prompt('what is in it?', [
    { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('buy milk\n') },
    { name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64') },
  ]);
  await text('buy milk');
  await page.locator('summary', { hasText: 'note.txt' }).click();
  await text('image/png');
  out.seen.attached = true;
  await shot('chat-attached');
  await prompt('[[tool bash {"command":"echo one"}]] [[tool bash {"command":"echo one more"}]] [[say both ran]]');
  await text('waits for an approval');
  await shot('chat-ask');
  await page.getByRole('button', { name: /Always here/ }).first().click();
  await page.waitForSelector('#decide-always[open]');
  await shot('always');
  await page.fill('#decide-always-pin', input.pin);
  await page.getByRole('button', { name: 'Always here with PIN' }).click();
  await text('calls like it pass from now on'); // back in the conversation
  if (!page.url().includes('/panel/sessions/')) out.problems.push(`after the answer the page is ${page.url()}`);
  await page.waitForFunction(() => { // its answer: the prompt has these words, too
    const last = [...document.querySelectorAll('.talk > li')].at(-1)?.innerText ?? '';
    return last.includes('both ran') && !last.includes('[[');
  });
  out.seen.always = true;
  // On a phone the conversation opens where its last words are read, with the header above and what is about it further down.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(`${input.base}/panel/sessions/${input.session}`);
  await page.waitForFunction(() => window.htmx);
  const measured = () => page.evaluate(() => {
    const at = (s) => [...document.querySelectorAll(s)].at(-1).getBoundingClientRect();
    return { head: at('.top').top, above: at('.top').bottom, from: at('.talk > li').top, to: at('.talk > li').bottom, below: at('.chat-send').top, scrolled: scrollY,
      left: document.body.scrollHeight - innerHeight - scrollY };
  });
  const reads = (p) => p.head >= 0 && p.from >= p.above && p.to <= p.below && p.scrolled > 0 && p.left > 0;
  let phone = await measured();
  for (const end = Date.now() + 60000; !reads(phone) && Date.now() < end; phone = await measured()) await page.waitForTimeout(100); // it scrolls after it is loaded
  await page.screenshot({ path: path.join(input.shots, 'live-chat-phone.png') });
  out.seen.phone = reads(phone);
  if (!out.seen.phone) out.problems.push(`on a phone: ${JSON.stringify(phone)}`);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${input.base}/panel/models`);
  await text('bash(command: echo one)');
  out.seen.rule = true;
  await shot('rules');
  await page.getByRole('button', { name: /^End bash/ }).click();
  await text('The next call asks again');
  await page.fill('[id="set-search.searxng_url"]', 'http://search.example');
  await page.getByRole('button', { name: 'Set SearXNG' }).click();
  await present();
  await text('from the next search on');
  await page.fill('[id="key-search.brave_key"]', 'brave-key-0123456789');
  await page.getByRole('button', { name: 'Store the key of Brave Search' }).click();
  await text('Sealed. It counts');
  await text('websearch'); // so it is among the tools
  await shot('search');
  out.seen.search = true;
}

async function connect() {
  await page.goto(`${input.base}/panel/connectors`);
  await page.getByRole('button', { name: /Add a connector/ }).click();
  await page.fill('#connector-name', 'mail');
  await page.fill('#connector-url', input.mail);
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await present();
  await text('The connector was added');
  await page.getByRole('button', { name: 'Look again: mail' }).click();
  await text('wants a sign-in');
  await shot('connector-signin');
  await page.goto(`${input.base}/panel/connectors`);
  await page.getByRole('button', { name: 'Sign in: mail' }).click();
  await present();
  await page.getByRole('link', { name: 'Go there' }).click();
  await text('You are signed in');
  await page.goto(`${input.base}/panel/connectors`);
  await text('nobody has accepted');
  await shot('connector-offers');
  await page.getByRole('button', { name: /^Accept/ }).first().click();
  await page.waitForSelector('#accept-mail[open]');
  await page.fill('#accept-mail-pin', input.pin);
  await page.getByRole('button', { name: 'Accept with PIN' }).click();
  await text('Sessions can use it');
  out.seen.accepted = (await page.locator('article', { hasText: 'mail' }).first().innerText()).includes('ready');
}

(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.on('pageerror', (e) => out.problems.push(String(e)));
  page.on('console', (m) => { if (m.type() === 'error' && !/403|409|Failed to load resource/.test(m.text())) out.problems.push(m.text()); });
  try { await chat(); await connect(); } catch (e) {
    out.problems.push(String(e) + '\n' + (await page.evaluate(() => document.body.innerText)).slice(0, 1500));
    await shot('chat-failed');
  }
  await browser.close();
  console.log(JSON.stringify(out));
})();
