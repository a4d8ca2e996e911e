// Copies A or B of a product into panels, in the order in which gemm.cl reads them, and converts their components.
//
// A panel holds SIDE rows of A, or SIDE columns of B, and zeros beyond the matrix. It is contiguous, so that it fills
// few pages of memory, and no two of its parts share sets of a cache because of the matrix's stride. A subgroup
// copies CHUNK columns of A (rows of B) of a panel, DEPTH at a time. These macros select the variant:
//
//   TYPE, PANEL_TYPE           the component types of the matrix and of the panels
//   OF_B                       1 for B, 0 for A
//   BY_COLUMNS                 1 if consecutive elements in memory are those of a column
//   SIDE, DEPTH, CHUNK         CHUNK is a multiple of DEPTH
//   LINE                       consecutive components of a row of A in a panel: a multiple of DEPTH, or 1
//   PACK                       consecutive components of a column of B in a panel: those of a 32-bit word, or 1
//   FLIP                       1 if 128 is added to each byte, which makes signed bytes unsigned, and conversely
//   SUMS                       1 if each chunk of a panel is added up: the sums of its rows of A (columns of B) are
//                              behind the panel

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define COLUMN_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_COLUMN_MAJOR
#define PACKED CLK_COOPERATIVE_MATRIX_LAYOUT_PACKED
#define MATRIX(TYPE, ROWS, COLUMNS, USE) \
    TYPE __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))

#if OF_B
typedef MATRIX(TYPE, DEPTH, SIDE, B) Source;
typedef MATRIX(PANEL_TYPE, DEPTH, SIDE, B) Part;
#define ROW i
#define COLUMN first
#define ROWS k
#define COLUMNS side
#define LAYOUT_OF_PANEL (PACK > 1 ? PACKED : ROW_MAJOR)
#define STRIDE_OF_PANEL (SIDE * PACK)
#define PLACE_IN_PANEL (i * SIDE)
#else
typedef MATRIX(TYPE, SIDE, DEPTH, A) Source;
typedef MATRIX(PANEL_TYPE, SIDE, DEPTH, A) Part;
#define ROW first
#define COLUMN i
#define ROWS side
#define COLUMNS k
#define LAYOUT_OF_PANEL (LINE > 1 ? ROW_MAJOR : COLUMN_MAJOR)
#define STRIDE_OF_PANEL (LINE > 1 ? LINE : SIDE)
#define PLACE_IN_PANEL (i / LINE * LINE * SIDE + i % LINE)
#endif
#if BY_COLUMNS
#define LAYOUT COLUMN_MAJOR
#define PLACE (ROW + COLUMN * line)
#else
#define LAYOUT ROW_MAJOR
#define PLACE (ROW * line + COLUMN)
#endif

// side: the rows of A (columns of B). line: the distance of the matrix's rows, or columns if BY_COLUMNS.
// depth: k, rounded up to a multiple of DEPTH. size: the distance of panels.
kernel void pack(const global TYPE *from, global PANEL_TYPE *panels, ulong offset, ulong line, ulong batch,
                 ulong offset_panels, ulong size, ulong batch_panels, uint side, uint k, uint depth)
{
    const size_t first = get_group_id(0) * SIDE, begin = get_group_id(1) * CHUNK;
    from += offset + get_group_id(2) * batch;
    panels += offset_panels + get_group_id(2) * batch_panels + get_group_id(0) * size;
#if SUMS && OF_B
    typedef MATRIX(int, 1, SIDE, ACCUMULATOR) Sums;
    const MATRIX(uchar, 1, DEPTH, A) ones = coop_mat_init(1);
    Sums sums = coop_mat_init(0);
#elif SUMS
    typedef MATRIX(int, SIDE, 1, ACCUMULATOR) Sums;
    const MATRIX(char, DEPTH, 1, B) ones = coop_mat_init(1);
    Sums sums = coop_mat_init(0);
#endif
    for (size_t i = begin; i < begin + CHUNK && i < depth; i += DEPTH) {
        Source x;
        if (first + SIDE <= side && i + DEPTH <= k)
            x = coop_mat_load(from + PLACE, LAYOUT, line);
        else
            x = coop_mat_load_checked(from, LAYOUT, line, ROW, COLUMN, ROWS, COLUMNS);
#if FLIP
        x += (Source)coop_mat_init(128);
#endif
        Part part = coop_mat_convert(x);
        coop_mat_store(panels + PLACE_IN_PANEL, part, LAYOUT_OF_PANEL, STRIDE_OF_PANEL);
#if SUMS && OF_B
        MATRIX(char, DEPTH, SIDE, B) signed_part = coop_mat_load((const global char *)panels + i * SIDE, PACKED, SIDE * PACK);
        sums = coop_mat_mulAdd(ones, signed_part, sums);
#elif SUMS
        sums = coop_mat_mulAdd(part, ones, sums);
#endif
    }
#if SUMS
    // The sums of all chunks of a row or column are apart by SIDE.
    global int *const after = (global int *)(panels + (size_t)depth * SIDE) + get_group_id(1) * SIDE;
    coop_mat_store(after, sums, OF_B ? ROW_MAJOR : COLUMN_MAJOR, SIDE);
#endif
}
