"""Numbers of filters, and the filters of this build."""

from __future__ import annotations

from .. import _hyperslab as core

CLASS_T_VERS = 1
FILTER_ERROR, FILTER_NONE, FILTER_ALL = -1, 0, 0
FILTER_DEFLATE, FILTER_SHUFFLE, FILTER_FLETCHER32, FILTER_SZIP, FILTER_NBIT, FILTER_SCALEOFFSET = range(1, 7)
FILTER_LZF = 32000
FILTER_RESERVED, FILTER_MAX = 256, 65535
FLAG_DEFMASK, FLAG_MANDATORY, FLAG_OPTIONAL = 0x00FF, 0, 1
FLAG_INVMASK, FLAG_REVERSE, FLAG_SKIP_EDC = 0xFF00, 0x0100, 0x0200
SZIP_ALLOW_K13_OPTION_MASK, SZIP_CHIP_OPTION_MASK, SZIP_EC_OPTION_MASK, SZIP_NN_OPTION_MASK = 1, 2, 4, 32
SZIP_MAX_PIXELS_PER_BLOCK = 32
SO_FLOAT_DSCALE, SO_FLOAT_ESCALE, SO_INT = 0, 1, 2
SO_INT_MINBITS_DEFAULT = 0
FILTER_CONFIG_ENCODE_ENABLED, FILTER_CONFIG_DECODE_ENABLED = 1, 2
ERROR_EDC, DISABLE_EDC, ENABLE_EDC, NO_EDC = -1, 0, 1, 2

_HIDDEN: set[int] = set()


def filter_avail(filter_code: int) -> bool:
    """Return True if this build has a filter."""
    return filter_code in core.filters_available() and filter_code not in _HIDDEN


def get_filter_info(filter_code: int) -> int:
    """Return flags that tell if a filter encodes and decodes."""
    if not filter_avail(filter_code):
        raise ValueError(f"Filter {filter_code} is not available")
    return FILTER_CONFIG_ENCODE_ENABLED | FILTER_CONFIG_DECODE_ENABLED


def register_filter(cls_pointer_address: int) -> bool:
    """Refuse a filter in C: this package loads no machine code."""
    raise NotImplementedError("hyperslab does not call filters of libhdf5's C interface")


def unregister_filter(filter_code: int) -> bool:
    """Report a filter as absent from now on."""
    if not filter_avail(filter_code):
        raise RuntimeError(f"Filter {filter_code} is not available")
    _HIDDEN.add(filter_code)
    return True
