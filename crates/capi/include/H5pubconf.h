/* Configuration of the library and properties of the platform. The library has no parallel access,
 * no map interface, and no drivers for S3, HDFS or direct I/O: their macros are not defined.
 * Neither is H5_HAVE_THREADSAFE; H5is_library_threadsafe answers this question at run time. */
#ifndef H5pubconf_H
#define H5pubconf_H

/* The version of the interface. Build systems read this line. */
#define H5_VERSION "2.2.0"
#define H5_PACKAGE "hdf5"
#define H5_PACKAGE_NAME "HDF5"
#define H5_PACKAGE_TARNAME "hdf5"
#define H5_PACKAGE_VERSION "2.2.0"
#define H5_PACKAGE_STRING "HDF5 2.2.0"
#define H5_PACKAGE_URL ""
#define H5_PACKAGE_BUGREPORT ""

/* The release whose names count by default; see H5version.h. */
#define H5_USE_200_API_DEFAULT 1

/* Filters that the library always has. */
#define H5_HAVE_FILTER_DEFLATE 1
#define H5_HAVE_FILTER_SZIP 1

/* The names by which build scripts ask for deflate, although the library needs no zlib. Those of
 * szip are missing, because scripts that see them link a library of szip. */
#define H5_HAVE_ZLIB_H 1
#define H5_HAVE_LIBZ 1

/* Files are locked while they are open; a file system without locks is no error. */
#define H5_USE_FILE_LOCKING 1
#define H5_IGNORE_DISABLED_FILE_LOCKS 1

/* Conversions call H5T_conv_except_func_t, and prefer exact results to speed. */
#define H5_WANT_DCONV_EXCEPTION 1
#define H5_WANT_DATA_ACCURACY 1

/* The folder of plugins if HDF5_PLUGIN_PATH is not set. */
#define H5_DEFAULT_PLUGINDIR "/usr/local/hdf5/lib/plugin"

/* The order of bytes. */
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define WORDS_BIGENDIAN 1
#endif

/* Sizes of the types of C in bytes. */
#define H5_SIZEOF_BOOL 1
#define H5_SIZEOF_CHAR 1
#define H5_SIZEOF_SHORT __SIZEOF_SHORT__
#define H5_SIZEOF_INT __SIZEOF_INT__
#define H5_SIZEOF_UNSIGNED __SIZEOF_INT__
#define H5_SIZEOF_LONG __SIZEOF_LONG__
#define H5_SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#define H5_SIZEOF_FLOAT __SIZEOF_FLOAT__
#define H5_SIZEOF_DOUBLE __SIZEOF_DOUBLE__
#define H5_SIZEOF_LONG_DOUBLE __SIZEOF_LONG_DOUBLE__
#define H5_SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define H5_SIZEOF_SSIZE_T __SIZEOF_SIZE_T__
#define H5_SIZEOF_PTRDIFF_T __SIZEOF_PTRDIFF_T__
#define H5_SIZEOF_OFF_T 8
#define H5_SIZEOF_TIME_T 8

/* Complex numbers of C are two numbers of the real type. */
#define H5_HAVE_COMPLEX_NUMBERS 1
#define H5_HAVE_C99_COMPLEX_NUMBERS 1
#define H5_SIZEOF_FLOAT_COMPLEX (2 * __SIZEOF_FLOAT__)
#define H5_SIZEOF_DOUBLE_COMPLEX (2 * __SIZEOF_DOUBLE__)
#define H5_SIZEOF_LONG_DOUBLE_COMPLEX (2 * __SIZEOF_LONG_DOUBLE__)

/* The type _Float16, if the compiler has it; H5T_NATIVE_FLOAT16 exists in any case. */
#ifdef __FLT16_MANT_DIG__
#define H5_HAVE__FLOAT16 1
#define H5_SIZEOF__FLOAT16 2
#else
#define H5_SIZEOF__FLOAT16 0
#endif

