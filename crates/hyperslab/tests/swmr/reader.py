"""Follows a writer with libhdf5 and looks at every element that it has not seen, and some that it has."""
import os, random, sys
import h5py, numpy as np

path, stop, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
draw = random.Random(seed)
file = h5py.File(path, "r", libver="latest", swmr=True)
WIDTHS = {"line": 1, "plain": 2, "fixed": 3, "rows": 4, "plane": 5}
datasets = {name: file[name] for name in WIDTHS}
seen = {name: dataset.shape for name, dataset in datasets.items()}


def expected(name, starts, shape, kind):
    places = np.meshgrid(*[np.arange(s, s + n) for s, n in zip(starts, shape)], indexing="ij")
    columns = places[1] if len(places) > 1 else 0
    return (places[0] * 1000003 + columns * 7 + WIDTHS[name]).astype(kind)


def check(name, dataset, starts, shape):
    got = dataset[tuple(slice(s, s + n) for s, n in zip(starts, shape))]
    want = expected(name, starts, shape, dataset.dtype)
    if not np.array_equal(got, want):
        bad = np.argwhere(got != want)
        sys.exit(f"{name} {dataset.shape} from {starts}: {len(bad)} elements are wrong, the first at {bad[0]}: {got[tuple(bad[0])]}")


refreshes = elements = 0
print("ready", flush=True)
last = False
while True:
    for name, dataset in datasets.items():
        dataset.refresh()
        shape = dataset.shape
        if any(now < before for now, before in zip(shape, seen[name])):
            sys.exit(f"{name} went back from {seen[name]} to {shape}")
        refreshes += 1
        if 0 in shape:
            seen[name] = shape
            continue
        whole = last or draw.random() < 0.02
        starts = [0 if whole or draw.random() < 0.3 else max(0, b - 3) for b in seen[name]]
        if not whole and shape[0] - starts[0] > 4000:
            starts[0] = shape[0] - 4000
        check(name, dataset, starts, [n - s for n, s in zip(shape, starts)])
        elements += int(np.prod([n - s for n, s in zip(shape, starts)]))
        seen[name] = shape
    if last:
        break
    last = os.path.exists(stop)
print(f"refreshes {refreshes} elements {elements} retries 0 shapes {'/'.join('x'.join(map(str, s)) for s in seen.values())}", flush=True)
