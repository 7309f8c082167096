/* Dimension scales: datasets with the coordinates of dimensions. */
#ifndef H5DSpublic_H
#define H5DSpublic_H

#include "hdf5.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The class of a scale, and the attributes of scales and of their datasets. */
#define DIMENSION_SCALE_CLASS "DIMENSION_SCALE"
#define DIMENSION_LIST "DIMENSION_LIST"
#define REFERENCE_LIST "REFERENCE_LIST"
#define DIMENSION_LABELS "DIMENSION_LABELS"

/* A function that an iteration calls for each scale of a dimension. */
typedef herr_t (*H5DS_iterate_t)(hid_t dset, unsigned dim, hid_t scale, void *visitor_data);

/* Make scales, attach them to dimensions, detach them. */
H5HL_DLL herr_t H5DSwith_new_ref(hid_t obj_id, hbool_t *with_new_ref);
H5HL_DLL herr_t H5DSset_scale(hid_t dsid, const char *dimname);
H5HL_DLL herr_t H5DSattach_scale(hid_t did, hid_t dsid, unsigned int idx);
H5HL_DLL herr_t H5DSdetach_scale(hid_t did, hid_t dsid, unsigned int idx);

/* Labels of dimensions and names of scales. */
H5HL_DLL herr_t H5DSset_label(hid_t did, unsigned int idx, const char *label);
H5HL_DLL ssize_t H5DSget_label(hid_t did, unsigned int idx, char *label, size_t size);
H5HL_DLL ssize_t H5DSget_scale_name(hid_t did, char *name, size_t size);

/* Questions. */
H5HL_DLL htri_t H5DSis_scale(hid_t did);
H5HL_DLL htri_t H5DSis_attached(hid_t did, hid_t dsid, unsigned int idx);
H5HL_DLL int H5DSget_num_scales(hid_t did, unsigned int idx);
H5HL_DLL herr_t H5DSiterate_scales(hid_t did, unsigned int dim, int *idx, H5DS_iterate_t visitor,
    void *visitor_data);

#ifdef __cplusplus
}
#endif

#endif
