"""The configuration of libhdf5's metadata cache, which this package keeps and does not use."""

from __future__ import annotations


class CacheConfig:
    """Numbers that programs set and read."""

    def __init__(self) -> None:
        self.version = 1
        self.rpt_fcn_enabled = False
        self.evictions_enabled = True
        self.set_initial_size = True
        self.initial_size = 2 * 1024 * 1024
        self.min_clean_fraction = 0.3
        self.max_size = 32 * 1024 * 1024
        self.min_size = 1024 * 1024
        self.epoch_length = 50000
