// The WebAssembly module of the page, which is a part of the checkout.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test as always } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { Engine, joined } from '../src/engine.js';
import { fileSource } from '../src/sources.js';

const root = new URL('../../', import.meta.url);
const packed = process.env.HYPERSLAB_WASM ?? new URL('crates/serve/page/hyperslab.wasm.gz', root);
const isThere = existsSync(packed);
const module = isThere ? await WebAssembly.compile(gunzipSync(readFileSync(packed))) : null;
const test = isThere ? always : always.skip;
const fixture = (name) => new Blob([readFileSync(new URL(`fixtures/${name}`, root))]);

/** Returns an engine with a blob as its only source, and the ranges that were read. */
function engineOf(blob, name = 'a.h5') {
  const engine = new Engine(module);
  const source = fileSource(blob, name);
  const ranges = [];
  const read = (start, end) => {
    ranges.push([start, end]);
    return source.read(start, end);
  };
  engine.add({ ...source, read });
  return { engine, ranges };
}

const json = ({ body }) => JSON.parse(new TextDecoder().decode(body));

test('metadata and elements of a file', async () => {
  const { engine } = engineOf(fixture('weather_station.h5'));
  const meta = json(await engine.answer('/meta?file=a.h5&path=/series/temperature'));
  assert.deepEqual(meta.shape, [8760]);
  const one = await engine.answer('/data?file=a.h5&path=/series/temperature&selection=0:3&format=bin');
  assert.equal(one.status, 200);
  assert.equal(one.body.length, 12);
  const missing = await engine.answer('/meta?path=/none');
  assert.equal(missing.status, 404);
  assert.match(json(missing).message, /not a valid path/u);
});

test('answers to requests at the same time', async () => {
  const { engine } = engineOf(fixture('weather_station.h5'));
  const paths = json(await engine.answer('/paths'));
  const answers = await Promise.all(paths.map((path) => engine.answer(`/meta?path=${encodeURIComponent(path)}`)));
  assert.ok(paths.length > 5);
  assert.deepEqual(
    answers.map((answer) => json(answer).name),
    paths.map((path) => path.split('/').at(-1)),
  );
});

test('a source beyond 4 GiB is read by ranges', async () => {
  // The file ends far after its structures, as the superblock does not have to tell.
  const blob = fixture('weather_station.h5');
  const engine = new Engine(module);
  const size = 100e9;
  const source = fileSource(blob, 'large.h5');
  let bytes = 0;
  const read = async (start, end) => {
    bytes += end - start;
    const known = await source.read(start, Math.min(end, blob.size));
    const all = new Uint8Array(end - start);
    all.set(known);
    return all;
  };
  engine.add({ name: 'large.h5', size, read });
  const meta = json(await engine.answer('/meta?path=/'));
  assert.equal(meta.kind, 'group');
  assert.ok(bytes < 2e6, `${bytes} bytes`);
});

test('a source that fails, and a request that is cancelled', async () => {
  const engine = new Engine(module);
  let fails = true;
  const source = fileSource(fixture('weather_station.h5'), 'a.h5');
  const read = async (start, end) => {
    if (fails) {
      throw new Error('no network');
    }
    return source.read(start, end);
  };
  engine.add({ ...source, read });
  await assert.rejects(engine.answer('/meta'), /no network/u);
  fails = false;
  const controller = new AbortController();
  controller.abort();
  await assert.rejects(engine.answer('/meta', controller.signal), { name: 'AbortError' });
  assert.equal((await engine.answer('/meta')).status, 200);
});

test('short reads are errors', async () => {
  const engine = new Engine(module);
  const source = fileSource(fixture('weather_station.h5'), 'a.h5');
  engine.add({ ...source, read: async (start, end) => (await source.read(start, end)).subarray(1) });
  await assert.rejects(engine.answer('/meta'), /bytes are missing/u);
});

test('damaged files do not end the engine', async () => {
  const bytes = readFileSync(new URL('fixtures/weather_station.h5', root));
  for (let round = 0; round < 40; round += 1) {
    const damaged = new Uint8Array(bytes);
    for (let change = 0; change < 30; change += 1) {
      damaged[(round * 7919 + change * 104729) % damaged.length] ^= 1 << (change % 8);
    }
    const { engine } = engineOf(new Blob([damaged]));
    const { status } = await engine.answer('/paths');
    assert.ok([200, 404, 422, 500].includes(status));
    assert.equal((await engine.answer('/other')).status, 404);
  }
});

always('ranges are joined over small gaps of one source', () => {
  const range = (source, start, end) => ({ source, start, end });
  assert.deepEqual(joined([range(0, 0, 10), range(0, 15, 20), range(0, 40, 50), range(1, 50, 60)], 5), [
    range(0, 0, 20),
    range(0, 40, 50),
    range(1, 50, 60),
  ]);
});
