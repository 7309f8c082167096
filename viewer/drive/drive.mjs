// Drives the page in a browser, as a user does, and compares what it shows with the values of the
// file of crates/serve/examples/shown.rs.
//
//     node drive.mjs BROWSER ADDRESS [--file FILE] [--pictures FOLDER]
//
// BROWSER is `chromium` or `firefox`, as the system installs it. ADDRESS is that of a served file,
// or, with --file, that of the page without a server, on which the file is dropped.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import playwright from 'playwright-core';

const PROGRAMS = {
  chromium: ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'],
  firefox: ['/usr/bin/firefox-esr', '/usr/bin/firefox'],
};
const ARGUMENTS = {
  chromium: [
    '--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run', '--disable-quic',
  ],
  firefox: [],
};
const PIXELS = { width: 1000, height: 600 };
const TIMEOUT = 120_000;

const [, , browserName, address, ...rest] = process.argv;
const optionOf = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const [file, pictures] = [optionOf('--file'), optionOf('--pictures')];

const program = PROGRAMS[browserName].find(existsSync);
if (!program) {
  console.log(`skipped: ${browserName} is not installed`);
  process.exit(0);
}
const browser = await playwright[browserName].launch({ executablePath: program, args: ARGUMENTS[browserName] });
const page = await browser.newPage({ viewport: PIXELS });
page.setDefaultTimeout(TIMEOUT);
const complaints = [];
page.on('pageerror', (error) => complaints.push(error.message));
page.on('console', (message) => {
  if (message.type() === 'error') {
    complaints.push(message.text());
  }
});

/** Saves a picture of the page for the book. */
async function picture(name) {
  if (pictures) {
    mkdirSync(pictures, { recursive: true });
    await page.screenshot({ path: join(pictures, `${name}.png`) });
  }
}

/** Drops a file on the page. */
async function drop() {
  const content = readFileSync(file).toString('base64');
  const transfer = await page.evaluateHandle(
    ([text, name]) => {
      const bytes = Uint8Array.from(atob(text), (letter) => letter.codePointAt(0));
      const dropped = new DataTransfer();
      dropped.items.add(new File([bytes], name));
      return dropped;
    },
    [content, basename(file)],
  );
  await page.dispatchEvent('.drop', 'drop', { dataTransfer: transfer });
}

async function select(name) {
  await page.getByRole('treeitem', { name, exact: true }).click();
}

async function show(tab) {
  await page.getByRole('tab', { name: tab, exact: true }).click();
  await page.getByRole('tab', { name: tab, exact: true, selected: true }).waitFor();
}

/** Waits for a text in the area of the shown values. */
async function sees(text) {
  await page.getByText(text, { exact: true }).first().waitFor();
}

/** Returns the cells that a table shows, by row and column of the array. */
async function cells() {
  await page.waitForFunction(() => document.querySelectorAll('[role=gridcell]').length > 30);
  return page.evaluate(() =>
    [...document.querySelectorAll('[role=gridcell]')].map((cell) => {
      const { transform, width, height } = cell.style;
      const [, x, y] = transform.match(/translate\((.+)px, (.+)px\)/).map(Number);
      const place = [y / Number.parseInt(height), x / Number.parseInt(width)];
      return [...place, cell.textContent.replaceAll('−', '-')];
    }),
  );
}

/** Compares the cells of a table with the values of a function of row and column. */
async function compare(name, value) {
  await select(name);
  await show('Matrix');
  await page.waitForTimeout(500);
  const shown = await cells();
  assert.ok(shown.length > 30, `${name}: ${shown.length} cells`);
  for (const [row, column, text] of shown) {
    assert.equal(Number(text), value(row, column), `${name} at ${row}, ${column}`);
  }
  return shown.length;
}

/** Returns the number of different colors in the picture that a canvas shows. */
async function colors() {
  await page.locator('canvas').first().waitFor();
  await page.waitForTimeout(1500);
  const png = await page.locator('canvas').first().screenshot();
  return page.evaluate(async (text) => {
    // The page may not fetch addresses of data.
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
    const canvas = new OffscreenCanvas(image.width, image.height);
    canvas.getContext('2d').drawImage(image, 0, 0);
    const { data } = canvas.getContext('2d').getImageData(0, 0, image.width, image.height);
    return new Set(new Uint32Array(data.buffer)).size;
  }, png.toString('base64'));
}

const started = Date.now();
await page.goto(address);
if (file) {
  await page.locator('.drop').waitFor();
  await picture('drop');
  await drop();
}
await page.getByRole('treeitem', { name: 'matrix', exact: true }).waitFor();
console.log(`${browserName}: the tree after ${Date.now() - started} ms`);

let compared = await compare('matrix', (row, column) => (row * 10 + column) * 3 - 50);
await picture('matrix');
for (const filter of ['deflate', 'zstd', 'lzf', 'bitshuffle']) {
  if (filter === 'deflate') {
    await select('filters');
  }
  compared += await compare(filter, (row, column) => row * 100 + column);
}
compared += await compare('sparse', (row, column) => (row === column ? row + 1 : 0));
console.log(`${browserName}: ${compared} numbers of tables equal those of the file`);

const seen = {};
for (const [name, tab, least] of [
  ['image', 'Heatmap', 100],
  ['color', 'RGB', 500],
  ['sparse', 'Heatmap', 5],
  ['line', 'Line', 2],
]) {
  await select(name);
  await show(tab);
  seen[name] = await colors();
  assert.ok(seen[name] >= least, `${name}: ${seen[name]} colors`);
  await picture(tab === 'Heatmap' ? name : tab.toLowerCase());
}
// The name of a group of NeXus has a badge.
await page.getByRole('treeitem', { name: /^entry\b/ }).first().click();
await show('NX Line').catch(() => show('NX Data'));
seen.nexus = await colors();
await picture('nexus');
console.log(`${browserName}: colors of the pictures: ${JSON.stringify(seen)}`);

await select('number');
await sees('42.5');
await select('text');
await sees('hello there');
await select('names');
await sees('three');
await select('table');
await sees('mass');
await sees('3.500e+0');
await page.getByRole('radio', { name: 'Inspect' }).or(page.getByRole('tab', { name: 'Inspect' })).first().click();
await sees('Compound');
await picture('inspect');
assert.deepEqual(complaints, []);
await browser.close();
console.log(`${browserName}: passed`);
