/* The C interface of HDF5 2.2.0, implemented by hyperslab. */
#ifndef HDF5_H
#define HDF5_H

/* Programs that read and write files. */
#include "H5public.h"
#include "H5Apublic.h"
#include "H5ACpublic.h"
#include "H5Dpublic.h"
#include "H5Epublic.h"
#include "H5ESpublic.h"
#include "H5Fpublic.h"
#include "H5FDpublic.h"
#include "H5Gpublic.h"
#include "H5Ipublic.h"
#include "H5Lpublic.h"
#include "H5Mpublic.h"
#include "H5MMpublic.h"
#include "H5Opublic.h"
#include "H5Ppublic.h"
#include "H5PLpublic.h"
#include "H5Rpublic.h"
#include "H5Spublic.h"
#include "H5Tpublic.h"
#include "H5VLpublic.h"
#include "H5Zpublic.h"

/* Authors of drivers, filters, links, datatype conversions and connectors. */
#include "H5ESdevelop.h"
#include "H5FDdevelop.h"
#include "H5Idevelop.h"
#include "H5Ldevelop.h"
#include "H5Tdevelop.h"
#include "H5TSdevelop.h"
#include "H5Zdevelop.h"

/* Drivers. */
#include "H5FDabsent.h"
#include "H5FDcore.h"
#include "H5FDfamily.h"
#include "H5FDlog.h"
#include "H5FDmpi.h"
#include "H5FDmulti.h"
#include "H5FDonion.h"
#include "H5FDsec2.h"
#include "H5FDsplitter.h"
#include "H5FDstdio.h"

/* Connectors. */
#include "H5VLconnector.h"
#include "H5VLconnector_passthru.h"
#include "H5VLnative.h"
#include "H5VLpassthru.h"

#endif /* HDF5_H */
