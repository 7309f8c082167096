// A web server of another origin than the page, whose paths have the faults of real servers.
import { once } from 'node:events';
import { createServer } from 'node:http';

const CORS = { 'Access-Control-Allow-Origin': '*' };
const EXPOSED = { ...CORS, 'Access-Control-Expose-Headers': 'Content-Range, ETag' };

/** The headers and abilities of each path. */
const KINDS = {
  '/good.h5': { headers: EXPOSED, ranges: true, tag: true },
  '/plain.h5': { headers: CORS, ranges: true, date: true },
  '/replaced.h5': { headers: EXPOSED, ranges: true, tag: true },
  '/foreign.h5': { headers: {}, ranges: true, tag: true },
  '/whole.h5': { headers: CORS, ranges: false, tag: true },
  '/huge.h5': { headers: CORS, ranges: false, tag: true, stated: 2 ** 40 },
  '/unversioned.h5': { headers: EXPOSED, ranges: true },
};

/** Starts the server for the bytes of a file. Returns its address, its counts, and a switch. */
export async function startHosts(bytes) {
  const state = { version: 1, counts: {} };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, 'http://localhost');
    const kind = KINDS[pathname];
    if (!kind) {
      response.writeHead(404, CORS);
      response.end();
      return;
    }
    state.counts[pathname] = (state.counts[pathname] ?? 0) + 1;
    const headers = { ...kind.headers, 'Accept-Ranges': kind.ranges ? 'bytes' : 'none' };
    if (kind.tag) {
      headers.ETag = `"${state.version}"`;
    }
    if (kind.date) {
      headers['Last-Modified'] = new Date(state.version * 1e9).toUTCString();
    }
    const found = kind.ranges && /^bytes=(\d+)-(\d+)$/u.exec(request.headers.range ?? '');
    const [start, end] = found ? [Number(found[1]), Math.min(Number(found[2]) + 1, bytes.length)] : [0, bytes.length];
    if (found) {
      headers['Content-Range'] = `bytes ${start}-${end - 1}/${bytes.length}`;
    }
    response.writeHead(found ? 206 : 200, { ...headers, 'Content-Length': kind.stated ?? end - start });
    if (request.method === 'HEAD') {
      response.end();
    } else if (kind.stated) {
      response.write(bytes);
    } else {
      response.end(bytes.subarray(start, end));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { address: `http://127.0.0.1:${server.address().port}`, state, close };
}
