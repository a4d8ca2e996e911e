// kernels/conv2d.cl in plain OpenCL C: tiles of 64 x 64 in local memory, 4 x 4 sums for each work-item.
//
// run: kernel=conv2d global=(FILTERS/4, HEIGHT*WIDTH/4) local=(16, 16) HEIGHT=12 WIDTH=16 CHANNELS=32 FILTERS=64
//      flop=2*HEIGHT*WIDTH*FILTERS*9*CHANNELS
//      -DHEIGHT=12 -DWIDTH=16 -DCHANNELS=32 -DFILTERS=64 -DSIZE=3
//      image=f16[HEIGHT,WIDTH,CHANNELS]:uniform(-1,1) filters=f16[9*CHANNELS,FILTERS]:uniform(-1,1)
//      out=f32[HEIGHT,WIDTH,FILTERS]:zeros
// check: out[1:-1, 1:-1] ~ concatenate([image[0:-2, 0:-2], image[0:-2, 1:-1], image[0:-2, 2:],
//            image[1:-1, 0:-2], image[1:-1, 1:-1], image[1:-1, 2:],
//            image[2:, 0:-2], image[2:, 1:-1], image[2:, 2:]], 2).astype(f32) @ filters.astype(f32)   atol=1e-3

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define TILE 64
#define EACH 4

#define SEEN (SIZE * SIZE * CHANNELS)

float pixel(const global half *image, uint at, uint k)
{
    const uint in_filter = k / CHANNELS;
    const int y = (int)(at / WIDTH + in_filter / SIZE) - SIZE / 2;
    const int x = (int)(at % WIDTH + in_filter % SIZE) - SIZE / 2;
    const bool inside = y >= 0 && y < HEIGHT && x >= 0 && x < WIDTH;
    return inside ? image[(y * WIDTH + x) * CHANNELS + k % CHANNELS] : 0;
}

kernel void conv2d(const global half *image, const global half *filters, global float *out)
{
    local float left[32][TILE], right[32][TILE];
    const uint along = get_local_id(0), down = get_local_id(1), item = down * 16 + along;
    const uint row = get_group_id(1) * TILE, column = get_group_id(0) * TILE;
    float sum[EACH][EACH] = {{0}};
    for (uint k = 0; k < SEEN; k += 32) {
        for (uint i = item; i < 32 * TILE; i += 256) {
            const uint part = i % 32, line = i / 32;
            left[part][line] = pixel(image, row + line, k + part);
            right[i / TILE][i % TILE] = filters[(k + i / TILE) * FILTERS + column + i % TILE];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint part = 0; part < 32; part++) {
            float l[EACH], r[EACH];
            for (uint i = 0; i < EACH; i++) {
                l[i] = left[part][down + 16 * i];
                r[i] = right[part][along + 16 * i];
            }
            for (uint i = 0; i < EACH; i++)
                for (uint j = 0; j < EACH; j++)
                    sum[i][j] = fma(l[i], r[j], sum[i][j]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint i = 0; i < EACH; i++)
        for (uint j = 0; j < EACH; j++)
            out[(row + down + 16 * i) * FILTERS + column + along + 16 * j] = sum[i][j];
}
