// A convolution as a product (implicit GEMM): a row of the left matrix is what the filter sees of one place, gathered as
// it is needed, with zeros outside of the image. Images are HEIGHT x WIDTH x CHANNELS, filters SIZE x SIZE x CHANNELS x
// FILTERS, SIZE being odd; a step of 1, as many places as pixels. HEIGHT * WIDTH and FILTERS are multiples of 16, and
// SIZE * SIZE * CHANNELS of 16.
//
// run: kernel=conv2d global=(FILTERS/16*sg, HEIGHT*WIDTH/16) local=(sg, 1) HEIGHT=12 WIDTH=16 CHANNELS=16 FILTERS=32
//      flop=2*HEIGHT*WIDTH*FILTERS*9*CHANNELS
//      -DHEIGHT=12 -DWIDTH=16 -DCHANNELS=16 -DFILTERS=32 -DSIZE=3
//      image=f16[HEIGHT,WIDTH,CHANNELS]:uniform(-1,1) filters=f16[9*CHANNELS,FILTERS]:uniform(-1,1)
//      out=f32[HEIGHT,WIDTH,FILTERS]:zeros
// check: out[1:-1, 1:-1] ~ concatenate([image[0:-2, 0:-2], image[0:-2, 1:-1], image[0:-2, 2:],
//            image[1:-1, 0:-2], image[1:-1, 1:-1], image[1:-1, 2:],
//            image[2:, 0:-2], image[2:, 1:-1], image[2:, 2:]], 2).astype(f32) @ filters.astype(f32)   atol=1e-3

#pragma OPENCL EXTENSION cl_khr_cooperative_matrix : enable

#define ROW_MAJOR CLK_COOPERATIVE_MATRIX_LAYOUT_ROW_MAJOR
#define MATRIX(ROWS, COLUMNS, USE) \
    __attribute__((coop_mat(CLK_COOPERATIVE_MATRIX_SCOPE_SUBGROUP, ROWS, COLUMNS, CLK_COOPERATIVE_MATRIX_##USE)))
#define SEEN (SIZE * SIZE * CHANNELS)

typedef half Places MATRIX(16, 16, A);
typedef half Filters MATRIX(16, 16, B);
typedef float Sums MATRIX(16, 16, ACCUMULATOR);

half pixel(uint r, uint c, const global half *image, uint place, uint k)
{
    const uint at = place + r, in_filter = (k + c) / CHANNELS;
    const int y = (int)(at / WIDTH + in_filter / SIZE) - SIZE / 2;
    const int x = (int)(at % WIDTH + in_filter % SIZE) - SIZE / 2;
    const bool inside = y >= 0 && y < HEIGHT && x >= 0 && x < WIDTH;
    return inside ? image[(y * WIDTH + x) * CHANNELS + (k + c) % CHANNELS] : 0;
}

kernel void conv2d(const global half *image, const global half *filters, global float *out)
{
    const uint place = get_group_id(1) * 16, filter = get_group_id(0) * 16;
    Sums sum = coop_mat_init(0);

    for (uint k = 0; k < SEEN; k += 16) {
        const Places places = coop_mat_build(pixel, image, place, k);
        const Filters right = coop_mat_load(filters + k * FILTERS + filter, ROW_MAJOR, FILTERS);
        sum = coop_mat_mulAdd(places, right, sum);
    }
    coop_mat_store(out + place * FILTERS + filter, sum, ROW_MAJOR, FILTERS);
}
