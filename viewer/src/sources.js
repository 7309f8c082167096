// Sources of bytes: files that the user chose, and files at URLs.

/** The number of bytes that the first request for a file at a URL reads. */
const FIRST_BYTES = 65536;

/** The largest gap between two ranges that one request for a file at a URL reads. */
const GAP_BYTES = 128 * 1024;

/** Returns the source of a `File` or `Blob`. */
export function fileSource(file, name = file.name) {
  const read = async (start, end) => new Uint8Array(await file.slice(start, end).arrayBuffer());
  return { name, size: file.size, read };
}

/** Returns the size of a file from the answer to a request for its first bytes. */
async function sizeOf(url, response) {
  const total = /\/(\d+)$/u.exec(response.headers.get('Content-Range') ?? '')?.[1];
  if (total !== undefined) {
    return Number(total);
  }
  // Other sites must allow a page to read Content-Range, but not Content-Length.
  const head = await fetch(url, { method: 'HEAD' });
  const length = head.headers.get('Content-Length');
  if (!head.ok || length === null) {
    throw new Error(`${url}: the server does not tell the size of the file`);
  }
  return Number(length);
}

/** Returns the source of the file at a URL. A server without ranges sends the whole file. */
export async function urlSource(url) {
  const name = decodeURIComponent(new URL(url).pathname.split('/').pop() || 'file');
  const request = async (start, end, signal) => {
    const response = await fetch(url, { headers: { Range: `bytes=${start}-${end - 1}` }, signal });
    if (!response.ok && response.status !== 416) {
      throw new Error(`${url}: the server answers ${response.status} ${response.statusText}`);
    }
    return response;
  };
  const first = await request(0, FIRST_BYTES);
  if (first.status === 200) {
    return fileSource(await first.blob(), name);
  }
  const size = first.status === 416 ? 0 : await sizeOf(url, first);
  const versionOf = (response) => response.headers.get('ETag') ?? response.headers.get('Last-Modified');
  const version = versionOf(first);
  const start = new Uint8Array(await first.arrayBuffer());
  const read = async (from, to, signal) => {
    if (to <= start.length) {
      return start.slice(from, to);
    }
    const response = await request(from, to, signal);
    if (response.status !== 206 || versionOf(response) !== version) {
      throw new Error(`${url}: the file has changed since it was opened`);
    }
    return new Uint8Array(await response.arrayBuffer());
  };
  return { name, size, read, gap: GAP_BYTES };
}
