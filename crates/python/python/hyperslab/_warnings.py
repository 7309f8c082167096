"""Warnings of the package."""


class H5pyWarning(UserWarning):
    """The base class of warnings."""


class H5pyDeprecationWarning(H5pyWarning):
    """A warning about a use of the interface that will become an error."""
