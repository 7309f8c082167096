/* Visibility of the calls and variables of the shared library. */
#ifndef H5api_adpt_H
#define H5api_adpt_H

#if defined(_WIN32)
#define H5_DLL __declspec(dllimport)
#define H5_DLLVAR extern __declspec(dllimport)
#elif defined(__GNUC__)
#define H5_DLL __attribute__((visibility("default")))
#define H5_DLLVAR extern __attribute__((visibility("default")))
#else
#define H5_DLL
#define H5_DLLVAR extern
#endif

/* Other libraries that build on this one use these names in their own headers. */
#define H5HL_DLL H5_DLL
#define H5HL_DLLVAR H5_DLLVAR
#define H5CPP_DLL H5_DLL
#define H5CPP_DLLVAR H5_DLLVAR
#define H5CPP_HL_DLL H5_DLL
#define H5CPP_HL_DLLVAR H5_DLLVAR
#define H5FC_DLL H5_DLL
#define H5FC_DLLVAR H5_DLLVAR
#define H5FC_HL_DLL H5_DLL
#define H5FC_HL_DLLVAR H5_DLLVAR
#define H5FC_TEST_DLL H5_DLL
#define H5FC_TEST_DLLVAR H5_DLLVAR
#define H5TEST_DLL H5_DLL
#define H5TEST_DLLVAR H5_DLLVAR
#define H5TESTPAR_DLL H5_DLL
#define H5TESTPAR_DLLVAR H5_DLLVAR
#define H5TOOLS_DLL H5_DLL
#define H5TOOLS_DLLVAR H5_DLLVAR

#endif /* H5api_adpt_H */
