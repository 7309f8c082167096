// A web server whose answers come from the WebAssembly module of the page without a server, so that
// the suites for servers also test the module.
//
//     node wasm_server.mjs serve FOLDER [--module FILE]
//
// It prints its address, as `hyperslab serve` does. Files are read by ranges, and opened again at
// each request, because the suites write them between requests.
import { openSync, readFileSync, readSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

import { Engine } from '../../../viewer/src/engine.js';

const [, , , folder, ...rest] = process.argv;
const own = dirname(fileURLToPath(import.meta.url));
const file = rest[rest.indexOf('--module') + 1] ?? join(own, '../page/hyperslab.wasm.gz');
const bytes = readFileSync(file);
const module = await WebAssembly.compile(file.endsWith('.gz') ? gunzipSync(bytes) : bytes);

/** Returns the source of a file of the folder. */
function sourceOf(name) {
  const path = join(folder, normalize(join('/', name)));
  const { size } = statSync(path);
  const descriptor = openSync(path, 'r');
  const read = async (start, end) => {
    const buffer = new Uint8Array(end - start);
    const count = readSync(descriptor, buffer, 0, buffer.length, start);
    return buffer.subarray(0, count);
  };
  return { name, size, read };
}

/** The largest number of files beside a file to which its links may lead. */
const MAX_BESIDE = 50;

const held = new Map();

/** Adds the source of a file, unless this user may not read it. */
function addReadable(engine, name) {
  try {
    engine.add(sourceOf(name));
  } catch (error) {
    if (error.code !== 'EACCES') {
      throw error;
    }
  }
}

/** Returns the engine with a file and the files beside it. */
function engineOf(name) {
  const { size, mtimeMs } = statSync(join(folder, normalize(join('/', name))));
  const key = `${size} ${mtimeMs}`;
  if (held.get(name)?.key !== key) {
    const engine = new Engine(module);
    engine.add(sourceOf(name));
    const beside = dirname(join(folder, name));
    const others = readdirSync(beside, { withFileTypes: true }).filter((entry) => entry.isFile());
    if (others.length <= MAX_BESIDE) {
      others.forEach((entry) => addReadable(engine, join(dirname(name), entry.name)));
    }
    held.clear();
    held.set(name, { key, engine });
  }
  return held.get(name).engine;
}

async function answer(url) {
  const name = url.searchParams.get('file') ?? '';
  const failed = (status, message) => ({ status, body: Buffer.from(JSON.stringify({ message })) });
  let engine;
  try {
    engine = engineOf(name);
  } catch (error) {
    return error.code === 'EACCES'
      ? failed(403, 'Cannot read file: Permission denied!')
      : failed(404, 'File not found!');
  }
  return engine.answer(url.pathname.replace(/^\/api/u, '') + url.search);
}

const server = createServer(async (request, response) => {
  const url = new URL(request.url, 'http://localhost');
  const { status, body } =
    url.pathname === '/' || url.pathname === '/api/' ? { status: 200, body: 'ok' } : await answer(url);
  const format = url.searchParams.get('format') ?? 'json';
  const types = {
    json: 'application/json',
    csv: 'text/csv',
    npy: 'application/octet-stream',
    bin: 'application/octet-stream',
    tiff: 'image/tiff',
  };
  response.writeHead(status, {
    'Content-Type': types[status === 200 ? format : 'json'] ?? types.json,
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
});
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
