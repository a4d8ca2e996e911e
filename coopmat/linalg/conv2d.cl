// Writes the part of an image that each result of a convolution reads as a row of a matrix: the product of this matrix
// and the weights is the convolution. One work-item copies one component. TYPE is an unsigned type of its size.
//
// Images are height x width x channels. The row of a result has kernel_height x kernel_width x depth components, from
// the channels `first_channel` on; they are zero outside the image.
kernel void patches(const global TYPE *images, global TYPE *rows, ulong offset, int height, int width, int channels,
                    int first_channel, int depth, int kernel_width, int out_height, int out_width, int stride_down,
                    int stride_right, int padding_above, int padding_left, int dilation_down, int dilation_right)
{
    const int component = get_global_id(0), place = component / depth;
    const size_t result = get_global_id(1);
    const int column = result % out_width, row = result / out_width % out_height;
    const size_t image = result / out_width / out_height;
    const int y = row * stride_down - padding_above + place / kernel_width * dilation_down;
    const int x = column * stride_right - padding_left + place % kernel_width * dilation_right;
    const bool is_inside = y >= 0 && y < height && x >= 0 && x < width;
    const size_t at = ((image * height + y) * width + x) * channels + first_channel + component % depth;
    rows[result * get_global_size(0) + component] = is_inside ? images[offset + at] : 0;
}
