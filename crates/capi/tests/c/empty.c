/* Nothing besides the header that the compiler includes. */
typedef int nothing_t;
