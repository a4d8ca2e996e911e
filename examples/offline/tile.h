/* The tile of multiply.cl. A change of this file compiles the kernel again. */
#define ROWS 16
#define COLUMNS 16
