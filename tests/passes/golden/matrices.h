// What the sources in these folders share.
#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(use) __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, 4, 4, CLK_COOPERATIVE_MATRIX_##use)))
typedef float A MATRIX(A);
typedef float B MATRIX(B);
typedef float C MATRIX(ACCUMULATOR);
typedef int I MATRIX(ACCUMULATOR);
typedef uint U MATRIX(ACCUMULATOR);
typedef float M __attribute__((matrix_type(2, 3)));
typedef float N __attribute__((matrix_type(3, 2)));
typedef float Row __attribute__((matrix_type(1, 3)));
typedef double D __attribute__((matrix_type(2, 3)));
typedef float Square __attribute__((matrix_type(2, 2)));
