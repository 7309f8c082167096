// A web server for the files of a folder, with byte ranges: what the page without a server needs.
//
//     node static.mjs FOLDER
//
// It prints its address. The path `/requests` has the number of requests and bytes since the last
// call.
import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

const [, , folder] = process.argv;
const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.wasm': 'application/wasm',
};
let counts = { requests: 0, bytes: 0 };

function send(request, response) {
  const { pathname } = new URL(request.url, 'http://localhost');
  if (pathname === '/requests') {
    response.end(JSON.stringify(counts));
    counts = { requests: 0, bytes: 0 };
    return;
  }
  const path = join(folder, normalize(pathname === '/' ? '/index.html' : decodeURIComponent(pathname)));
  const { size } = statSync(path);
  const headers = { 'Content-Type': TYPES[extname(path)] ?? 'application/octet-stream', 'Accept-Ranges': 'bytes', ETag: `"${size}"` };
  const range = /^bytes=(\d+)-(\d+)$/u.exec(request.headers.range ?? '');
  const [start, end] = range ? [Number(range[1]), Math.min(Number(range[2]), size - 1)] : [0, size - 1];
  if (range) {
    headers['Content-Range'] = `bytes ${start}-${end}/${size}`;
    counts.requests += 1;
    counts.bytes += end - start + 1;
  }
  response.writeHead(range ? 206 : 200, { ...headers, 'Content-Length': end - start + 1 });
  createReadStream(path, { start, end }).pipe(response);
}

const server = createServer((request, response) => {
  try {
    send(request, response);
  } catch {
    response.writeHead(404);
    response.end();
  }
});
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${server.address().port}/`);
});
