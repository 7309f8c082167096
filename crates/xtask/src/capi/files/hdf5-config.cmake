# The C interface of HDF5, implemented by hyperslab.
#
# Targets: hdf5-shared, and the same as hdf5::hdf5-shared; hdf5_hl-shared likewise, if the prefix has
# the high-level library.
# Variables: HDF5_VERSION, HDF5_LIBRARIES, HDF5_C_LIBRARIES, HDF5_C_SHARED_LIBRARY, HDF5_INCLUDE_DIR,
# HDF5_INCLUDE_DIRS, HDF5_LIBRARY_DIRS. Components: C, HL, shared.

get_filename_component(HDF5_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

set(HDF5_VERSION "@VERSION@")
set(HDF5_VERSION_STRING "${HDF5_VERSION}")
set(HDF5_PACKAGE_NAME "HDF5")
set(HDF5_INCLUDE_DIR "${HDF5_PREFIX}/include")
set(HDF5_INCLUDE_DIRS "${HDF5_INCLUDE_DIR}")
set(HDF5_C_INCLUDE_DIRS "${HDF5_INCLUDE_DIR}")
set(HDF5_LIBRARY_DIRS "${HDF5_PREFIX}/lib")
set(HDF5_TOOLS_DIR "${HDF5_PREFIX}/bin")

foreach(_hdf5_target IN ITEMS hdf5-shared hdf5::hdf5-shared)
  if(NOT TARGET ${_hdf5_target})
    add_library(${_hdf5_target} SHARED IMPORTED)
    set_target_properties(${_hdf5_target} PROPERTIES
      IMPORTED_LOCATION "${HDF5_PREFIX}/lib/@FILE@"
      IMPORTED_SONAME "@SONAME@"
      INTERFACE_INCLUDE_DIRECTORIES "${HDF5_INCLUDE_DIR}")
  endif()
endforeach()
set(_hdf5_components "C|shared")
set(_hdf5_has_hl OFF)
if(EXISTS "${HDF5_PREFIX}/lib/@HL_FILE@")
  set(_hdf5_has_hl ON)
  set(_hdf5_components "C|HL|shared")
  foreach(_hdf5_target IN ITEMS hdf5_hl-shared hdf5::hdf5_hl-shared)
    if(NOT TARGET ${_hdf5_target})
      add_library(${_hdf5_target} SHARED IMPORTED)
      set_target_properties(${_hdf5_target} PROPERTIES
        IMPORTED_LOCATION "${HDF5_PREFIX}/lib/@HL_FILE@"
        IMPORTED_SONAME "@HL_SONAME@"
        INTERFACE_INCLUDE_DIRECTORIES "${HDF5_INCLUDE_DIR}"
        INTERFACE_LINK_LIBRARIES hdf5::hdf5-shared)
    endif()
  endforeach()
  set(HDF5_HL_LIBRARIES hdf5::hdf5_hl-shared)
  set(HDF5_C_HL_LIBRARIES hdf5::hdf5_hl-shared)
  set(HDF5_HL_FOUND TRUE)
endif()
unset(_hdf5_target)

set(HDF5_C_SHARED_LIBRARY hdf5::hdf5-shared)
set(HDF5_C_LIBRARIES hdf5::hdf5-shared)
set(HDF5_LIBRARIES hdf5::hdf5-shared)
if(_hdf5_has_hl AND "HL" IN_LIST HDF5_FIND_COMPONENTS)
  set(HDF5_LIBRARIES hdf5::hdf5_hl-shared hdf5::hdf5-shared)
endif()
set(HDF5_EXPORT_LIBRARIES hdf5-shared)

# The parts that a build of HDF5 can have.
set(HDF5_BUILD_SHARED_LIBS ON)
set(HDF5_BUILD_STATIC_LIBS OFF)
set(HDF5_BUILD_HL_LIB ${_hdf5_has_hl})
set(HDF5_BUILD_CPP_LIB OFF)
set(HDF5_BUILD_FORTRAN OFF)
set(HDF5_ENABLE_PARALLEL OFF)
set(HDF5_PROVIDES_PARALLEL OFF)
set(HDF5_PROVIDES_SHARED_LIBS ON)
set(HDF5_PROVIDES_STATIC_LIBS OFF)
set(HDF5_PROVIDES_HL_LIB ${_hdf5_has_hl})
set(HDF5_PROVIDES_CPP_LIB OFF)
set(HDF5_PROVIDES_FORTRAN OFF)

set(HDF5_C_FOUND TRUE)
set(HDF5_shared_FOUND TRUE)
set(HDF5_C_shared_FOUND TRUE)
foreach(_hdf5_component IN LISTS HDF5_FIND_COMPONENTS)
  if(NOT _hdf5_component MATCHES "^(${_hdf5_components})$")
    set(HDF5_${_hdf5_component}_FOUND FALSE)
    if(HDF5_FIND_REQUIRED_${_hdf5_component})
      set(HDF5_FOUND FALSE)
      set(HDF5_NOT_FOUND_MESSAGE "hyperslab has no component ${_hdf5_component} of HDF5")
    endif()
  endif()
endforeach()
unset(_hdf5_component)
unset(_hdf5_components)
unset(_hdf5_has_hl)