/* Sizes of the integers of stdint.h in bytes. */
#define H5_SIZEOF_INT8_T 1
#define H5_SIZEOF_UINT8_T 1
#define H5_SIZEOF_INT_LEAST8_T 1
#define H5_SIZEOF_UINT_LEAST8_T 1
#define H5_SIZEOF_INT16_T 2
#define H5_SIZEOF_UINT16_T 2
#define H5_SIZEOF_INT_LEAST16_T 2
#define H5_SIZEOF_UINT_LEAST16_T 2
#define H5_SIZEOF_INT32_T 4
#define H5_SIZEOF_UINT32_T 4
#define H5_SIZEOF_INT_LEAST32_T 4
#define H5_SIZEOF_UINT_LEAST32_T 4
#define H5_SIZEOF_INT64_T 8
#define H5_SIZEOF_UINT64_T 8
#define H5_SIZEOF_INT_LEAST64_T 8
#define H5_SIZEOF_UINT_LEAST64_T 8

/* The fast integers differ between C libraries. */
#define H5_SIZEOF_INT_FAST8_T 1
#define H5_SIZEOF_UINT_FAST8_T 1
#if defined(__INT_FAST16_MAX__) && __INT_FAST16_MAX__ > 2147483647
#define H5_SIZEOF_INT_FAST16_T 8
#define H5_SIZEOF_UINT_FAST16_T 8
#elif defined(__INT_FAST16_MAX__) && __INT_FAST16_MAX__ > 32767
#define H5_SIZEOF_INT_FAST16_T 4
#define H5_SIZEOF_UINT_FAST16_T 4
#else
#define H5_SIZEOF_INT_FAST16_T 2
#define H5_SIZEOF_UINT_FAST16_T 2
#endif
#if defined(__INT_FAST32_MAX__) && __INT_FAST32_MAX__ > 2147483647
#define H5_SIZEOF_INT_FAST32_T 8
#define H5_SIZEOF_UINT_FAST32_T 8
#else
#define H5_SIZEOF_INT_FAST32_T 4
#define H5_SIZEOF_UINT_FAST32_T 4
#endif
#define H5_SIZEOF_INT_FAST64_T 8
#define H5_SIZEOF_UINT_FAST64_T 8

/* Headers and calls of the platform, for programs that do not test them. */
#if defined(__unix__) || defined(__APPLE__)
#define H5_HAVE_ALARM 1
#define H5_HAVE_ARPA_INET_H 1
#define H5_HAVE_ASPRINTF 1
#define H5_HAVE_ATTRIBUTE 1
#define H5_HAVE_CLOCK_GETTIME 1
#define H5_HAVE_DIRENT_H 1
#define H5_HAVE_DLFCN_H 1
#define H5_HAVE_FCNTL 1
#define H5_HAVE_FLOCK 1
#define H5_HAVE_FORK 1
#define H5_HAVE_FSEEKO 1
#define H5_HAVE_GETHOSTNAME 1
#define H5_HAVE_GETRUSAGE 1
#define H5_HAVE_GETTIMEOFDAY 1
#define H5_HAVE_IOCTL 1
#define H5_HAVE_LIBDL 1
#define H5_HAVE_LIBM 1
#define H5_HAVE_LIBPTHREAD 1
#define H5_HAVE_NETDB_H 1
#define H5_HAVE_NETINET_IN_H 1
#define H5_HAVE_PREADWRITE 1
#define H5_HAVE_PTHREAD_H 1
#define H5_HAVE_PWD_H 1
#define H5_HAVE_STAT_ST_BLOCKS 1
#define H5_HAVE_STRCASESTR 1
#define H5_HAVE_STRDUP 1
#define H5_HAVE_SYMLINK 1
#define H5_HAVE_SYS_FILE_H 1
#define H5_HAVE_SYS_IOCTL_H 1
#define H5_HAVE_SYS_RESOURCE_H 1
#define H5_HAVE_SYS_SOCKET_H 1
#define H5_HAVE_SYS_STAT_H 1
#define H5_HAVE_SYS_TIME_H 1
#define H5_HAVE_TIMEZONE 1
#define H5_HAVE_TIOCGETD 1
#define H5_HAVE_TIOCGWINSZ 1
#define H5_HAVE_TMPFILE 1
#define H5_HAVE_TM_GMTOFF 1
#define H5_HAVE_UNISTD_H 1
#define H5_HAVE_VASPRINTF 1
#define H5_HAVE_WAITPID 1
#endif
#ifdef __APPLE__
#define H5_HAVE_DARWIN 1
#endif

#endif /* H5pubconf_H */
