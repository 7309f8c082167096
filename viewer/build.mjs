// Builds the page into the folder of the first argument: each file compressed by gzip, without
// times, so that the same sources give the same bytes.
import { build } from 'esbuild';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2];
if (!target) {
  throw new Error('node build.mjs FOLDER');
}

const result = await build({
  absWorkingDir: root,
  entryPoints: { viewer: 'src/main.jsx', worker: 'src/worker.js' },
  outdir: 'page',
  bundle: true,
  minify: true,
  write: false,
  metafile: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  legalComments: 'none',
  // These packages compile text to functions, which the security policy of the page forbids.
  alias: { ndarray: './src/ndarray.js', 'ndarray-ops': './src/ndarray.js' },
  define: { 'process.env.NODE_ENV': '"production"' },
  logLevel: 'warning',
});

/** Returns the folders of the packages whose code is in the page. */
function packages() {
  const folders = new Set();
  for (const input of Object.keys(result.metafile.inputs)) {
    const match = input.match(/^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//);
    if (match) {
      folders.add(match[1]);
    }
  }
  return [...folders].sort();
}

/** Returns the name, version and licence text of a package. */
function licenseOf(folder) {
  const description = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  const isLicense = (name) => /^(licen[cs]e|copying|notice)/i.test(name);
  const texts = readdirSync(join(root, folder)).filter(isLicense).sort();
  const text = texts.map((name) => readFileSync(join(root, folder, name), 'utf8').trim()).join('\n\n');
  const kind = description.license ?? 'see the text';
  if (!text && !description.license) {
    throw new Error(`${folder} has no licence`);
  }
  const author = typeof description.author === 'string' ? description.author : description.author?.name;
  const notice = text || `Licence: ${kind}${author ? `. Copyright ${author}` : ''}`;
  return `${description.name} ${description.version} (${kind})\n\n${notice}\n`;
}

const line = `\n${'-'.repeat(80)}\n\n`;
const licenses = `The page contains code of these packages.\n${line}${packages().map(licenseOf).join(line)}`;
const files = {
  'index.html': readFileSync(join(root, 'src/index.html')),
  'local.html': readFileSync(join(root, 'src/local.html')),
  'licenses.txt': Buffer.from(licenses),
};
for (const output of result.outputFiles) {
  files[output.path.split(/[\\/]/).pop()] = Buffer.from(output.contents);
}

mkdirSync(target, { recursive: true });
for (const [name, contents] of Object.entries(files)) {
  const packed = gzipSync(contents, { level: 9 });
  // The byte with the system that compressed.
  packed[9] = 255;
  writeFileSync(join(target, `${name}.gz`), packed);
  console.log(`${name}: ${contents.length} bytes, ${packed.length} compressed`);
}
