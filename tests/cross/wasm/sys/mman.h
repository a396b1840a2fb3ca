/* mman.h -- of memory there is none to map, and nothing to advise. */
