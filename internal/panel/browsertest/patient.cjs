// Loaded before every script. A busy machine is slow, not wrong: whatever is waited for has two minutes, unless a script says otherwise.
const { chromium } = require('playwright-core');

const patience = 120000;
const launch = chromium.launch.bind(chromium);
chromium.launch = async (options) => {
  const browser = await launch({ timeout: patience, ...options });
  const make = browser.newContext.bind(browser);
  browser.newContext = async (...of) => {
    const context = await make(...of);
    context.setDefaultTimeout(patience);
    return context;
  };
  return browser;
};
