// Sources of bytes: files that the user chose, and files at URLs.

/** The number of bytes that the first request for a file at a URL reads. */
const FIRST_BYTES = 65536;

/** The largest gap between two ranges that one request for a file at a URL reads. */
const GAP_BYTES = 128 * 1024;

/** The largest file that is loaded whole, because its server does not send ranges or a version. */
const WHOLE_BYTES = 512 * 2 ** 20;

/** Returns the source of a `File` or `Blob`. */
export function fileSource(file, name = file.name) {
  const read = async (start, end) => new Uint8Array(await file.slice(start, end).arrayBuffer());
  return { name, size: file.size, read };
}

/**
 * Calls `fetch` without the browser's cache, which joins ranges of different versions under the
 * headers of the first one. A failure that has no answer says why: browsers hide the cause from
 * pages, and a request whose answer the page cannot read shows it.
 */
async function request(url, options = {}) {
  try {
    return await fetch(url, { cache: 'no-store', ...options });
  } catch (error) {
    options.signal?.throwIfAborted();
    const isReached = await fetch(url, { mode: 'no-cors', method: 'HEAD' }).then(
      () => true,
      () => false,
    );
    const reason = isReached
      ? 'the server does not allow pages of other sites to read it: it must send Access-Control-Allow-Origin'
      : 'the server cannot be reached, or it refuses requests of pages';
    throw new Error(`${url}: ${reason}`, { cause: error });
  }
}

/** Returns a request for a range of a file. */
async function requestRange(url, start, end, signal) {
  const response = await request(url, { headers: { Range: `bytes=${start}-${end - 1}` }, signal });
  if (!response.ok && response.status !== 416) {
    throw new Error(`${url}: the server answers ${response.status} ${response.statusText}`.trimEnd());
  }
  return response;
}

/** Returns a text that differs between the versions of a file; an empty one if there is none. */
function versionOf({ headers }) {
  return [headers.get('ETag'), headers.get('Last-Modified')].filter(Boolean).join(' ');
}

/** Returns the range of an answer and the size of the file, which is NaN if the server hides it. */
function rangeOf(response) {
  const found = /^bytes (\d+)-(\d+)\/(\d+|\*)$/u.exec(response.headers.get('Content-Range') ?? '');
  return found && { start: Number(found[1]), end: Number(found[2]) + 1, size: Number(found[3]) };
}

function changed(url) {
  return new Error(`${url}: the file has changed since it was opened; load the page again`);
}

/** Returns the size of a file from the answer to a request for its first bytes. */
async function sizeOf(url, response) {
  const size = rangeOf(response)?.size;
  if (Number.isSafeInteger(size)) {
    return size;
  }
  // Other sites must allow a page to read Content-Range, but not Content-Length.
  const head = await request(url, { method: 'HEAD' });
  const length = head.headers.get('Content-Length');
  if (!head.ok || length === null) {
    throw new Error(
      `${url}: the server does not state the size of the file: it must allow pages to read Content-Range`,
    );
  }
  if (versionOf(head) !== versionOf(response)) {
    throw changed(url);
  }
  return Number(length);
}

/** Returns a whole file from one answer, so that all its bytes are of one version. */
async function whole(url, response, reason) {
  const tooLarge = () => {
    const limit = `more than the ${WHOLE_BYTES / 2 ** 20} MiB that the page loads whole`;
    return new Error(`${url}: ${reason}, and the file has ${limit}`);
  };
  if (Number(response.headers.get('Content-Length')) > WHOLE_BYTES) {
    await response.body.cancel();
    throw tooLarge();
  }
  const reader = response.body.getReader();
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return new Blob(parts);
    }
    parts.push(value);
    size += value.length;
    if (size > WHOLE_BYTES) {
      await reader.cancel();
      throw tooLarge();
    }
  }
}

/** Loads a file whose server states no version, so that ranges could be of different versions. */
async function wholeWithoutVersion(url) {
  const response = await request(url);
  if (!response.ok) {
    throw new Error(`${url}: the server answers ${response.status}`);
  }
  return whole(url, response, 'the server does not state its version (ETag or Last-Modified)');
}

/**
 * Returns the source of the file at a URL. All bytes are of one version of the file: a range of
 * another version is an error. A file whose server sends no ranges or no version is loaded whole.
 */
export async function urlSource(url) {
  const name = decodeURIComponent(new URL(url).pathname.split('/').pop() || 'file');
  const first = await requestRange(url, 0, FIRST_BYTES);
  if (first.status === 200) {
    return fileSource(await whole(url, first, 'the server does not send ranges (206 Partial Content)'), name);
  }
  if (first.status === 416) {
    return fileSource(new Blob([]), name);
  }
  const version = versionOf(first);
  if (version === '') {
    return fileSource(await wholeWithoutVersion(url), name);
  }
  const size = await sizeOf(url, first);
  const start = new Uint8Array(await first.arrayBuffer());
  const read = async (from, to, signal) => {
    if (to <= start.length) {
      return start.slice(from, to);
    }
    const response = await requestRange(url, from, to, signal);
    const range = rangeOf(response);
    const isOther = range && Number.isSafeInteger(range.size) && range.size !== size;
    if (response.status !== 206 || versionOf(response) !== version || isOther) {
      throw changed(url);
    }
    if (range && (range.start !== from || range.end !== to)) {
      throw new Error(`${url}: the server sends bytes ${range.start} to ${range.end} instead of ${from} to ${to}`);
    }
    return new Uint8Array(await response.arrayBuffer());
  };
  return { name, size, read, gap: GAP_BYTES };
}
