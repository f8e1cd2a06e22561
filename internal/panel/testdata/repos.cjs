// A repository's page in a real browser, while agents work.
const { chromium } = require('playwright-core');
const fs = require('fs');
const path = require('path');

const input = JSON.parse(fs.readFileSync(0, 'utf8'));
const out = { seen: {}, problems: [] };
let browser, page;

const shot = (name) => page.screenshot({ path: path.join(input.shots, `live-${name}.png`), fullPage: true });
const row = (text) => page.locator('.graph > li', { hasText: text }).first();
const step = async () => { await fetch(input.steps); };

async function watch() {
  await page.goto(`${input.base}/signin?code=${input.code}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL('**/panel/');
  await page.goto(`${input.base}/panel/repos`);
  await page.waitForFunction(() => window.htmx && document.getElementById('live')?.dataset.state === 'on');
  const names = await page.locator('table').first().locator('tbody tr td:first-child').allInnerTexts();
  out.seen.workspaces = names.map((s) => s.trim()).filter((s) => s !== 'default').sort().join(' ');
  await step();
  await page.waitForFunction(() => document.body.innerText.includes("one's idea"));
  out.seen.live = true;
}

async function change() {
  await row("one's idea").locator('a[data-row-link]').click();
  await page.waitForFunction(() => document.querySelector('[data-path="plan.txt"] .diff'));
  const lines = await page.locator('[data-path="plan.txt"] tr').evaluateAll((rows) => rows.map((r) => {
    const said = r.querySelector('.diff-sign')?.innerText.trim() ?? '';
    const sign = /remove|gone|−|-/i.test(said + r.className) && /del|-/.test(r.className) ? '-' : /add|\+/.test(r.className) ? '+' : ' ';
    return sign + (r.querySelector('.diff-text')?.innerText.trim() ?? '');
  }).filter((l) => l[0] !== ' '));
  out.seen.diff = lines.join(' ');
  const operations = await page.locator('table', { hasText: 'What was done' }).innerText();
  out.seen.operations = /commit/.test(operations) && /snapshot working copy/.test(operations);
  out.seen.actor = /builder/.test(operations) ? 'builder' : operations;
  await shot('repos-change');
}

async function conflict() {
  await step();
  await page.waitForFunction(() => document.body.innerText.includes('both ideas'));
  out.seen.conflict = /conflict/.test(await page.locator('.graph > li', { hasText: 'both ideas' }).innerText());
  await page.locator('.graph > li', { hasText: 'both ideas' }).locator('a[data-row-link]').click();
  await page.waitForFunction(() => document.body.innerText.includes('In conflict'));
  const text = await page.locator('main').innerText();
  out.seen.markers = text.includes('<<<<<<<') && text.includes('ONE') && text.includes('TWO');
  if (!out.seen.markers) out.problems.push(text.slice(0, 2000));
  await shot('repos-conflict');
}

(async () => {
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
  page.on('pageerror', (e) => out.problems.push(`page error: ${e.message}`));
  for (const part of [watch, change, conflict]) {
    try { await part(); } catch (e) { out.problems.push(`${part.name}: ${e.message}`); await shot(`repos-failed-${part.name}`); break; }
  }
  await browser.close();
  console.log(JSON.stringify(out));
})();
