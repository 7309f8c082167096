"""Prints the version of a libhdf5:  version_of.py LIBRARY"""
import ctypes
import sys

numbers = [ctypes.c_uint() for _ in range(3)]
ctypes.CDLL(sys.argv[1]).H5get_libversion(*map(ctypes.byref, numbers))
print(".".join(str(number.value) for number in numbers))
