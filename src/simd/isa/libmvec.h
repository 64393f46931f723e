// glibc's functions of vectors, where the build found them: CLADTORCH_LIBMVEC(v, expf) is the name of one of
// one argument. At global scope, since declarations in an unnamed namespace would be of other functions.
#if defined(CLADTORCH_HAS_LIBMVEC)
#if CLADTORCH_VECTOR_FLOATS == 16
#define CLADTORCH_LIBMVEC(arguments, name) _ZGVeN16##arguments##_##name
#elif CLADTORCH_VECTOR_FLOATS == 8
#define CLADTORCH_LIBMVEC(arguments, name) _ZGVdN8##arguments##_##name
#else
#define CLADTORCH_LIBMVEC(arguments, name) _ZGVbN4##arguments##_##name
#endif

typedef float LibmvecFloats __attribute__((vector_size(CLADTORCH_VECTOR_FLOATS * 4)));

#define CLADTORCH_DECLARE(name, slope) LibmvecFloats CLADTORCH_LIBMVEC(v, name##f)(LibmvecFloats);
extern "C" {
CLADTORCH_LIBRARY_PRIMITIVES(CLADTORCH_DECLARE)
LibmvecFloats CLADTORCH_LIBMVEC(vv, powf)(LibmvecFloats, LibmvecFloats);
}
#undef CLADTORCH_DECLARE
#endif
