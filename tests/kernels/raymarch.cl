// A picture of signed distance fields: two spheres, a box and a floor, with soft shadows and fog.

#define MAX_STEPS 96
#define MAX_DISTANCE 40.0f
#define SURFACE 0.001f

typedef struct { float3 origin, direction; } Ray;

typedef struct _Hit {
    float distance;
    float3 point, normal;
    int material;
    bool found;
} Hit;

enum { SKY = -1, FLOOR, RED_BALL, BLUE_BALL, BOX };

typedef struct
{
    float3 eye; float3 light;
    float4 ball[2];          /* w: radius */
    float focal, fog;
    int shadows;
} Scene;

constant float3 albedo[] = {
    (float3)(0.8f, 0.8f, 0.75f), (float3)(0.9f, 0.15f, 0.1f), (float3)(0.1f, 0.2f, 0.9f), (float3)(0.3f, 0.7f, 0.3f),
};

float sphere(float3 p, float4 ball) { return length(p - ball.xyz) - ball.w; }

float box(float3 p, float3 size, float round)
{
    float3 q = fabs(p) - size;
    return length(fmax(q, 0.0f)) + fmin(fmax(q.x, fmax(q.y, q.z)), 0.0f) - round;
}

float smooth_min(float a, float b, float k)
{
    float h = clamp(0.5f + 0.5f * (b - a) / k, 0.0f, 1.0f);
    return mix(b, a, h) - k * h * (1.0f - h);
}

static float map(const Scene *scene, float3 p, int *material)
{
    float d = p.y, e;
    int which = FLOOR;
    if ((e = sphere(p, scene->ball[0])) < d) d = e, which = RED_BALL;
    e = sphere(p, scene->ball[1]);
    if (e < d) { d = e; which = BLUE_BALL; }
    e = box(p - (float3)(0.0f, 0.6f, 1.5f), (float3)(0.5f), 0.1f);
    const float joined = smooth_min(d, e, 0.2f);
    if (e < d)
        which = BOX;
    if (material) *material = which;
    return joined;
}

float3 normal_at(Scene const *scene, float3 p)
{
    const float2 h = (float2)(0.005f, 0.0f);
    return normalize((float3)(map(scene, p + h.xyy, 0) - map(scene, p - h.xyy, 0),
                              map(scene, p + h.yxy, 0) - map(scene, p - h.yxy, 0),
                              map(scene, p + h.yyx, 0) - map(scene, p - h.yyx, 0)));
}

Hit march(const Scene *scene, Ray ray)
{
    Hit hit = {.distance = 0.0f, .material = SKY};
    for (int i = 0; i < MAX_STEPS; ++i) {
        float3 p = ray.origin + hit.distance * ray.direction;
        int material;
        float d = map(scene, p, &material);
        if (d < SURFACE) {
            hit.point = p;
            hit.material = material;
            hit.found = true;
            break;
        }
        hit.distance += d;
        if (hit.distance > MAX_DISTANCE) break;
    }
    if (hit.found) hit.normal = normal_at(scene, hit.point);
    return hit;
}

float shadow(const Scene *scene, Ray ray)
{
    float lit = 1.0f, t = 0.05f;
    int steps = 24;
    do {
        float d = map(scene, ray.origin + ray.direction * t, NULL);
        lit = min(lit, 8.0f * d / t);
        t += clamp(d, 0.05f, 0.5f);
    } while (--steps && lit > 0.0f);
    return smoothstep(0.0f, 1.0f, lit);
}

float3 shade(const Scene *scene, const Hit *hit, Ray ray)
{
    const float3 sky = mix((float3)(0.9f, 0.9f, 1.0f), (float3)(0.3f, 0.5f, 0.9f), clamp(ray.direction.y * 2.0f, 0.0f, 1.0f));
    if (!hit->found) return sky;

    float3 colour = albedo[hit->material];
    if (hit->material == FLOOR) {
        int2 tile = convert_int2_rtn(hit->point.xz);
        colour *= (tile.x + tile.y) & 1 ? 1.0f : 0.6f;
    }
    const float3 to_light = normalize(scene->light - hit->point);
    const float diffuse = fmax(dot(hit->normal, to_light), 0.0f);
    const float3 half_way = normalize(to_light - ray.direction);
    const float shine = hit->material == FLOOR ? 0.0f : pow(fmax(dot(hit->normal, half_way), 0.0f), 32.0f);
    Ray toward; toward.origin = hit->point + 0.01f * hit->normal; toward.direction = to_light;
    const float lit = scene->shadows && diffuse > 0.0f ? shadow(scene, toward) : 1.0f;
    const float3 result = colour * (0.15f + 0.85f * diffuse * lit) + shine * lit;
    return mix(result, sky, 1.0f - exp(-scene->fog * hit->distance));
}

// `picture` holds three channels of floats, and `depth` what the eye's rays measured.
kernel void render(global float *restrict picture, global float *depth, int width, int height, float time, int shadows)
{
    const int2 at = (int2)(get_global_id(0), get_global_id(1));
    if (any(at >= (int2)(width, height)))
        return;
    Scene scene = {
        (float3)(0.0f, 1.2f, -4.0f), (float3)(3.0f, 6.0f, -3.0f),
        { (float4)(-1.2f, 0.8f, 0.3f, 0.8f), (float4)(1.3f, 0.6f + 0.3f * sin(time), 0.0f, 0.6f) },
        1.5f, .fog = 0.03f, shadows,
    };
    const float2 uv = (2.0f * (convert_float2(at) + 0.5f) - (float2)(width, height)) / (float)height;
    Ray ray;
    ray.origin = scene.eye;
    ray.direction = normalize((float3)(uv.x, -uv.y, scene.focal));
    Hit hit = march(&scene, ray);
    float3 colour = clamp(shade(&scene, &hit, ray), 0.0f, 1.0f);
    vstore3(colour, at.y * width + at.x, picture);
    depth[at.y * width + at.x] = hit.found ? hit.distance : -1.0f;
}
