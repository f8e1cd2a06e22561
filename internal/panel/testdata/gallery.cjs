// Looks at every page in light, in dark and on a phone: takes pictures, runs
// axe-core, and collects what the browser complained about. A page is loaded
// once; changing the medium is cheaper than loading it again.
const { chromium } = require('playwright-core');
const fs = require('fs');
const path = require('path');

const desk = { width: 1440, height: 900 };
const modes = [
  { name: 'light', colorScheme: 'light', viewport: desk },
  { name: 'dark', colorScheme: 'dark', viewport: desk, rules: ['color-contrast', 'link-in-text-block'] },
  { name: 'phone', colorScheme: 'light', viewport: { width: 390, height: 844 }, rules: ['button-name', 'link-name', 'target-size', 'scrollable-region-focusable', 'page-has-heading-one', 'region'] },
];
// For those who look at single pages; its colours and its widths are those of the two before.
const darkPhone = { name: 'phone-dark', colorScheme: 'dark', viewport: { width: 390, height: 844 }, rules: ['color-contrast'] };

async function axe(session, rules) {
  const only = rules ? `, runOnly: {type: 'rule', values: ${JSON.stringify(rules)}}` : '';
  const { result } = await session.send('Runtime.evaluate', {
    expression: `axe.run(document, {resultTypes: ['violations']${only}}).then(r => JSON.stringify(r.violations.map(v => v.id + ': ' + v.help + ' — ' + v.nodes.slice(0, 3).map(n => n.target.join(' ') + ' ' + (n.any[0]?.message ?? '')).join(' | '))))`,
    awaitPromise: true, returnByValue: true,
  });
  return JSON.parse(result.value);
}

async function look(context, name, input, source, found) {
  const page = await context.newPage();
  let mode = modes[0];
  const say = (what) => found.push({ page: name, mode: mode.name, what });
  page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning') say(`console: ${m.text()}`); });
  page.on('pageerror', (e) => say(`script: ${e.message}`));
  await page.goto(`${input.base}/g/${name}`);
  await page.evaluate(() => document.fonts.ready);
  const session = await context.newCDPSession(page); // the debugger is not bound by the page's policy
  await session.send('Runtime.evaluate', { expression: source });
  for (mode of modes) {
    await page.emulateMedia({ colorScheme: mode.colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize(mode.viewport);
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); // let it be painted
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) say(`the page is ${wide} px wider than the window`);
    await page.screenshot({ path: path.join(input.shots, `${name}-${mode.name}.png`), fullPage: true });
    for (const v of await axe(session, mode.rules)) say(`axe: ${v}`);
    globalThis.alive();
  }
  await page.close();
}

(async () => {
  const input = JSON.parse(fs.readFileSync(0, 'utf8'));
  const source = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  const context = await browser.newContext({ viewport: desk });
  const found = [];
  if (input.closely) modes.push(darkPhone);
  for (const name of input.pages) await look(context, name, input, source, found);
  await browser.close();
  process.stdout.write(JSON.stringify(found));
})().catch((e) => { console.error(e); process.exit(1); });
