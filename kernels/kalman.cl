// A step of Kalman filters, one a work-item, with Clang's matrix types: the state's position is measured, its three
// derivatives are estimated.
//
// run: kernel=kalman_step global=(N) local=(16) N=256 r=f32:0.25
//      f=f32[4,4]:uniform(-0.5,1) q=f32[4,4]:uniform(0,0.125) z=f32[N]:uniform(-1,1)
//      x=f32[N,4]:uniform(-1,1) p=f32[N,4,4]:uniform(0.5,1)
// check: x ~ x @ f.T + (f @ p @ f.T + q)[:, :, 0]
//      * ((z - (x @ f.T)[:, 0]) / ((f @ p @ f.T + q)[:, 0, 0] + r)).reshape(N, 1)   atol=1e-4 rtol=1e-4
// check: p ~ f @ p @ f.T + q - (f @ p @ f.T + q)[:, :, :1] @ (f @ p @ f.T + q)[:, :1, :]
//      / ((f @ p @ f.T + q)[:, 0, 0] + r).reshape(N, 1, 1)   atol=1e-4 rtol=1e-4

typedef float m4 __attribute__((matrix_type(4, 4, layout(row_major))));
typedef float v4 __attribute__((matrix_type(4, 1, layout(row_major))));

// f: how a state becomes the next. q: the noise of that, r: the noise of the measurement z.
// x: the states, p: how they vary.
kernel void kalman_step(const float r, const global m4 *f, const global m4 *q, const global float *z, global v4 *x,
                        global m4 *p)
{
    const size_t i = get_global_id(0);

    v4 state = *f * x[i];
    m4 covariance = *f * p[i] * __builtin_matrix_transpose(*f) + *q;
    v4 gain = __builtin_matrix_column(covariance, 0) * (1 / (covariance[0][0] + r));

    x[i] = state + gain * (z[i] - state[0][0]);
    p[i] = covariance - gain * __builtin_matrix_row(covariance, 0);
}
