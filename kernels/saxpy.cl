// y = alpha x + y: the smallest useful kernel, and the check that everything around the matrices works.
//
// run: kernel=saxpy global=(N) local=(64) N=4096 alpha=f32:2.5
//      x=f32[N]:uniform(-1,1) y=f32[N]:uniform(-1,1)
// check: y ~ alpha * x + y   atol=1e-6

kernel void saxpy(const float alpha, const global float *x, global float *y)
{
    const size_t i = get_global_id(0);
    y[i] = fma(alpha, x[i], y[i]);
}
