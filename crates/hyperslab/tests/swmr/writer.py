"""Writes with libhdf5 what the readers of `main.rs` expect: every element is a function of where it lies."""
import random, sys, time
import h5py, numpy as np

path, seconds, seed = sys.argv[1], float(sys.argv[2]), int(sys.argv[3])
draw = random.Random(seed)


def value(places, width, kind):
    rows, columns = places
    return (rows * 1000003 + columns * 7 + width).astype(kind)


def grid(first, last, columns, width, kind):
    return value(np.meshgrid(np.arange(first, last), np.arange(*columns), indexing="ij"), width, kind)


file = h5py.File(path, "w", libver="latest")
line = file.create_dataset("line", (0,), "<i8", maxshape=(None,), chunks=(64,), compression="gzip")
plain = file.create_dataset("plain", (0,), "<u4", maxshape=(None,), chunks=(100,))
fixed = file.create_dataset("fixed", (0, 3), "<i8", maxshape=(4000, 3), chunks=(7, 3), compression="gzip")
rows = file.create_dataset("rows", (0, 5), "<f8", maxshape=(None, 5), chunks=(16, 3))
plane = file.create_dataset("plane", (0, 0), "<i8", maxshape=(None, None), chunks=(4, 5), compression="gzip")
file.swmr_mode = True
print("ready", flush=True)
appends = flushes = 0
end = time.time() + seconds
while time.time() < end:
    which = draw.randrange(5)
    if which < 2:
        dataset, width, kind = ((line, 1, "<i8"), (plain, 2, "<u4"))[which]
        before, more = dataset.shape[0], draw.choice((1, 3, 64, 200))
        dataset.resize((before + more,))
        dataset[before:] = value((np.arange(before, before + more), 0), width, kind)
    elif which < 4:
        dataset, columns, width, kind, most = ((fixed, 3, 3, "<i8", 4000), (rows, 5, 4, "<f8", 1 << 40))[which - 2]
        before = dataset.shape[0]
        more = min(draw.choice((1, 2, 16, 40)), most - before)
        if more <= 0:
            continue
        dataset.resize((before + more, columns))
        dataset[before:] = grid(before, before + more, (0, columns), width, kind)
    else:
        r, c = plane.shape
        if draw.random() < 0.7 and r < 3000:
            more = draw.choice((1, 4, 9))
            plane.resize((r + more, c))
            plane[r:] = grid(r, r + more, (0, c), 5, "<i8")
        elif c < 60:
            plane.resize((r, c + 1))
            plane[:, c:] = grid(0, r, (c, c + 1), 5, "<i8")
    appends += 1
    if draw.random() < 0.3:
        file.flush()
        flushes += 1
        time.sleep(draw.choice((0, 0.001, 0.01)))
file.close()
print(f"appends {appends} flushes {flushes}", flush=True)
