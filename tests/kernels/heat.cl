// Steps of the heat equation in a box: star stencils of radius R, planes through private and local memory.

#ifndef R
#define R 2
#endif
#ifndef BX
#define BX 16
#define BY 4
#endif
#define LX (BX + 2 * (R))
#define LY (BY + 2 * R)
#define IDX(x, y, z) (((z) * ny + (y)) * nx + (x))

#if R == 1
__constant float weight[] = {-2.0f, 1.0f};
#elif R == 2
__constant float weight[R + 1] = {-5.0f / 2, 4.0f / 3, -1.0f / 12};
#else
#error "weights for this radius are not known"
#endif

__kernel
__attribute__((reqd_work_group_size(BX, BY, 1)))
__attribute__((vec_type_hint(float)))
void heat(
    const __global float* restrict u,
          __global float* restrict out,
    const unsigned nx, const unsigned ny, unsigned nz,
    const float c)
{
    __local float plane[LY][LX];
    const unsigned int x = get_global_id(0), y = get_global_id(1);
    const unsigned lx = get_local_id(0) + R, ly = get_local_id(1) + R;
    const bool inside = x >= R && x < nx - R && y >= R && y < ny - R;
    float behind[R], front[R], current;

    for (int i = 0; i < R; i++) behind[R - 1 - i] = u[IDX(x, y, i)];
    current = u[IDX(x, y, R)];
    for (int i = 0; i < R; i++) front[i] = u[IDX(x, y, R + 1 + i)];

    for (unsigned z = R; z < nz - R; z++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        plane[ly][lx] = current;
        if (get_local_id(0) < R) {
            plane[ly][lx - R] = x >= R ? u[IDX(x - R, y, z)] : 0.0f;
            plane[ly][lx + BX] = x + BX < nx ? u[IDX(x + BX, y, z)] : 0.0f;
        }
        if (get_local_id(1) < R) {
            plane[ly - R][lx] = y >= R ? u[IDX(x, y - R, z)] : 0.0f;
            plane[ly + BY][lx] = y + BY < ny ? u[IDX(x, y + BY, z)] : 0.0f;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (inside) {
            float sum = 3.0f * weight[0] * current;
            #pragma unroll
            for (int r = 1; r <= R; r++)
                sum += weight[r] * (plane[ly][lx - r] + plane[ly][lx + r] + plane[ly - r][lx] + plane[ly + r][lx]
                                    + behind[r - 1] + front[r - 1]);
            out[IDX(x, y, z)] = current + c * sum;
        }
        for (int i = R - 1; i > 0; i--) behind[i] = behind[i - 1];
        behind[0] = current;
        current = front[0];
        for (int i = 0; i < R - 1; i++) front[i] = front[i + 1];
        if (z + R + 1 < nz) front[R - 1] = u[IDX(x, y, z + R + 1)];
    }
}
