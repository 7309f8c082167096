// Files at URLs, from a server with the faults of real ones.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';

import { urlSource } from '../src/sources.js';

const SIZE = 300_000;
const bytesOf = (version) => Buffer.from(Uint8Array.from({ length: SIZE }, (_, at) => at * 7 + version));

/** The state of the server: which headers it sends, and which version of the file it has. */
let state;
let ranges;

function answer(request, response) {
  const { version, etag, modified, hidden, length = SIZE, shift = 0, noRanges } = state;
  const bytes = bytesOf(version).subarray(0, length);
  const headers = {
    ...(etag && { ETag: `"${version}"` }),
    ...(modified && { 'Last-Modified': new Date(version * 1e6).toUTCString() }),
  };
  const found = /^bytes=(\d+)-(\d+)$/u.exec(request.headers.range ?? '');
  if (request.method === 'HEAD' || !found || noRanges) {
    response.writeHead(200, { ...headers, 'Content-Length': state.stated ?? bytes.length });
    response.end(request.method === 'HEAD' ? undefined : bytes);
    return;
  }
  const [start, end] = [Number(found[1]), Math.min(Number(found[2]) + 1, bytes.length)];
  ranges.push([start, end]);
  if (start >= bytes.length) {
    response.writeHead(416);
    response.end();
    return;
  }
  if (!hidden) {
    headers['Content-Range'] = `bytes ${start + shift}-${end + shift - 1}/${bytes.length}`;
  }
  response.writeHead(206, headers);
  response.end(bytes.subarray(start, end));
}

const server = createServer(answer);
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => {
  server.closeAllConnections();
  server.close();
});
const url = `http://127.0.0.1:${server.address().port}/a%20b.h5`;

/** Opens the file of a server. */
function open(own) {
  state = { version: 1, etag: true, modified: true, ...own };
  ranges = [];
  return urlSource(url);
}

/** Asserts that a source has the bytes of a version at several places. */
async function check(source, version = 1) {
  assert.deepEqual([source.name, source.size], ['a b.h5', SIZE]);
  for (const [start, end] of [[0, 10], [65000, 66000], [200_000, SIZE]]) {
    assert.deepEqual(Buffer.from(await source.read(start, end)), bytesOf(version).subarray(start, end));
  }
}

test('ranges of one version', async () => {
  await check(await open({}));
  assert.deepEqual(ranges, [[0, 65536], [65000, 66000], [200_000, SIZE]]);
  await check(await open({ etag: false }));
  await check(await open({ modified: false }));
});

test('a replaced file is an error, never a mixture', async () => {
  for (const own of [{}, { etag: false }, { modified: false }, { hidden: true }]) {
    const source = await open(own);
    state.version = 2;
    await assert.rejects(source.read(100_000, 100_010), /has changed since it was opened/u);
    // The bytes that are known are still those of the first version.
    assert.deepEqual(Buffer.from(await source.read(5, 10)), bytesOf(1).subarray(5, 10));
  }
  const shorter = await open({});
  state.length = SIZE - 1000;
  await assert.rejects(shorter.read(100_000, 100_010), /has changed/u);
  state.length = 50_000;
  await assert.rejects(shorter.read(100_000, 100_010), /has changed/u);
});

test('a version that the server stops to state is no version', async () => {
  const source = await open({ modified: false });
  state.etag = false;
  await assert.rejects(source.read(100_000, 100_010), /has changed/u);
});

test('a server that hides Content-Range', async () => {
  await check(await open({ hidden: true }));
});

test('a server without a version: the file is loaded whole', async () => {
  const source = await open({ etag: false, modified: false });
  state.version = 2;
  await check(source, 1);
  assert.deepEqual(ranges, [[0, 65536]]);
});

test('a server without ranges: the file is loaded whole, up to a limit', async () => {
  const source = await open({ noRanges: true });
  state.version = 2;
  await check(source, 1);
  const large = 600 * 2 ** 20;
  await assert.rejects(open({ noRanges: true, stated: large }), /does not send ranges.*512 MiB/u);
  await assert.rejects(
    open({ etag: false, modified: false, noRanges: true, stated: large }),
    /does not send ranges.*512 MiB/u,
  );
});

test('a server that sends another range', async () => {
  const source = await open({ shift: 0 });
  state.shift = 1;
  await assert.rejects(source.read(100_000, 100_010), /sends bytes 100001 to 100011 instead of 100000 to 100010/u);
});

test('an empty file, a missing one, and a server that does not answer', async () => {
  assert.equal((await open({ length: 0 })).size, 0);
  const other = createServer((_, response) => {
    response.writeHead(404);
    response.end();
  });
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  const missing = `http://127.0.0.1:${other.address().port}/a.h5`;
  await assert.rejects(urlSource(missing), /the server answers 404/u);
  other.closeAllConnections();
  other.close();
  await once(other, 'close');
  await assert.rejects(urlSource(missing), /cannot be reached/u);
});
