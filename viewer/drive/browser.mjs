// Browsers as the system installs them.
import { existsSync } from 'node:fs';

import playwright from 'playwright-core';

const PROGRAMS = {
  chromium: ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
  firefox: ['/usr/bin/firefox-esr', '/usr/bin/firefox'],
};
const OPTIONS = {
  chromium: {
    args: [
      '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
      '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic',
    ],
  },
  // The channel makes Playwright speak WebDriver BiDi, which the released Firefox knows.
  firefox: {
    channel: 'moz-firefox',
    firefoxUserPrefs: { 'webgl.force-enabled': true, 'datareporting.policy.dataSubmissionEnabled': false },
  },
};

const TIMEOUT = 30_000;

/**
 * Starts a browser with one page. Returns both, and the list of errors that the page reports. Ends
 * the process with a message if the browser is not installed. `extra` are further arguments.
 */
export async function start(name, extra = []) {
  const executablePath = PROGRAMS[name].find(existsSync);
  if (!executablePath) {
    console.log(`skipped: ${name} is not installed`);
    process.exit(0);
  }
  const { args = [], ...options } = OPTIONS[name];
  const browser = await playwright[name].launch({ executablePath, ...options, args: [...args, ...extra] });
  const page = await browser.newPage({ viewport: { width: 1000, height: 600 } });
  page.setDefaultTimeout(TIMEOUT);
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') {
      complaints.push(message.text());
    }
  });
  return { browser, page, complaints };
}
