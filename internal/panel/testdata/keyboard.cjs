// Works the pages by keyboard alone and looks at what opens.
const { chromium } = require('playwright-core');
const fs = require('fs');
const path = require('path');

(async () => {
  const input = JSON.parse(fs.readFileSync(0, 'utf8'));
  const source = fs.readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ['--no-sandbox'] });
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, reducedMotion: 'reduce' });
  const page = await context.newPage();
  const out = { problems: [], seen: {} };
  page.on('console', (m) => { if (m.type() === 'error') out.problems.push(`console: ${m.text()}`); });
  page.on('pageerror', (e) => out.problems.push(`script: ${e.message}`));
  const shot = async (name) => {
    await page.screenshot({ path: path.join(input.shots, `${name}.png`) });
    const session = await context.newCDPSession(page);
    await session.send('Runtime.evaluate', { expression: source });
    const { result } = await session.send('Runtime.evaluate', {
      expression: `axe.run(document.querySelector('dialog[open]') ?? document, {resultTypes: ['violations']}).then(r => JSON.stringify(r.violations.map(v => v.id + ': ' + v.nodes[0].target.join(' '))))`,
      awaitPromise: true, returnByValue: true });
    for (const v of JSON.parse(result.value)) out.problems.push(`${name}: ${v}`);
  };
  const open = () => page.evaluate(() => document.querySelector('dialog[open]')?.id ?? '');

  await page.goto(`${input.base}/g/approvals`);
  await page.waitForFunction(() => window.htmx && document.getElementById('live').dataset.state === 'on');
  await page.keyboard.press('?');
  out.seen.help = await open();
  await shot('keys-help');
  await page.keyboard.press('Escape');
  out.seen.closed = await open();

  for (const [key, name] of [['a', 'approve'], ['r', 'rework'], ['c', 'cancel']]) {
    await page.keyboard.press(key);
    out.seen[name] = await open();
    await shot(`decide-${name}`);
    await page.keyboard.press('Escape');
    await page.waitForFunction(() => !document.querySelector('dialog[open]')); // a busy browser closes it a moment later
  }

  await page.keyboard.press('j');
  out.seen.row = await page.evaluate(() => [...document.querySelectorAll('[data-row]')].findIndex((r) => r.getAttribute('aria-current') === 'true'));
  await page.keyboard.press('k');
  await page.keyboard.press('k');
  out.seen.rowBack = await page.evaluate(() => [...document.querySelectorAll('[data-row]')].findIndex((r) => r.getAttribute('aria-current') === 'true'));

  await page.keyboard.press('Control+k');
  await page.keyboard.type('jour');
  await shot('finder');
  out.seen.finder = await page.evaluate(() => document.querySelector('#palette-list [aria-selected="true"]')?.textContent.trim().split(/\s/)[0] ?? '');
  await page.keyboard.press('Escape');

  await page.keyboard.press('t');
  out.seen.theme = await page.evaluate(() => document.documentElement.dataset.theme);
  await page.reload();
  out.seen.themeKept = await page.evaluate(() => document.documentElement.dataset.theme);

  await page.keyboard.press('g');
  await page.keyboard.press('p');
  await page.waitForURL('**/panel/policy');
  out.seen.went = new URL(page.url()).pathname;

  await page.goto(`${input.base}/g/journal`);
  await page.keyboard.press('/');
  await page.keyboard.type('a?t');
  out.seen.typed = await page.inputValue('#q');
  out.seen.typedOpened = await open();

  await page.goto(`${input.base}/g/approvals`);
  await page.keyboard.press('?');
  await page.click('[data-keys-toggle]');
  await page.keyboard.press('Escape');
  await page.keyboard.press('a');
  out.seen.off = await open();

  await page.setViewportSize({ width: 390, height: 844 });
  await page.click('.top-menu');
  await page.waitForSelector('#side:popover-open');
  await shot('phone-menu');

  // A phone reads the terminal: lines wrap in letters of a size that can be read, and nothing is wider than the screen.
  await page.goto(`${input.base}/g/terminal`);
  await page.waitForFunction(() => document.querySelector('.term-lines')?.textContent.includes('Update(internal/billing/invoice.go)'));
  out.seen.phoneTerminal = await page.evaluate(() => {
    const box = document.querySelector('.term'), lines = document.querySelector('.term-lines');
    return lines.checkVisibility() && box.scrollWidth <= box.clientWidth && parseFloat(getComputedStyle(lines).fontSize) >= 12;
  });
  await shot('phone-terminal');
  await browser.close();
  process.stdout.write(JSON.stringify(out));
})().catch((e) => { console.error(e); process.exit(1); });
