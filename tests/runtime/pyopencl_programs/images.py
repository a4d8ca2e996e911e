"""An image, a sampler, and a median of three."""

import numpy as np
import pyopencl as cl

ctx = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(ctx)
if ctx.devices[0].image_support:
    picture = np.random.default_rng(3).integers(0, 255, (16, 32, 4)).astype(np.uint8)
    image = cl.image_from_array(ctx, picture, 4, norm_int=True)
    out = cl.Buffer(ctx, cl.mem_flags.WRITE_ONLY, 16 * 32 * 4)
    prg = cl.Program(
        ctx,
        """
    constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    kernel void copy(read_only image2d_t image, global uchar4 *out) {
      int2 at = (int2)(get_global_id(0), get_global_id(1));
      out[at.y * get_image_width(image) + at.x] = convert_uchar4_sat(read_imagef(image, nearest, at) * 255.0f + 0.5f);
    }""",
    ).build()
    prg.copy(queue, (32, 16), None, image, out)
    got = np.empty_like(picture)
    cl.enqueue_copy(queue, got, out)
    assert np.array_equal(got, picture)
