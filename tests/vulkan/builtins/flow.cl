// Control flow with goto, switches that fall through, barriers in loops, and copies by a work-group.
#define N 12

uint search(global const uint *a, uint key)
{
    for (uint n = 0; n < 40; n++) {
        for (uint k = 0; k < 5; k++) {
            if ((a[n] >> k & 7u) == (key & 7u))
                goto found;
            if (a[n] > 0xf0000000u)
                return 1000u + n;
            continue;
        found:
            return 10u * n + k;
        }
    }
    return 7u;
}

uint machine(uint state)
{
    uint steps = 0;
again:
    switch (state % 7u) {
    case 0:
        state = state / 7u + 1u;
    case 1:
        steps += 2u;
        state += 3u;
        break;
    case 2:
    case 5:
        if (++steps > 40u)
            goto done;
        state = state * 5u + 1u;
        goto again;
    default:
        state >>= 1;
        steps++;
        if (state < 3u)
            return steps;
    }
    if (steps < 100u)
        goto again;
done:
    return steps * 3u + state % 5u;
}

kernel void test(global uint *o, global const uint *a)
{
    const size_t i = get_global_id(0), l = get_local_id(0);
    global uint *r = o + N * i;
    local uint tile[64], other[32];
    event_t e = async_work_group_copy(tile, a + 16 * get_group_id(0), (size_t)64, 0);
    e = async_work_group_strided_copy(other, a + 3, (size_t)32, (size_t)2, e);
    prefetch(a, (size_t)16);
    wait_group_events(1, &e);
    r[0] = tile[l + 40] + other[l + 16];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < 16; step *= 2) {
        const uint left = l >= step ? tile[l - step] : 0u;
        barrier(CLK_LOCAL_MEM_FENCE);
        tile[l] += left;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    r[1] = tile[l];
    r[2] = search(a + i, a[i + 50]);
    r[3] = machine(a[i]);
    uint n = a[i] & 255u, odd = 0;
    do {
        if (n & 1u) {
            if (n == 77u)
                break;
            odd++;
            n = 3u * n + 1u;
            continue;
        }
        n /= 2u;
    } while (n > 1u && odd < 200u);
    r[4] = odd + 1000u * n;
    r[5] = (a[i] > 5u && a[i + 1] > a[i + 2]) || (a[i] & 3u ? a[i + 3] & 1u : a[i + 4] & 2u);
    long big = 0;
    switch ((long)a[i] << 2 & 0x10c) {
    case 0x100:
        big = 1;
        break;
    case 0x104l ... 0x10cl:
        big += 2;
    default:
        big += 4;
    }
    r[6] = (uint)big;
    for (int k = 0;; k++) {
        if (k == (int)(a[i] & 15u)) {
            r[7] = (uint)k;
            break;
        }
    }
    event_t back = async_work_group_copy(o + N * (i - l) + N - 1, tile, (size_t)1, 0);
    wait_group_events(1, &back);
    r[8] = (uint)get_global_size(0) + (uint)get_num_groups(0) * 100u + (uint)get_local_linear_id() * 10000u;
    r[9] = (uint)get_global_linear_id() + get_work_dim() * 0u + (uint)get_enqueued_local_size(0) * 1000u + (uint)get_global_offset(0);
    r[10] = i == 3 ? (uint)(printf("%d %u %.2f %v4hlx\n", -3, a[0] & 1u, 1.5f, (uint4)(1, 2, 3, 4)) * 0) : 5u;
    if (l)
        r[11] = 9u;
}
