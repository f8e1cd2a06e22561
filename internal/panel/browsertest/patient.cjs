// Loaded before every script. A busy machine is slow, not wrong: whatever is waited for has two minutes, unless a script says otherwise,
// and a script that goes on is not ended. That it does is written as a zero byte for each page, request and console line, and by scripts
// that work long on one page, with alive().
const { chromium } = require('playwright-core');

const patience = 120000;
globalThis.alive = () => process.stderr.write('\0');

const launch = chromium.launch.bind(chromium);
chromium.launch = async (options) => {
  const browser = await launch({ timeout: patience, ...options });
  const make = browser.newContext.bind(browser);
  browser.newContext = async (...of) => {
    const context = await make(...of);
    context.setDefaultTimeout(patience);
    for (const what of ['page', 'request', 'console']) context.on(what, globalThis.alive);
    return context;
  };
  return browser;
};
