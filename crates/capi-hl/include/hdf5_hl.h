/* The high-level C interface of HDF5 2.2.0, implemented by hyperslab. */
#ifndef HDF5_HL_H
#define HDF5_HL_H

#include "hdf5.h"
#include "H5DOpublic.h"
#include "H5DSpublic.h"
#include "H5LTpublic.h"
#include "H5IMpublic.h"
#include "H5TBpublic.h"
#include "H5PTpublic.h"
#include "H5LDpublic.h"

#endif
