// Lattice Boltzmann, two dimensions and nine speeds: bounce-back walls, a driven lid, periodic otherwise.

#define Q 9
#define FOR_Q(i) for (int i = 0; i < Q; ++i)
typedef float real; typedef float2 real2;
typedef enum cell { FLUID = 0, WALL = 1 << 0, LID = 1 << 1, SOLID = WALL | LID } cell_t;

__constant int2 c[Q] = {
    (int2)( 0, 0),
    (int2)( 1, 0), (int2)(0, 1), (int2)(-1,  0), (int2)(0, -1),
    (int2)( 1, 1), (int2)(-1, 1), (int2)(-1, -1), (int2)(1, -1),
};
__constant real w[Q] = { 4.0f/9, 1.0f/9, 1.0f/9, 1.0f/9, 1.0f/9, 1.0f/36, 1.0f/36, 1.0f/36, 1.0f/36 };
__constant char opposite[] = { 0, 3, 4, 1, 2, 7, 8, 5, 6 };

typedef struct { real rho; real2 u; } moments_t;

moments_t moments(const real f[Q])
{
    moments_t m = { 0 };
    FOR_Q(i) { m.rho += f[i]; m.u += convert_float2(c[i]) * f[i]; }
    m.u /= m.rho;
    return m;
}

real equilibrium(int i, moments_t m)
{
    const real cu = 3.0f * dot(convert_float2(c[i]), m.u);
    return w[i] * m.rho * (1.0f + cu + 0.5f * cu * cu - 1.5f * dot(m.u, m.u));
}

__kernel void initialise(__global real (*f)[Q], const int2 size, const real2 u)
{
    const int at = get_global_id(1) * size.x + get_global_id(0);
    FOR_Q(i) f[at][i] = equilibrium(i, (moments_t){ .rho = 1.0f, .u = u });
}

__kernel void step_lattice(__global const real (*restrict f)[Q], __global real (*restrict g)[Q], __global const uchar *kind,
                           int2 size, real omega, real lid_speed)
{
    const int2 here = { get_global_id(0), get_global_id(1) };
    const int at = here.y * size.s0 + here.x;
    real fin[Q];
    FOR_Q(i) {
        const int2 from = (here - c[i] + size) % size;
        const int source = from.y * size.x + from.x;
        switch ((cell_t)(kind[source] & SOLID)) {
        case WALL:
            fin[i] = f[at][opposite[i]];
            break;
        case LID:
            fin[i] = f[at][opposite[i]] + 6.0f * w[i] * c[i].x * lid_speed;
            break;
        case FLUID: default:
            fin[i] = f[source][i];
        }
    }
    if (kind[at] & SOLID) { FOR_Q(i) g[at][i] = f[at][i]; return; }
    const moments_t m = moments(fin);
    FOR_Q(i) g[at][i] = fin[i] + omega * (equilibrium(i, m) - fin[i]);
}
