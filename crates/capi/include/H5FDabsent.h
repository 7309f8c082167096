/* Drivers that this library does not have. Programs may name them; the identifiers are invalid. */
#ifndef H5FDabsent_H
#define H5FDabsent_H

#include "H5FDpublic.h"

#define H5FD_DIRECT H5I_INVALID_HID
#define H5FD_DIRECT_VALUE H5_VFD_INVALID
#define H5FD_HDFS H5I_INVALID_HID
#define H5FD_HDFS_VALUE H5_VFD_INVALID
#define H5FD_IOC H5I_INVALID_HID
#define H5FD_MIRROR H5I_INVALID_HID
#define H5FD_MPIO H5I_INVALID_HID
#define H5FD_ROS3 H5I_INVALID_HID
#define H5FD_ROS3_VALUE H5_VFD_INVALID
#define H5FD_SUBFILING H5I_INVALID_HID

/* Names of drivers for H5Pset_driver_by_name. */
#define H5FD_SUBFILING_NAME "subfiling"
#define H5FD_IOC_NAME "ioc"

#endif /* H5FDabsent_H */
