/* The functions are in h5hltest.h. */
