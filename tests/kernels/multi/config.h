#ifndef CONFIG_H_
#define CONFIG_H_
#ifndef WG
#  define WG 64
#endif
#define PASTE_(a, b, c, d) a##_##b##_##c##d
#define PASTE(a, b, c, d) PASTE_(a, b, c, d)
#define FIRST(first, ...) (first)
#define LOG(text, ...) ((void)(sizeof(text) + FIRST(0, ##__VA_ARGS__)))
#define STATIC_INLINE static inline __attribute__((always_inline))
#if defined(__OPENCL_VERSION__) && (__OPENCL_VERSION__ >= 200 || \
    defined(cl_khr_fp64))
#define HAS_DOUBLE 1
#endif
#endif /* CONFIG_H_ */
