// Drives the page in a browser, as a user does, and compares what it shows with the values of the
// file of crates/serve/examples/shown.rs.
//
//     node drive.mjs BROWSER ADDRESS [--file FILE] [--pictures FOLDER]
//
// BROWSER is `chromium` or `firefox`, as the system installs it. ADDRESS is that of a served file,
// or, with --file, that of the page without a server, on which the file is dropped.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { start } from './browser.mjs';
import { compare as compareTable, select as selectIn, show as showIn } from './table.mjs';

const [, , browserName, address, ...rest] = process.argv;
const optionOf = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined);
const [file, pictures] = [optionOf('--file'), optionOf('--pictures')];
const { browser, page, complaints } = await start(browserName);

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

const select = (name) => selectIn(page, name);
const show = (tab) => showIn(page, tab);
const compare = (name, value) => compareTable(page, name, value);

/** Waits for a text in the area of the shown values. */
async function sees(text) {
  await page.getByText(text, { exact: true }).first().waitFor();
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

/** Compares the number of colors in the picture of each kind with the least one. */
async function comparePictures() {
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
}

if (await page.evaluate(() => document.createElement('canvas').getContext('webgl2') !== null)) {
  await comparePictures();
} else {
  console.log(`${browserName}: skipped: the pictures need WebGL, which Firefox has only with a display (xvfb-run)`);
}

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
